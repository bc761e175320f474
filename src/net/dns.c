#include "net/dns.h"

#include "net/addr.h"

#include <string.h>

#define HEAD_BYTES 12
#define LABEL_MAX 63
#define WIRE_NAME_MAX 255
#define FLAG_RESPONSE 0x8000u
#define FLAG_TRUNCATED 0x0200u
#define FLAG_RECURSE 0x0100u
#define FLAG_CAN_RECURSE 0x0080u
#define OPCODE 0x7800u
#define CODE 0x000fu
#define CLASS_IN 1

/* A place in a message. */
struct at {
	const uint8_t *bytes;
	size_t len_bytes;
	size_t at_bytes;
};

static uint16_t get16(const uint8_t *b)
{
	return (uint16_t)(b[0] << 8 | b[1]);
}

static void put16(uint8_t *b, unsigned v)
{
	b[0] = (uint8_t)(v >> 8);
	b[1] = (uint8_t)v;
}

static bool read16(struct at *m, uint16_t *out)
{
	if (m->len_bytes - m->at_bytes < 2)
		return false;
	*out = get16(m->bytes + m->at_bytes);
	m->at_bytes += 2;
	return true;
}

static bool read32(struct at *m, uint32_t *out)
{
	uint16_t high;
	uint16_t low;

	if (!read16(m, &high) || !read16(m, &low))
		return false;
	*out = (uint32_t)high << 16 | low;
	return true;
}

/* ---- names ------------------------------------------------------------ */

static char lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : (char)c;
}

static bool is_host_byte(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_' || c == '*';
}

/* One label as text; bytes that no host name has become '?', which no rule and
 * no query of wary's matches. */
static bool add_label(const uint8_t *label, size_t len, char *name, size_t *n)
{
	if (*n + len + 2 > DNS_NAME_MAX)
		return false;
	if (*n > 0)
		name[(*n)++] = '.';
	for (size_t i = 0; i < len; i++)
		name[(*n)++] = is_host_byte(label[i]) ? lower(label[i]) : '?';
	name[*n] = '\0';
	return true;
}

/* A name; pointers only backwards, so that it ends.  @compressed: whether they
 * are allowed. */
static bool read_name(struct at *m, bool compressed, char name[DNS_NAME_MAX])
{
	size_t at = m->at_bytes;
	size_t before = at;
	bool jumped = false;
	size_t n = 0;

	name[0] = '\0';
	while (at < m->len_bytes) {
		uint8_t len = m->bytes[at];

		if (len == 0) {
			if (!jumped)
				m->at_bytes = at + 1;
			return true;
		}
		if ((len & 0xc0) == 0xc0) {
			if (!compressed || m->len_bytes - at < 2)
				return false;
			if (!jumped)
				m->at_bytes = at + 2;
			jumped = true;
			at = get16(m->bytes + at) & 0x3fffu;
			if (at >= before)
				return false;
			before = at;
			continue;
		}
		if (len > LABEL_MAX || m->len_bytes - at - 1 < len ||
		    !add_label(m->bytes + at + 1, len, name, &n))
			return false;
		at += 1u + len;
	}
	return false;
}

static size_t write_name(const char *name, uint8_t *out, size_t cap)
{
	size_t at = 0;

	while (*name) {
		size_t len = strcspn(name, ".");

		if (len == 0 || len > LABEL_MAX || at + len + 2 > cap ||
		    at + len + 2 > WIRE_NAME_MAX)
			return 0;
		out[at++] = (uint8_t)len;
		for (size_t i = 0; i < len; i++) {
			if (!is_host_byte((uint8_t)name[i]))
				return 0;
			out[at++] = (uint8_t)name[i];
		}
		name += len + (name[len] == '.');
	}
	if (at + 1 > cap)
		return 0;
	out[at++] = 0;
	return at;
}

/* ---- queries ---------------------------------------------------------- */

bool dns_is_query(const uint8_t *bytes, size_t len_bytes, uint16_t *id)
{
	if (len_bytes < HEAD_BYTES || (get16(bytes + 2) & FLAG_RESPONSE))
		return false;
	*id = get16(bytes);
	return true;
}

int dns_read_query(const uint8_t *bytes, size_t len_bytes, struct dns_query *out)
{
	struct at m = {.bytes = bytes, .len_bytes = len_bytes, .at_bytes = HEAD_BYTES};

	if (!dns_is_query(bytes, len_bytes, &out->id))
		return -ERR_FORMAT;
	out->flags = get16(bytes + 2);
	if ((out->flags & OPCODE) || get16(bytes + 4) != 1 || get16(bytes + 6) != 0 ||
	    get16(bytes + 8) != 0)
		return -ERR_FORMAT;
	if (!read_name(&m, false, out->name) || strchr(out->name, '?') || !read16(&m, &out->type) ||
	    !read16(&m, &out->class))
		return -ERR_FORMAT;
	out->end_bytes = m.at_bytes;
	return 0;
}

size_t dns_write_query(uint16_t id, const char *name, uint16_t type, uint8_t *out, size_t cap_bytes)
{
	size_t n;

	if (cap_bytes < HEAD_BYTES + 4)
		return 0;
	n = write_name(name, out + HEAD_BYTES, cap_bytes - HEAD_BYTES - 4);
	if (n == 0)
		return 0;
	memset(out, 0, HEAD_BYTES);
	put16(out, id);
	put16(out + 2, FLAG_RECURSE);
	put16(out + 4, 1);
	put16(out + HEAD_BYTES + n, type);
	put16(out + HEAD_BYTES + n + 2, CLASS_IN);
	return HEAD_BYTES + n + 4;
}

size_t dns_write_refusal(const uint8_t *bytes, const struct dns_query *q, enum dns_code code,
                         uint8_t *out, size_t cap_bytes)
{
	if (q->end_bytes > cap_bytes)
		return 0;
	memcpy(out, bytes, q->end_bytes);
	put16(out + 2, FLAG_RESPONSE | FLAG_CAN_RECURSE | (q->flags & FLAG_RECURSE) | code);
	put16(out + 4, 1);
	memset(out + 6, 0, 6);
	return q->end_bytes;
}

/* ---- answers ---------------------------------------------------------- */

struct record {
	char name[DNS_NAME_MAX];
	uint16_t type, class;
	uint32_t ttl_s;
	size_t data_at;
	uint16_t data_len;
};

static bool read_record(struct at *m, struct record *r)
{
	if (!read_name(m, true, r->name) || !read16(m, &r->type) || !read16(m, &r->class) ||
	    !read32(m, &r->ttl_s) || !read16(m, &r->data_len))
		return false;
	r->data_at = m->at_bytes;
	if (m->len_bytes - m->at_bytes < r->data_len)
		return false;
	m->at_bytes += r->data_len;
	return true;
}

static void note_ttl(struct dns_answer *out, bool *any, uint32_t ttl_s)
{
	if (ttl_s > INT32_MAX) /* RFC 2181: as if it were 0 */
		ttl_s = 0;
	if (!*any || ttl_s < out->ttl_s)
		out->ttl_s = ttl_s;
	*any = true;
}

static void note_address(struct dns_answer *out, const uint8_t *ip, bool v6)
{
	if (out->addrs_n == DNS_ADDRS_MAX)
		return; /* the rest is not known, and so not allowed by name */
	out->addrs[out->addrs_n] = (struct facts_addr){0};
	addr_from_ip(ip, v6, &out->addrs[out->addrs_n++]);
}

static bool is_address(const struct record *r, bool *v6)
{
	*v6 = r->type == DNS_AAAA;
	return (r->type == DNS_A && r->data_len == 4) || (*v6 && r->data_len == 16);
}

/* One pass over the answers, for the records of one name.  Returns whether it
 * has an alias, which becomes the name. */
static bool collect(struct at m, unsigned count, char name[DNS_NAME_MAX], struct dns_answer *out,
                    bool *any)
{
	char alias[DNS_NAME_MAX];
	bool has_alias = false;
	struct record r;
	bool v6;

	for (unsigned i = 0; i < count && read_record(&m, &r); i++) {
		struct at data = {m.bytes, m.len_bytes, r.data_at};

		if (r.class != CLASS_IN || strcmp(r.name, name) != 0)
			continue;
		if (is_address(&r, &v6)) {
			note_ttl(out, any, r.ttl_s);
			note_address(out, m.bytes + r.data_at, v6);
		} else if (r.type == DNS_CNAME && read_name(&data, true, alias)) {
			note_ttl(out, any, r.ttl_s);
			has_alias = true;
		}
	}
	if (has_alias)
		memcpy(name, alias, DNS_NAME_MAX);
	return has_alias;
}

static bool well_formed(struct at m, unsigned count)
{
	struct record r;

	while (count > 0 && read_record(&m, &r))
		count--;
	return count == 0;
}

int dns_read_answer(const uint8_t *bytes, size_t len_bytes, const struct dns_query *q,
                    struct dns_answer *out)
{
	struct at m = {.bytes = bytes, .len_bytes = len_bytes, .at_bytes = HEAD_BYTES};
	char name[DNS_NAME_MAX];
	uint16_t type;
	uint16_t class;
	unsigned count;
	bool any = false;

	if (len_bytes < HEAD_BYTES || get16(bytes) != q->id ||
	    !(get16(bytes + 2) & FLAG_RESPONSE) || get16(bytes + 4) != 1)
		return -ERR_FORMAT;
	if (!read_name(&m, false, name) || !read16(&m, &type) || !read16(&m, &class) ||
	    strcmp(name, q->name) != 0 || type != q->type || class != q->class)
		return -ERR_FORMAT;
	count = get16(bytes + 6);
	if (!well_formed(m, count))
		return -ERR_FORMAT;
	memset(out, 0, sizeof *out);
	out->code = (uint8_t)(get16(bytes + 2) & CODE);
	out->truncated = (get16(bytes + 2) & FLAG_TRUNCATED) != 0;
	for (int i = 0; i < DNS_CHAIN_MAX && collect(m, count, name, out, &any); i++)
		continue;
	if (out->addrs_n == 0)
		out->ttl_s = 0;
	return 0;
}
