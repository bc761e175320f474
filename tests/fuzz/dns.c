/* net/dns: any bytes are read within their bounds, and what is written is read
 * as it was meant. */
#include "net/dns.h"
#include "base/err.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static void check_query(const uint8_t *bytes, size_t len_bytes)
{
	uint8_t out[1024];
	struct dns_query q;
	struct dns_query again;
	size_t n;

	if (dns_read_query(bytes, len_bytes, &q) != 0)
		return;
	invariant(q.end_bytes <= len_bytes && strlen(q.name) < DNS_NAME_MAX);
	n = dns_write_query(q.id, q.name, q.type, out, sizeof out);
	invariant(n > 0 && dns_read_query(out, n, &again) == 0);
	invariant(strcmp(q.name, again.name) == 0 && q.type == again.type);
	n = dns_write_refusal(bytes, &q, DNS_REFUSED, out, sizeof out);
	invariant(n == q.end_bytes && (out[2] & 0x80));
}

/* The same bytes as an answer to the question that they hold themselves. */
static void check_answer(const uint8_t *bytes, size_t len_bytes)
{
	uint8_t copy[1024];
	struct dns_query q;
	struct dns_answer a;

	if (len_bytes < 12 || len_bytes > sizeof copy)
		return;
	memcpy(copy, bytes, len_bytes);
	copy[2] = 1;
	memset(copy + 4, 0, 8);
	copy[5] = 1;
	if (dns_read_query(copy, len_bytes, &q) != 0)
		return;
	if (dns_read_answer(bytes, len_bytes, &q, &a) == 0)
		invariant(a.addrs_n <= DNS_ADDRS_MAX && (a.addrs_n > 0 || a.ttl_s == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len_bytes)
{
	check_query(bytes, len_bytes);
	check_answer(bytes, len_bytes);
	return 0;
}
