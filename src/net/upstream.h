/* Questions to the machine's name servers: what the resolver of the C library
 * would ask, asked by wary itself. */
#ifndef WARY_NET_UPSTREAM_H
#define WARY_NET_UPSTREAM_H

#include "base/err.h"
#include "net/dns.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define UPSTREAM_SERVERS_MAX 8

struct upstream {
	struct facts_addr servers[UPSTREAM_SERVERS_MAX]; /* family, ip, port */
	size_t servers_n;
	int stop_fd; /* readable: give up; borrowed; -1: none */
};

/** upstream_parse: reads a server as "1.2.3.4:53" or "[::1]:53".
 * Returns 0 or -ERR_FORMAT. */
must_check int upstream_parse(const char *word, struct facts_addr *out);

/** upstream_ask: asks the servers in turn, twice, by UDP and where an answer is
 * cut off by TCP; blocks for some seconds at most.
 * @q: what is asked: name and type (class IN); its id is not used.
 * @out: the whole answer, as it came; @cap_bytes at least DNS_MESSAGE_MAX.
 * @answer: what it says.
 * Returns its length; -ERR_GONE where nobody answered, -ERR_CANCELLED after
 * stop_fd, -ERR_NOFD. */
must_check ssize_t upstream_ask(const struct upstream *u, const struct dns_query *q, uint8_t *out,
                                size_t cap_bytes, struct dns_answer *answer);

#endif
