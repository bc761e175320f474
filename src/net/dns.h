/* DNS messages (RFC 1035, 6891): read strictly, as bytes that the child or the
 * network chose; written plainly.  Pure. */
#ifndef WARY_NET_DNS_H
#define WARY_NET_DNS_H

#include "base/err.h"
#include "policy/facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DNS_NAME_MAX 254 /* text, with its NUL */
#define DNS_MESSAGE_MAX 65535
#define DNS_ADDRS_MAX 64
#define DNS_CHAIN_MAX 16 /* aliases that are followed */

enum dns_type { DNS_A = 1, DNS_CNAME = 5, DNS_AAAA = 28 };
enum dns_code { DNS_OK = 0, DNS_FORMAT = 1, DNS_FAILED = 2, DNS_NO_NAME = 3, DNS_REFUSED = 5 };

/* A query with exactly one question. */
struct dns_query {
	uint16_t id;
	uint16_t flags; /* as on the wire */
	uint16_t type, class;
	char name[DNS_NAME_MAX]; /* lower case, without the last dot; "" is the root */
	size_t end_bytes;        /* where the question ends */
};

/* The addresses that an answer gives for the name of its query, directly or by
 * its aliases. */
struct dns_answer {
	uint8_t code;
	bool truncated;
	struct facts_addr addrs[DNS_ADDRS_MAX]; /* family and ip */
	size_t addrs_n;
	uint32_t ttl_s; /* the least on the way; 0 where there are none */
};

/** dns_read_query: reads a query as a name server would.
 * Returns 0, or -ERR_FORMAT: not a query, other than one question, a name that
 * is no host name (letters, digits, '-', '_', '*'), a compressed name. */
must_check int dns_read_query(const uint8_t *bytes, size_t len_bytes, struct dns_query *out);

/** dns_read_answer: reads the answer to a query.
 * Returns 0; -ERR_FORMAT where it is damaged or does not answer @q (another
 * number, name, type or class). */
must_check int dns_read_answer(const uint8_t *bytes, size_t len_bytes, const struct dns_query *q,
                               struct dns_answer *out);

/** dns_write_query: a query for a name, that asks for recursion.
 * @cap_bytes: of @out; 512 always suffice.
 * Returns its length, or 0 where the name is no host name or does not fit. */
size_t dns_write_query(uint16_t id, const char *name, uint16_t type, uint8_t *out,
                       size_t cap_bytes);

/** dns_write_refusal: the answer to a query that is not put: its question, a
 * code, and nothing else.
 * @bytes: of the query that dns_read_query read into @q.
 * Returns its length, or 0 where it does not fit. */
size_t dns_write_refusal(const uint8_t *bytes, const struct dns_query *q, enum dns_code code,
                         uint8_t *out, size_t cap_bytes);

/** dns_is_query: whether bytes have at least the head of a query: what the guard
 * answers with a format error instead of silence; its number in *id. */
bool dns_is_query(const uint8_t *bytes, size_t len_bytes, uint16_t *id);

#endif
