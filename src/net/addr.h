/* Socket addresses: what a kernel would take the child's bytes for, in the one
 * canonical form that is judged, and as text.  Pure.
 *
 * Several spellings reach one place: an IPv4 address mapped into or compatible
 * with IPv6, or behind the well-known NAT64 prefix (RFC 6052), is the IPv4
 * address; 0.0.0.0 and :: as a destination are this host.  The copy that wary
 * hands to the kernel is rewritten to the address that was judged wherever
 * the kernel would otherwise choose. */
#ifndef WARY_NET_ADDR_H
#define WARY_NET_ADDR_H

#include "base/buf.h"
#include "base/err.h"
#include "policy/facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define ADDR_UNIX_MAX 108

/* What the address is for: it decides how a kernel reads it. */
enum addr_use { ADDR_FOR_CONNECT, ADDR_FOR_SEND, ADDR_FOR_BIND };

enum addr_kind {
	ADDR_IS_NONE, /* no destination: dissolve, or send as connected */
	ADDR_IS_IP,
	ADDR_IS_PATH,     /* unix: a name in the file system */
	ADDR_IS_ABSTRACT, /* unix: a name without a file */
	ADDR_IS_AUTOBIND, /* unix bind: the kernel chooses an abstract name */
	ADDR_IS_KERNEL,   /* netlink: the kernel itself, no other process */
	ADDR_IS_OTHER,    /* anything else: family in facts.os_family */
};

/* One address, copied from the caller and taken apart.  It must not be moved
 * or copied: facts.unix_name may point into it. */
struct addr {
	struct sockaddr_storage sa; /* for the kernel */
	socklen_t len_bytes;
	enum addr_kind kind;
	bool any;                             /* the destination was written 0.0.0.0 or :: */
	char name[ADDR_UNIX_MAX + 1];         /* PATH: as written, NUL-terminated */
	char abstract[4 * ADDR_UNIX_MAX + 1]; /* ABSTRACT: NUL bytes as \x00,
	                      so that names that differ are told apart */
	struct facts_addr facts;              /* PATH: unix_name is to be set by the caller
	                      of addr_read to the canonical path */
};

/** addr_read: takes @a->sa and @a->len_bytes apart as a socket would.
 * @a: sa and len_bytes set, bytes chosen by the child, len_bytes at most the
 *   size of sa; all other fields are set.  sa may be rewritten to what is
 *   judged.
 * @domain, @type, @protocol: of the socket, as getsockopt tells.
 * Returns 0, or -errno that the kernel gives for such an address. */
must_check int addr_read(struct addr *a, int domain, int type, int protocol, enum addr_use use);

/** addr_local_any: where a destination of 0.0.0.0 or :: leads from a socket
 * that is bound: rewrites @a (both sa and facts).
 * @local, @local_len: of getsockname; a length of 0: not bound. */
void addr_local_any(struct addr *a, const struct sockaddr_storage *local, socklen_t local_len);

/** addr_from_ip: the canonical form of one IP address.
 * @ip: 4 bytes (@v6 false) or 16, network order.
 * Sets family and ip of @out, leaves the rest; 0.0.0.0 and :: stay. */
void addr_from_ip(const uint8_t *ip, bool v6, struct facts_addr *out);

/** addr_is_loopback: 127.0.0.0/8 or ::1. addr_is_any: 0.0.0.0 or ::.
 * addr_is_private: what a name must not reach without `at`: loopback, any,
 * private, link-local, unique-local, carrier-grade NAT, metadata. */
bool addr_is_loopback(const struct facts_addr *f);
bool addr_is_any(const struct facts_addr *f);
bool addr_is_private(const struct facts_addr *f);

/** addr_same_ip: whether family and address (not port) are equal. */
bool addr_same_ip(const struct facts_addr *a, const struct facts_addr *b);

/** addr_text: appends "1.2.3.4:443", "[::1]:80", "unix:/path", "unix:@name"
 * or "family 40".  Names of unix sockets are bytes of the child: not printable
 * yet (text_printable). */
void addr_text(struct buf *out, const struct facts_addr *f);

/** addr_parse_ip: reads "1.2.3.4" or "::1" (without brackets or scope).
 * Returns 0 or -ERR_FORMAT. */
must_check int addr_parse_ip(const char *text, struct facts_addr *out);

#endif
