#include "net/local.h"

#include "base/own.h"
#include "base/uses.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

USES(recvfrom, sendto, setsockopt, socket_netlink);

#define LOCAL_WAIT_S 2

struct question {
	struct nlmsghdr h;
	struct rtmsg route;
	struct rtattr dst;
	uint8_t ip[16];
};

static size_t question_of(const struct facts_addr *f, struct question *q)
{
	size_t ip_len = f->family == ADDR_INET ? 4 : 16;
	size_t len = offsetof(struct question, ip) + ip_len;

	*q = (struct question){
		.h = {.nlmsg_len = (uint32_t)len,
	              .nlmsg_type = RTM_GETROUTE,
	              .nlmsg_flags = NLM_F_REQUEST},
		.route = {.rtm_family = f->family == ADDR_INET ? AF_INET : AF_INET6,
	                  .rtm_dst_len = (unsigned char)(ip_len * 8)},
		.dst = {.rta_len = (unsigned short)(sizeof q->dst + ip_len), .rta_type = RTA_DST},
	};
	memcpy(q->ip, f->ip, ip_len);
	return len;
}

bool local_is(const struct facts_addr *f)
{
	static const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	_Alignas(struct nlmsghdr) char bytes[2048];
	const struct nlmsghdr *h = (const struct nlmsghdr *)bytes;
	const struct rtmsg *route = NLMSG_DATA(h);
	struct timeval wait = {.tv_sec = LOCAL_WAIT_S};
	struct question q;
	size_t len;
	ssize_t n;
	auto_fd fd = -1;

	if (f->family != ADDR_INET && f->family != ADDR_INET6)
		return false;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0)
		return false;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
	len = question_of(f, &q);
	if (sendto(fd, &q, len, 0, (const struct sockaddr *)&kernel, sizeof kernel) != (ssize_t)len)
		return false;
	do {
		n = recv(fd, bytes, sizeof bytes, 0);
	} while (n < 0 && errno == EINTR);
	return n >= (ssize_t)NLMSG_LENGTH(sizeof *route) && h->nlmsg_type == RTM_NEWROUTE &&
	       route->rtm_type == RTN_LOCAL;
}
