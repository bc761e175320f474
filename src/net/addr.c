#include "net/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

/* Up to the scope, which old programs leave out (RFC 2133). */
#define SIN6_MIN_BYTES 24

/* ---- IP --------------------------------------------------------------- */

/* Where in a 16-byte address an IPv4 address is that it stands for. */
static bool holds_v4(const uint8_t *ip)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	static const uint8_t nat64[12] = {0x00, 0x64, 0xff, 0x9b};
	static const uint8_t zero[12] = {0};
	static const uint8_t one[4] = {0, 0, 0, 1};

	if (memcmp(ip, mapped, sizeof mapped) == 0 || memcmp(ip, nat64, sizeof nat64) == 0)
		return true;
	if (memcmp(ip, zero, sizeof zero) != 0)
		return false;
	/* Compatible, except :: and ::1. */
	return memcmp(ip + 12, zero, 4) != 0 && memcmp(ip + 12, one, 4) != 0;
}

void addr_from_ip(const uint8_t *ip, bool v6, struct facts_addr *out)
{
	memset(out->ip, 0, sizeof out->ip);
	if (v6 && !holds_v4(ip)) {
		out->family = ADDR_INET6;
		memcpy(out->ip, ip, 16);
		return;
	}
	out->family = ADDR_INET;
	memcpy(out->ip, v6 ? ip + 12 : ip, 4);
}

bool addr_is_any(const struct facts_addr *f)
{
	static const uint8_t zero[16] = {0};

	return (f->family == ADDR_INET || f->family == ADDR_INET6) &&
	       memcmp(f->ip, zero, sizeof zero) == 0;
}

bool addr_is_loopback(const struct facts_addr *f)
{
	if (f->family == ADDR_INET)
		return f->ip[0] == 127;
	return f->family == ADDR_INET6 && memcmp(f->ip, &in6addr_loopback, 16) == 0;
}

bool addr_is_private(const struct facts_addr *f)
{
	const uint8_t *ip = f->ip;

	if (addr_is_loopback(f) || addr_is_any(f))
		return true;
	if (f->family == ADDR_INET6)
		return (ip[0] & 0xfe) == 0xfc || (ip[0] == 0xfe && (ip[1] & 0x80) == 0x80) ||
		       ip[0] == 0xff;
	if (f->family != ADDR_INET)
		return false;
	return ip[0] == 0 || ip[0] == 10 || (ip[0] == 172 && (ip[1] & 0xf0) == 16) ||
	       (ip[0] == 192 && ip[1] == 168) || (ip[0] == 169 && ip[1] == 254) ||
	       (ip[0] == 100 && (ip[1] & 0xc0) == 64) || ip[0] >= 224 ||
	       (ip[0] == 168 && ip[1] == 63 && ip[2] == 129 && ip[3] == 16);
}

bool addr_same_ip(const struct facts_addr *a, const struct facts_addr *b)
{
	return a->family == b->family && memcmp(a->ip, b->ip, sizeof a->ip) == 0;
}

static enum facts_proto proto_of(int type, int protocol)
{
	if (type == SOCK_DGRAM && (protocol == 0 || protocol == IPPROTO_UDP))
		return PROTO_UDP;
	if (type == SOCK_STREAM)
		return PROTO_TCP; /* MPTCP too: it is judged as TCP */
	return PROTO_ANY;
}

/* A destination of 0.0.0.0 or ::, from a socket that is not bound. */
static void any_is_loopback(struct addr *a)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&a->sa;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&a->sa;

	a->any = true;
	if (a->sa.ss_family == AF_INET) {
		in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		addr_from_ip((const uint8_t *)&in->sin_addr, false, &a->facts);
	} else if (a->facts.family == ADDR_INET) { /* ::ffff:0.0.0.0 */
		in6->sin6_addr.s6_addr[12] = 127;
		in6->sin6_addr.s6_addr[15] = 1;
		addr_from_ip(in6->sin6_addr.s6_addr, true, &a->facts);
	} else {
		in6->sin6_addr = in6addr_loopback;
		addr_from_ip(in6->sin6_addr.s6_addr, true, &a->facts);
	}
}

static int read_v4(struct addr *a, enum addr_use use)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&a->sa;

	if (a->len_bytes < sizeof *in)
		return -EINVAL;
	a->kind = ADDR_IS_IP;
	addr_from_ip((const uint8_t *)&in->sin_addr, false, &a->facts);
	a->facts.port = ntohs(in->sin_port);
	if (use != ADDR_FOR_BIND && addr_is_any(&a->facts))
		any_is_loopback(a);
	return 0;
}

static int read_v6(struct addr *a, enum addr_use use)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&a->sa;

	if (a->len_bytes < SIN6_MIN_BYTES)
		return -EINVAL;
	a->kind = ADDR_IS_IP;
	addr_from_ip(in6->sin6_addr.s6_addr, true, &a->facts);
	a->facts.port = ntohs(in6->sin6_port);
	if (use != ADDR_FOR_BIND && addr_is_any(&a->facts))
		any_is_loopback(a);
	return 0;
}

/* AF_UNSPEC: the kernel dissolves a connection, sends as connected (IPv6),
 * or takes it for IPv4 (udp_sendmsg, inet_bind: as BSD did). */
static int read_unspec(struct addr *a, int domain, enum addr_use use)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)&a->sa;
	bool as_v4 = domain == AF_INET && use != ADDR_FOR_CONNECT;

	if (domain == AF_INET6 && use == ADDR_FOR_BIND)
		return a->len_bytes < SIN6_MIN_BYTES ? -EINVAL : -EAFNOSUPPORT;
	if (!as_v4) {
		a->kind = ADDR_IS_NONE;
		return 0;
	}
	if (a->len_bytes < sizeof *in)
		return -EINVAL;
	if (use == ADDR_FOR_BIND && in->sin_addr.s_addr != htonl(INADDR_ANY))
		return -EAFNOSUPPORT;
	a->sa.ss_family = AF_INET;
	return read_v4(a, use);
}

static int read_inet(struct addr *a, int domain, int type, enum addr_use use)
{
	switch (a->sa.ss_family) {
	case AF_UNSPEC:
		return read_unspec(a, domain, use);
	case AF_INET:
		/* An IPv6 datagram socket takes IPv4 addresses as they are. */
		if (domain == AF_INET6 && (type != SOCK_DGRAM || use == ADDR_FOR_BIND))
			return a->len_bytes < SIN6_MIN_BYTES ? -EINVAL : -EAFNOSUPPORT;
		return read_v4(a, use);
	case AF_INET6:
		if (domain == AF_INET6)
			return read_v6(a, use);
		return a->len_bytes < sizeof(struct sockaddr_in) ? -EINVAL : -EAFNOSUPPORT;
	default:
		if (use == ADDR_FOR_SEND && domain == AF_INET6)
			return -EINVAL;
		return a->len_bytes < sizeof(struct sockaddr_in) ? -EINVAL : -EAFNOSUPPORT;
	}
}

/* ---- unix and netlink ------------------------------------------------- */

/* A name without a file may hold NUL bytes, also at its end. */
static void read_abstract(struct addr *a, const char *bytes, size_t len_bytes)
{
	size_t at = 0;

	for (size_t i = 0; i < len_bytes; i++) {
		if (bytes[i] != '\0') {
			a->abstract[at++] = bytes[i];
			continue;
		}
		memcpy(a->abstract + at, "\\x00", 4);
		at += 4;
	}
	a->abstract[at] = '\0';
	a->kind = ADDR_IS_ABSTRACT;
	a->facts.unix_abstract = true;
	a->facts.unix_name = a->abstract;
}

static int read_unix(struct addr *a, int type, enum addr_use use)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)&a->sa;
	size_t head = offsetof(struct sockaddr_un, sun_path);
	size_t len = a->len_bytes - head;

	if (a->sa.ss_family == AF_UNSPEC && use == ADDR_FOR_CONNECT && type == SOCK_DGRAM) {
		a->kind = ADDR_IS_NONE;
		return 0;
	}
	if (a->len_bytes < head || a->len_bytes > sizeof *un || a->sa.ss_family != AF_UNIX)
		return -EINVAL;
	a->facts.family = ADDR_UNIX;
	if (len == 0 && use != ADDR_FOR_BIND)
		return -EINVAL;
	if (len == 0) {
		a->kind = ADDR_IS_AUTOBIND;
		a->facts.unix_abstract = true;
		a->facts.unix_name = "";
		return 0;
	}
	if (un->sun_path[0] == '\0') {
		read_abstract(a, un->sun_path + 1, len - 1);
		return 0;
	}
	a->kind = ADDR_IS_PATH;
	memcpy(a->name, un->sun_path, strnlen(un->sun_path, len));
	return 0;
}

static int read_netlink(struct addr *a, enum addr_use use)
{
	const struct sockaddr_nl *nl = (const struct sockaddr_nl *)&a->sa;

	if (a->sa.ss_family == AF_UNSPEC && use == ADDR_FOR_CONNECT) {
		a->kind = ADDR_IS_NONE;
		return 0;
	}
	if (a->len_bytes < sizeof *nl || a->sa.ss_family != AF_NETLINK)
		return -EINVAL;
	a->facts.family = ADDR_OTHER;
	a->facts.os_family = AF_NETLINK;
	/* Binding names the caller's own end and the groups it listens to. */
	if (use == ADDR_FOR_BIND || (nl->nl_pid == 0 && nl->nl_groups == 0))
		a->kind = ADDR_IS_KERNEL;
	else
		a->kind = ADDR_IS_OTHER;
	return 0;
}

/* ---- one address ------------------------------------------------------ */

int addr_read(struct addr *a, int domain, int type, int protocol, enum addr_use use)
{
	invariant(a->len_bytes <= sizeof a->sa);
	/* The kernel never sees what lies beyond the length: nor does wary. */
	memset((char *)&a->sa + a->len_bytes, 0, sizeof a->sa - a->len_bytes);
	memset(a->name, 0, sizeof a->name);
	a->kind = ADDR_IS_OTHER;
	a->any = false;
	a->facts = (struct facts_addr){.family = ADDR_OTHER, .os_family = domain};
	if (a->len_bytes < sizeof(sa_family_t))
		return -EINVAL;
	if (domain == AF_UNIX)
		return read_unix(a, type, use);
	if (domain == AF_NETLINK)
		return read_netlink(a, use);
	if (domain != AF_INET && domain != AF_INET6)
		return 0;
	a->facts.proto = proto_of(type, protocol);
	return read_inet(a, domain, type, use);
}

void addr_local_any(struct addr *a, const struct sockaddr_storage *local, socklen_t local_len)
{
	const struct sockaddr_in *from = (const struct sockaddr_in *)local;
	const struct sockaddr_in6 *from6 = (const struct sockaddr_in6 *)local;
	struct sockaddr_in *in = (struct sockaddr_in *)&a->sa;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&a->sa;
	static const uint8_t mapped_loopback[16] = {[10] = 0xff, 0xff, 127, 0, 0, 1};

	if (!a->any)
		return;
	if (a->sa.ss_family == AF_INET && local_len >= sizeof *from &&
	    local->ss_family == AF_INET && from->sin_addr.s_addr != htonl(INADDR_ANY)) {
		in->sin_addr = from->sin_addr;
		addr_from_ip((const uint8_t *)&in->sin_addr, false, &a->facts);
	} else if (a->sa.ss_family == AF_INET6 && local_len >= SIN6_MIN_BYTES &&
	           local->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&from6->sin6_addr)) {
		memcpy(in6->sin6_addr.s6_addr, mapped_loopback, sizeof mapped_loopback);
		addr_from_ip(in6->sin6_addr.s6_addr, true, &a->facts);
	}
}

/* ---- text ------------------------------------------------------------- */

void addr_text(struct buf *out, const struct facts_addr *f)
{
	char ip[INET6_ADDRSTRLEN];

	switch (f->family) {
	case ADDR_INET:
		inet_ntop(AF_INET, f->ip, ip, sizeof ip);
		buf_fmt(out, "%s:%u", ip, f->port);
		return;
	case ADDR_INET6:
		inet_ntop(AF_INET6, f->ip, ip, sizeof ip);
		buf_fmt(out, "[%s]:%u", ip, f->port);
		return;
	case ADDR_UNIX:
		buf_str(out, f->unix_abstract ? "unix:@" : "unix:");
		buf_str(out, f->unix_name ? f->unix_name : "");
		return;
	case ADDR_NONE:
	case ADDR_OTHER:
		break;
	}
	buf_fmt(out, "family %d", f->os_family);
}

int addr_parse_ip(const char *text, struct facts_addr *out)
{
	uint8_t ip[16];

	if (inet_pton(AF_INET, text, ip) == 1) {
		addr_from_ip(ip, false, out);
		return 0;
	}
	if (inet_pton(AF_INET6, text, ip) == 1) {
		addr_from_ip(ip, true, out);
		return 0;
	}
	return -ERR_FORMAT;
}
