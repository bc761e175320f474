/* What connect, bind, listen and send have in common: the socket got from the
 * caller (law 4), its copied addresses, and the questions they raise. */
#ifndef WARY_ANSWER_SOCK_H
#define WARY_ANSWER_SOCK_H

#include "answer/fetch.h"
#include "answer/request.h"
#include "net/addr.h"

#include <stdbool.h>
#include <stdint.h>

/* An address in a call, and what is said about it. */
struct sock_addr {
	struct addr a;
	char *text;               /* facts.object; owned */
	const char *const *hosts; /* facts.addr.hosts; owned */
	int place;                /* ADDR_IS_PATH: index into target.place, else -1 */
	bool nowhere;             /* a path that leads to nothing: place's error is all */
	bool was_own;             /* judged as this session's own: to be looked at again */
	bool guarded;             /* a name server: a.sa is the DNS guard's address instead */
};

/* The socket of one call; lives in target.more. */
struct sock {
	int fd; /* target.socket_fd, borrowed */
	int domain, type, protocol;
	unsigned places_n; /* of target.place that are in use */
	unsigned addrs_n;
	struct sock_addr addrs[REQUEST_FACTS_MAX];
};

/** sock_new: makes target.more the socket of this call, of @size_bytes, which
 * begins with a struct sock and is freed with the request.
 * Returns it, or NULL without memory. */
struct sock *sock_new(struct request *r, size_t size_bytes);
/* What it frees: for a family that frees more than that. */
void sock_free(void *more);

/* Functions here that return int give what fetch.h says: 0; a negative errno,
 * the kernel's answer to the caller; a negative ERR_. */

/** sock_get: gets the caller's descriptor @number into @s; fetch_end() must
 * follow. sock_kind: asks what kind of socket it is. */
must_check int sock_get(struct request *r, struct sock *s, uint64_t number);
must_check int sock_kind(struct sock *s);

/** sock_read_addr: copies an address of the caller into the next free one of
 * @s and takes it apart; for a path, fetches what it starts from.  fetch_end()
 * must follow.
 * @len_bytes: as the caller gave it.
 * @out: the address, owned by @s. */
must_check int sock_read_addr(struct request *r, struct sock *s, uint64_t addr, uint64_t len_bytes,
                              enum addr_use use, struct sock_addr **out);

/** sock_drop_addr: takes the last address back. */
void sock_drop_addr(struct request *r, struct sock *s);

/** sock_question: resolves one address and states the question about it: who
 * listens there, what it is called.  Nothing is asked where there is no
 * destination, or it is the kernel, or the DNS guard takes its place (each name
 * is then a question).
 * @class: CLASS_CONNECT; CLASS_BIND: for a path, creating it. */
must_check int sock_question(struct request *r, struct sock *s, struct sock_addr *a,
                             enum policy_class class);

/** sock_prepare: all of these for a call (socket, address, length): op_prepare's part.
 * @need: what else of the caller is fetched, enum hand_need. */
must_check int sock_prepare(struct request *r, enum addr_use use, unsigned need,
                            enum policy_class class);

/** sock_is_name_server: whether the DNS guard answers for this address. */
bool sock_is_name_server(const struct request *r, const struct sock_addr *a);

/** sock_tell_guard: the socket has been connected to the guard, for this caller. */
void sock_tell_guard(struct request *r, const struct sock *s);

/** sock_blocks: whether a call on the socket may wait (no O_NONBLOCK). */
bool sock_blocks(int fd);

/** sock_wait: runs a call that may wait for another program.
 * @call: a system call with errno; made again after an interrupt that does not
 *   concern the caller.
 * Returns its result or -errno; -512 (restart) for an interrupt by a signal of
 * the caller, -EAGAIN where no worker would be left. */
long sock_wait(struct request *r, int fd, long (*call)(void *ctx), void *ctx);

/** sock_still_own: asks again, after the effect, whether what was judged as the
 * session's own was that all along.  True where that did not matter. */
bool sock_still_own(struct request *r, const struct sock *s, const struct sock_addr *a);

#endif
