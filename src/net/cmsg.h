/* Control messages of sendmsg: walked as the kernel walks them, and sorted
 * into what may pass, what must be fetched from the caller, and what would
 * change where a packet goes or who it claims to come from.  Pure. */
#ifndef WARY_NET_CMSG_H
#define WARY_NET_CMSG_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum cmsg_kind {
	CMSG_PASS,        /* decides nothing that is judged */
	CMSG_RIGHTS,      /* descriptors: numbers of the caller */
	CMSG_CREDENTIALS, /* struct ucred that the caller claims */
	CMSG_REFUSED,     /* routing headers, marks, what is not known */
};

/* A walk over a copied control buffer, aligned as for struct cmsghdr. */
struct cmsg_walk {
	uint8_t *bytes;
	size_t len_bytes;
	size_t at_bytes;
};

/* One message: its payload lies in the walk's buffer. */
struct cmsg_item {
	int level;
	int type;
	uint8_t *data;
	size_t data_len_bytes;
};

/** cmsg_next: the next message, as the kernel's for_each_cmsghdr.
 * Returns 1 with @out set, 0 at the end, -EINVAL where a length is wrong. */
must_check int cmsg_next(struct cmsg_walk *w, struct cmsg_item *out);

/** cmsg_kind: what to do with one message.
 * @domain: of the socket that it is sent on (AF_UNIX, AF_INET…). */
enum cmsg_kind cmsg_kind(const struct cmsg_item *item, int domain);

#endif
