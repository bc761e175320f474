/* The DNS guard: the tree's questions to the machine's name servers come here.
 *
 * How it works.  Where a program of the tree connects to port 53 of a configured
 * name server, wary connects its socket to the guard instead.  The guard judges
 * the name of each query, puts it to the name servers itself (nothing of the
 * program's own bytes goes out but the name and the type), remembers the
 * addresses of the answer, and hands the answer back.  Datagrams that are sent
 * without connecting are judged and put by wary in the same way, and then go to
 * the name server from the program's own socket (answer/send.c).
 *
 * Invariants:
 * 1. A query is answered only for a socket that wary connected itself: what
 *    others send to the guard's port is dropped.
 * 2. What is remembered are answers that wary got, never what a program says.
 * 3. A name that was answered stays with that answer as long as its addresses
 *    count (net/pins.h).
 * 4. Programs that are given by the kernel to know only their own name server's
 *    address (glibc, by UDP) would not take an answer from the guard: the tree's
 *    environment has RES_OPTIONS=use-vc, so that they ask by TCP. */
#ifndef WARY_NET_GUARD_H
#define WARY_NET_GUARD_H

#include "base/err.h"
#include "net/names.h"
#include "net/upstream.h"
#include "tracee/lineage.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

struct guard;

/* Who asks, as it was when its socket was connected. */
struct guard_asker {
	const struct lineage_entry *program; /* a reference; may be NULL */
	pid_t pid, tid;
	uid_t uid;
};

struct guard_config {
	/* Words for upstream_parse, NULL-terminated: the name servers that the
	 * tree is kept from, and those that are asked; NULL: the same. */
	const char *const *servers;
	const char *const *upstream;
	struct names *names; /* outlives the guard */
	/* Whether the name may be resolved: decides and records.  Called by the
	 * guard's threads, several at once. */
	bool (*allow)(void *ctx, const struct guard_asker *who, const char *name);
	void *ctx;
};

/** guard_start: opens its ports on loopback and starts its threads.
 * @c: copied.
 * Returns 0, -ERR_FORMAT (no server that can be read), -ERR_SYS, -ERR_NOMEM. */
must_check int guard_start(const struct guard_config *c, struct guard **out);

/** guard_stop: ends the threads and frees. NULL is fine. */
void guard_stop(struct guard *g);

/** guard_serves: whether an address is one of the name servers'. */
bool guard_serves(const struct guard *g, const struct facts_addr *to);

/** guard_address: where a socket that wanted a name server is connected to.
 * @domain: AF_INET or AF_INET6, of the socket.
 * Returns the length of *out. */
socklen_t guard_address(const struct guard *g, int domain, enum facts_proto proto,
                        struct sockaddr_storage *out);

/** guard_expect: a socket has been connected to the guard.
 * @socket_fd: borrowed.  @who: its program's reference is taken over. */
void guard_expect(struct guard *g, int socket_fd, enum facts_proto proto,
                  const struct guard_asker *who);

/** guard_learn: asks the name servers and remembers the answer: for a query that
 * goes to them by itself.  Blocks for some seconds at most.
 * Returns 0, or what upstream_ask failed with. */
must_check int guard_learn(struct guard *g, const struct dns_query *q);

#endif
