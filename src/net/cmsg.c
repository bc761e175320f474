#include "net/cmsg.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <string.h>

/* What headers of an older system may lack; values of the kernel's ABI. */
#ifndef SCM_TXTIME
#define SCM_TXTIME 61
#endif
#ifndef SCM_TS_OPT_ID
#define SCM_TS_OPT_ID 81
#endif
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#define CMSG_IPV6_FLOWINFO 11
#define CMSG_SOL_UDP 17
#define CMSG_SOL_TLS 282
#define CMSG_TLS_SET_RECORD_TYPE 1

/* What an internet socket may carry along with a packet.  Not among them:
 * IP_RETOPTS, IPV6_RTHDR, IPV6_HOPOPTS, IPV6_DSTOPTS (they can lead a packet
 * elsewhere than to its address), SO_MARK (it selects another route). */
static const struct {
	int level, type;
} passed[] = {
	{SOL_SOCKET, SCM_RIGHTS}, /* ignored by the kernel on these sockets */
	{SOL_SOCKET, SCM_CREDENTIALS},
	{SOL_SOCKET, SO_TIMESTAMPING},
	{SOL_SOCKET, SCM_TXTIME},
	{SOL_SOCKET, SCM_TS_OPT_ID},
	{SOL_SOCKET, SO_PRIORITY},
	{IPPROTO_IP, IP_PKTINFO},
	{IPPROTO_IP, IP_TTL},
	{IPPROTO_IP, IP_TOS},
	{IPPROTO_IPV6, IPV6_PKTINFO},
	{IPPROTO_IPV6, IPV6_HOPLIMIT},
	{IPPROTO_IPV6, IPV6_TCLASS},
	{IPPROTO_IPV6, IPV6_DONTFRAG},
	{IPPROTO_IPV6, CMSG_IPV6_FLOWINFO},
	{CMSG_SOL_UDP, UDP_SEGMENT},
	{CMSG_SOL_TLS, CMSG_TLS_SET_RECORD_TYPE},
};

int cmsg_next(struct cmsg_walk *w, struct cmsg_item *out)
{
	struct cmsghdr head;
	size_t left;
	size_t step;

	if (w->at_bytes > w->len_bytes || w->len_bytes - w->at_bytes < sizeof head)
		return 0;
	left = w->len_bytes - w->at_bytes;
	memcpy(&head, w->bytes + w->at_bytes, sizeof head);
	if (head.cmsg_len < sizeof head || head.cmsg_len > left)
		return -EINVAL;
	out->level = head.cmsg_level;
	out->type = head.cmsg_type;
	out->data = w->bytes + w->at_bytes + CMSG_ALIGN(sizeof head);
	out->data_len_bytes = head.cmsg_len - sizeof head;
	step = CMSG_ALIGN(head.cmsg_len);
	w->at_bytes = step > left ? w->len_bytes : w->at_bytes + step;
	return 1;
}

static bool is_passed(const struct cmsg_item *item)
{
	for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
		if (passed[i].level == item->level && passed[i].type == item->type)
			return true;
	return false;
}

enum cmsg_kind cmsg_kind(const struct cmsg_item *item, int domain)
{
	bool socket_level = item->level == SOL_SOCKET;

	if (domain == AF_INET || domain == AF_INET6)
		return is_passed(item) ? CMSG_PASS : CMSG_REFUSED;
	if (domain != AF_UNIX && domain != AF_NETLINK)
		return CMSG_REFUSED;
	if (!socket_level)
		return CMSG_PASS; /* these sockets look at no other level */
	if (item->type == SCM_RIGHTS)
		return CMSG_RIGHTS;
	if (item->type == SCM_CREDENTIALS)
		return CMSG_CREDENTIALS;
	return CMSG_REFUSED;
}
