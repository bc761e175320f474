/* What this session itself listens on: `own` in the policy.
 *
 * How it works.  Every bind, listen and first send of the tree goes through
 * wary, which notes the socket's cookie (never given to another socket) here.
 * When the tree connects, the kernel is asked which sockets would take the
 * connection; it is the session's own only if every one of them is noted.
 *
 * Invariants:
 * 1. A port that the tree has left and another process has taken does not
 *    count: that process' socket has another cookie.
 * 2. A note proves nothing by itself: that its socket lives is asked anew.
 * 3. The table is bounded; the oldest note goes first, and what is not noted
 *    is not own.
 * What changes between question and effect is found by asking again after the
 * effect (own_inet, own_name), before the caller learns of it. */
#ifndef WARY_NET_OWN_H
#define WARY_NET_OWN_H

#include "base/err.h"
#include "policy/facts.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct listeners; /* thread-safe */

must_check int own_new(struct listeners **out);
void own_free(struct listeners *l);

/** own_add: an internet socket of the tree is bound or listens.
 * @socket_fd: borrowed. Without a cookie nothing is noted. */
void own_add(struct listeners *l, int socket_fd);

/** own_add_file: a unix socket of the tree is bound to this file.
 * own_add_name: likewise to an abstract name (as in facts.unix_name). */
void own_add_file(struct listeners *l, int socket_fd, dev_t dev, ino_t ino);
void own_add_name(struct listeners *l, int socket_fd, const char *name);

enum own_who {
	OWN_OTHER,  /* somebody else might, or it cannot be told */
	OWN_NOBODY, /* nobody listens there */
	OWN_SELF,   /* nobody but this session */
};

/** own_inet: who would take a connection or datagram sent to @to.  Asks the kernel
 * (some 20 µs).
 * own_file, own_name: whether the socket bound there is the session's own.  False
 * in doubt. */
enum own_who own_inet(struct listeners *l, const struct facts_addr *to);
bool own_file(struct listeners *l, dev_t dev, ino_t ino);
bool own_name(struct listeners *l, const char *name);

#endif
