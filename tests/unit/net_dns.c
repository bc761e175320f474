/* net/dns: queries and answers as they are on the wire, and what must not be
 * taken for one. */
#include "net/dns.h"
#include "tests/unit/tap.h"

#include <string.h>

struct message {
	uint8_t bytes[2048];
	size_t len;
};

static void add(struct message *m, const char *bytes, size_t len)
{
	memcpy(m->bytes + m->len, bytes, len);
	m->len += len;
}

/* A record whose name is a pointer to the question's. */
static void record(struct message *m, const char *name, size_t name_len, unsigned type,
                   unsigned ttl, const char *data, size_t data_len)
{
	const char head[10] = {0, (char)type,       0,         1, 0,
	                       0, (char)(ttl >> 8), (char)ttl, 0, (char)data_len};

	add(m, name, name_len);
	add(m, head, sizeof head);
	add(m, data, data_len);
	m->bytes[7]++;
}

static void response(struct message *m, const char *name, uint16_t type, struct dns_query *q)
{
	m->len = dns_write_query(0x1234, name, type, m->bytes, sizeof m->bytes);
	tap_ok(m->len > 0 && dns_read_query(m->bytes, m->len, q) == 0, "a query for %s", name);
	m->bytes[2] |= 0x80;
}

static void queries(void)
{
	struct dns_query q;
	struct message m = {.len = 0};
	uint8_t out[512];
	size_t n;

	m.len = dns_write_query(7, "Good.Test", DNS_AAAA, m.bytes, sizeof m.bytes);
	tap_is_int(dns_read_query(m.bytes, m.len, &q), 0, "a query that was written reads back");
	tap_is_str(q.name, "good.test", "in lower case");
	tap_ok(q.id == 7 && q.type == DNS_AAAA && q.class == 1 && q.end_bytes == m.len, "whole");
	n = dns_write_refusal(m.bytes, &q, DNS_REFUSED, out, sizeof out);
	tap_ok(n == m.len && (out[2] & 0x80) && (out[3] & 15) == DNS_REFUSED && out[7] == 0,
	       "a refusal repeats the question");
	tap_is_int((long long)dns_write_refusal(m.bytes, &q, DNS_REFUSED, out, 20), 0,
	           "if it fits");
	for (size_t len = 0; len < m.len; len++)
		if (dns_read_query(m.bytes, len, &q) == 0)
			tap_ok(false, "%zu bytes of it are no query", len);
	m.bytes[5] = 2;
	tap_is_int(dns_read_query(m.bytes, m.len, &q), -ERR_FORMAT, "two questions");
	m.bytes[5] = 1;
	m.bytes[2] |= 0x80;
	tap_is_int(dns_read_query(m.bytes, m.len, &q), -ERR_FORMAT, "a response");
	m.bytes[2] = 0x28;
	tap_is_int(dns_read_query(m.bytes, m.len, &q), -ERR_FORMAT, "an update");
	m.bytes[2] = 1;
	m.bytes[13] = ' ';
	tap_is_int(dns_read_query(m.bytes, m.len, &q), -ERR_FORMAT, "no host name");
	m.bytes[13] = '.';
	tap_is_int(dns_read_query(m.bytes, m.len, &q), -ERR_FORMAT, "a dot within a label");
	m.bytes[12] = 0xc0;
	m.bytes[13] = 0x0c;
	tap_is_int(dns_read_query(m.bytes, m.len, &q), -ERR_FORMAT, "a compressed question");
}

static void names(void)
{
	char longest[300];
	uint8_t out[600];

	tap_is_int((long long)dns_write_query(1, "a..b", DNS_A, out, sizeof out), 0, "a..b");
	tap_is_int((long long)dns_write_query(1, "a b", DNS_A, out, sizeof out), 0, "a b");
	tap_ok(dns_write_query(1, "a.b.", DNS_A, out, sizeof out) ==
	               dns_write_query(1, "a.b", DNS_A, out, sizeof out),
	       "a last dot changes nothing");
	memset(longest, 'x', sizeof longest);
	longest[64] = '\0';
	tap_is_int((long long)dns_write_query(1, longest, DNS_A, out, sizeof out), 0,
	           "64 in a label");
	for (size_t i = 0; i < 253; i++)
		longest[i] = i % 64 == 63 ? '.' : 'x';
	longest[253] = '\0';
	tap_ok(dns_write_query(1, longest, DNS_A, out, sizeof out) > 0, "253 bytes of name");
	longest[253] = 'x';
	longest[254] = '\0';
	tap_is_int((long long)dns_write_query(1, longest, DNS_A, out, sizeof out), 0,
	           "254 are more");
}

static void answers(void)
{
	struct dns_query q;
	struct dns_answer a;
	struct message m = {.len = 0};

	response(&m, "good.test", DNS_A, &q);
	record(&m, "\xc0\x0c", 2, DNS_A, 300, "\x01\x02\x03\x04", 4);
	record(&m, "\xc0\x0c", 2, DNS_A, 60, "\x0a\x00\x00\x01", 4);
	record(&m, "\4evil\4test", 11, DNS_A, 1, "\x09\x09\x09\x09", 4);
	tap_is_int(dns_read_answer(m.bytes, m.len, &q, &a), 0, "an answer");
	tap_ok(a.addrs_n == 2 && a.addrs[0].family == ADDR_INET && a.addrs[0].ip[3] == 4,
	       "the addresses of that name, and of no other");
	tap_is_int(a.ttl_s, 60, "the least TTL");
	for (size_t len = 0; len < m.len; len++)
		if (dns_read_answer(m.bytes, len, &q, &a) == 0)
			tap_ok(false, "%zu bytes of it are no answer", len);
	q.id++;
	tap_is_int(dns_read_answer(m.bytes, m.len, &q, &a), -ERR_FORMAT, "another number");
	q.id--;
	q.type = DNS_AAAA;
	tap_is_int(dns_read_answer(m.bytes, m.len, &q, &a), -ERR_FORMAT, "another type");
	q.type = DNS_A;
	memcpy(q.name, "gooe", 4);
	tap_is_int(dns_read_answer(m.bytes, m.len, &q, &a), -ERR_FORMAT, "another name");
}

static void aliases(void)
{
	struct dns_query q;
	struct dns_answer a;
	struct message m = {.len = 0};

	response(&m, "www.test", DNS_AAAA, &q);
	record(&m, "\3cdn\4test", 10, DNS_AAAA, 20, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	record(&m, "\xc0\x0c", 2, DNS_CNAME, 10, "\3CDN\4test", 10);
	tap_is_int(dns_read_answer(m.bytes, m.len, &q, &a), 0, "an alias, in any order");
	tap_ok(a.addrs_n == 1 && a.addrs[0].family == ADDR_INET6 && a.addrs[0].ip[15] == 1,
	       "leads to its address");
	tap_is_int(a.ttl_s, 10, "the alias' TTL counts");
	response(&m, "loop.test", DNS_A, &q);
	record(&m, "\xc0\x0c", 2, DNS_CNAME, 10, "\xc0\x0c", 2);
	tap_is_int(dns_read_answer(m.bytes, m.len, &q, &a), 0, "an alias of itself ends");
	tap_ok(a.addrs_n == 0 && a.ttl_s == 0, "with nothing");
	response(&m, "v.test", DNS_AAAA, &q);
	record(&m, "\xc0\x0c", 2, DNS_AAAA, 5, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1", 16);
	tap_ok(dns_read_answer(m.bytes, m.len, &q, &a) == 0 && a.addrs[0].family == ADDR_INET,
	       "a mapped address is the IPv4 address");
	response(&m, "p.test", DNS_A, &q);
	record(&m, "\xc0\xff", 2, DNS_A, 5, "\x01\x02\x03\x04", 4);
	tap_is_int(dns_read_answer(m.bytes, m.len, &q, &a), -ERR_FORMAT, "a pointer forwards");
}

int main(void)
{
	queries();
	names();
	answers();
	aliases();
	return tap_done();
}
