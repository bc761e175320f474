/* Which names lead to which addresses, by answers that wary itself got in this
 * session: the only ground on which a rule by name allows a connection. */
#ifndef WARY_NET_NAMES_H
#define WARY_NET_NAMES_H

#include "base/err.h"
#include "policy/facts.h"

#include <stddef.h>
#include <stdint.h>

struct names; /* thread-safe */

must_check int names_new(struct names **out);
void names_free(struct names *n);

/** names_learn: @name led to @addr (family and ip), good until @until_ns of
 * CLOCK_MONOTONIC. Bounded: the oldest answer goes first.
 * @name: lower case, without a last dot; copied. */
void names_learn(struct names *n, const char *name, const struct facts_addr *addr,
                 uint64_t until_ns);

/** names_learn_hosts: learns what a hosts(5) text says. */
void names_learn_hosts(struct names *n, const char *text, uint64_t until_ns);

/** names_of: the names whose unexpired answers lead to @addr.
 * Returns them NULL-terminated, as one piece of memory (free(3)), or NULL where
 * there are none or no memory. */
const char *const *names_of(struct names *n, const struct facts_addr *addr, uint64_t now_ns);

/** names_lifetime_ns: how long an answer with this TTL counts: at least long
 * enough for the program that asked to connect, at most a day. */
uint64_t names_lifetime_ns(uint32_t ttl_s);

#endif
