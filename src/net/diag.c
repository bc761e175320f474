#include "net/diag.h"

#include "base/own.h"
#include "base/uses.h"
#include "net/addr.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

USES(getsockopt, recvfrom, sendto, setsockopt, socket_netlink);

#define DIAG_REPLY_BYTES 32768
/* States as the kernel numbers them, as bits; a UDP socket is "established"
 * once connected and "closed" before. */
#define STATES_LISTENING (1u << 10)
#define STATES_UDP (1u << 1 | 1u << 7)
/* The kernel answers at once; a bound all the same, so that none waits. */
#define DIAG_WAIT_S 2

struct receivers {
	const struct facts_addr *to;
	void (*each)(void *ctx, uint64_t cookie);
	void *ctx;
};

int diag_open(void)
{
	struct timeval wait = {.tv_sec = DIAG_WAIT_S};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd < 0)
		return errno == EMFILE || errno == ENFILE ? -ERR_NOFD : -ERR_UNSUPPORTED;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
	return fd;
}

uint64_t diag_cookie(int socket_fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof cookie;

	if (getsockopt(socket_fd, SOL_SOCKET, SO_COOKIE, &cookie, &len) != 0)
		return 0;
	return cookie;
}

static uint64_t cookie_of(const uint32_t words[2])
{
	return (uint64_t)words[1] << 32 | words[0];
}

static int ask(int fd, struct nlmsghdr *h)
{
	static const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	ssize_t n = sendto(fd, h, h->nlmsg_len, 0, (const struct sockaddr *)&kernel, sizeof kernel);

	return n == (ssize_t)h->nlmsg_len ? 0 : -ERR_SYS;
}

/* Whether a socket's own address can be reached as @to; v6only: whether an
 * IPv6 socket takes no IPv4. */
static bool takes(const struct facts_addr *to, const struct inet_diag_msg *m, bool v6only)
{
	struct facts_addr local = {0};
	bool v6 = m->idiag_family == AF_INET6;

	addr_from_ip((const uint8_t *)m->id.idiag_src, v6, &local);
	if (addr_is_any(&local))
		return to->family == ADDR_INET ? !(v6 && v6only) : v6;
	return addr_same_ip(&local, to);
}

static bool is_v6only(const struct nlmsghdr *h, const struct inet_diag_msg *m)
{
	const struct rtattr *a = (const struct rtattr *)(m + 1);
	size_t left = h->nlmsg_len - NLMSG_LENGTH(sizeof *m);

	while (left >= sizeof *a && a->rta_len >= sizeof *a && a->rta_len <= left) {
		size_t step = RTA_ALIGN(a->rta_len);

		if (a->rta_type == INET_DIAG_SKV6ONLY && a->rta_len > sizeof *a)
			return *(const uint8_t *)RTA_DATA(a) != 0;
		if (step >= left)
			break;
		left -= step;
		a = (const struct rtattr *)((const char *)a + step);
	}
	return false; /* not said: it might take IPv4 */
}

static int each_inet(const struct nlmsghdr *h, const struct receivers *r)
{
	const struct inet_diag_msg *m = NLMSG_DATA(h);

	if (h->nlmsg_len < NLMSG_LENGTH(sizeof *m))
		return -ERR_FORMAT;
	if (ntohs(m->id.idiag_sport) == r->to->port && takes(r->to, m, is_v6only(h, m)))
		r->each(r->ctx, cookie_of(m->id.idiag_cookie));
	return 0;
}

/* One datagram of the answer. Returns 1 where more follow, 0 at the end. */
static int read_inet(int fd, const struct receivers *r)
{
	_Alignas(struct nlmsghdr) char bytes[DIAG_REPLY_BYTES];
	ssize_t n = recv(fd, bytes, sizeof bytes, 0);
	const struct nlmsghdr *h = (const struct nlmsghdr *)bytes;
	size_t left;

	if (n < 0)
		return errno == EINTR ? 1 : -ERR_SYS;
	left = (size_t)n;
	while (left >= sizeof *h && h->nlmsg_len >= sizeof *h && h->nlmsg_len <= left) {
		size_t step = NLMSG_ALIGN(h->nlmsg_len);

		if (h->nlmsg_type == NLMSG_DONE)
			return 0;
		if (h->nlmsg_type == NLMSG_ERROR)
			return -ERR_UNSUPPORTED;
		if (h->nlmsg_flags & NLM_F_DUMP_INTR)
			return -ERR_RACE;
		if (h->nlmsg_type == SOCK_DIAG_BY_FAMILY && each_inet(h, r) != 0)
			return -ERR_FORMAT;
		if (step >= left)
			break;
		left -= step;
		h = (const struct nlmsghdr *)((const char *)h + step);
	}
	return 1;
}

static int dump_inet(int fd, int family, const struct receivers *r)
{
	bool tcp = r->to->proto == PROTO_TCP;
	struct {
		struct nlmsghdr h;
		struct inet_diag_req_v2 q;
	} req = {
		.h = {.nlmsg_len = sizeof req,
	              .nlmsg_type = SOCK_DIAG_BY_FAMILY,
	              .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.q = {.sdiag_family = (uint8_t)family,
	              .sdiag_protocol = tcp ? IPPROTO_TCP : IPPROTO_UDP,
	              .idiag_states = tcp ? STATES_LISTENING : STATES_UDP},
	};
	int err;

	req.q.id.idiag_sport = htons(r->to->port);
	err = ask(fd, &req.h);
	if (err != 0)
		return err;
	do {
		err = read_inet(fd, r);
	} while (err == 1);
	return err;
}

int diag_receivers(int fd, const struct facts_addr *to, void (*each)(void *ctx, uint64_t cookie),
                   void *ctx)
{
	struct receivers r = {.to = to, .each = each, .ctx = ctx};
	int err = dump_inet(fd, AF_INET6, &r);

	if (err == -ERR_UNSUPPORTED && to->family == ADDR_INET)
		err = 0; /* a kernel without IPv6 */
	if (err == 0 && to->family == ADDR_INET)
		err = dump_inet(fd, AF_INET, &r);
	return err;
}

/* Asks about one unix socket. Returns the length of the answer, which begins
 * with its unix_diag_msg, or 0. */
static size_t ask_unix(int fd, uint32_t inode, uint64_t cookie, uint32_t show, void *out,
                       size_t cap_bytes)
{
	struct {
		struct nlmsghdr h;
		struct unix_diag_req q;
	} req = {
		.h = {.nlmsg_len = sizeof req,
	              .nlmsg_type = SOCK_DIAG_BY_FAMILY,
	              .nlmsg_flags = NLM_F_REQUEST},
		.q = {.sdiag_family = AF_UNIX,
	              .udiag_states = ~0u,
	              .udiag_ino = inode,
	              .udiag_show = show,
	              .udiag_cookie = {(uint32_t)cookie, (uint32_t)(cookie >> 32)}},
	};
	const struct nlmsghdr *h = out;
	const struct unix_diag_msg *m = NLMSG_DATA(h);
	ssize_t n;

	if (ask(fd, &req.h) != 0)
		return 0;
	do {
		n = recv(fd, out, cap_bytes, 0);
	} while (n < 0 && errno == EINTR);
	if (n < (ssize_t)NLMSG_LENGTH(sizeof *m) || h->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    h->nlmsg_len > (size_t)n || m->udiag_ino != inode ||
	    cookie_of(m->udiag_cookie) != cookie)
		return 0;
	return h->nlmsg_len;
}

bool diag_unix_alive(int fd, uint32_t inode, uint64_t cookie)
{
	_Alignas(struct nlmsghdr) char bytes[1024];

	return ask_unix(fd, inode, cookie, 0, bytes, sizeof bytes) > 0;
}

bool diag_unix_is_file(int socket_fd, uint32_t file_inode)
{
	_Alignas(struct nlmsghdr) char bytes[1024];
	const struct unix_diag_msg *m = NLMSG_DATA((struct nlmsghdr *)(void *)bytes);
	const struct rtattr *a = (const struct rtattr *)(m + 1);
	const struct unix_diag_vfs *vfs = RTA_DATA(a);
	size_t fixed = NLMSG_LENGTH(sizeof *m);
	struct stat st;
	size_t n;
	auto_fd fd = diag_open();

	if (fd < 0 || fstat(socket_fd, &st) != 0)
		return true;
	n = ask_unix(fd, (uint32_t)st.st_ino, diag_cookie(socket_fd), UDIAG_SHOW_VFS, bytes,
	             sizeof bytes);
	if (n < fixed + RTA_LENGTH(sizeof *vfs) || a->rta_type != UNIX_DIAG_VFS)
		return true;
	return vfs->udiag_vfs_ino == file_inode;
}
