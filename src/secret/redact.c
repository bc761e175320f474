#include "secret/redact.h"

#include <stdint.h>
#include <string.h>

static const char hex_lower[] = "0123456789abcdef";
static const char hex_upper[] = "0123456789ABCDEF";
static const char base64_plain[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char base64_url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Where the forms of one value are made, one after the other. */
struct making {
	const char *name, *value;
	size_t len_bytes;
	char *at;
	struct redact_needle *out;
	size_t n;
};

/* What was written from m->at to @end is a form of its own, unless it is one
 * that is there already. */
static void keep(struct making *m, char *end)
{
	size_t len = (size_t)(end - m->at);

	for (size_t i = 0; i < m->n; i++)
		if (m->out[i].len_bytes == len && memcmp(m->out[i].bytes, m->at, len) == 0)
			return;
	if (!len)
		return;
	m->out[m->n++] = (struct redact_needle){m->at, len, m->name};
	m->at = end;
}

static void make_reversed(struct making *m)
{
	char *to = m->at;

	for (size_t i = m->len_bytes; i-- > 0;)
		*to++ = m->value[i];
	keep(m, to);
}

static void make_hex(struct making *m, const char *digits)
{
	char *to = m->at;

	for (size_t i = 0; i < m->len_bytes; i++) {
		unsigned char c = (unsigned char)m->value[i];

		*to++ = digits[c >> 4];
		*to++ = digits[c & 15];
	}
	keep(m, to);
}

/* Characters that percent-encoding leaves as they are (RFC 3986). */
static bool is_unreserved(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c && strchr("-._~", c));
}

static void make_percent(struct making *m, const char *digits, bool all)
{
	char *to = m->at;

	for (size_t i = 0; i < m->len_bytes; i++) {
		unsigned char c = (unsigned char)m->value[i];

		if (!all && is_unreserved(m->value[i])) {
			*to++ = m->value[i];
			continue;
		}
		*to++ = '%';
		*to++ = digits[c >> 4];
		*to++ = digits[c & 15];
	}
	keep(m, to);
}

/* Bit @i of the value, from its beginning. */
static unsigned bit(const struct making *m, size_t i)
{
	return (unsigned char)m->value[i / 8] >> (7 - i % 8) & 1u;
}

/* The value as it looks in base64 when @before bytes stand before it in a group
 * of three: only the characters that depend on nothing but the value. */
static void make_base64(struct making *m, const char *alphabet, size_t before)
{
	/* The first group of six bits that lies within the value. */
	size_t first = (6 - before * 8 % 6) % 6;
	char *to = m->at;

	for (size_t at = first; at + 6 <= m->len_bytes * 8; at += 6) {
		unsigned six = 0;

		for (size_t i = 0; i < 6; i++)
			six = six << 1 | bit(m, at + i);
		*to++ = alphabet[six];
	}
	keep(m, to);
}

size_t redact_forms_size(size_t value_bytes)
{
	/* reversed 1, hex 2 + 2, percent 3 + 3 + 3, base64 6 × 4/3 */
	return 24 * value_bytes;
}

size_t redact_forms(const char *name, const char *value, size_t value_bytes, char *room,
                    struct redact_needle *out)
{
	struct making m = {
		.name = name, .value = value, .len_bytes = value_bytes, .at = room, .out = out};

	if (!value_bytes)
		return 0;
	out[m.n++] = (struct redact_needle){value, value_bytes, name};
	if (value_bytes < REDACT_SHORT_BYTES)
		return m.n;
	make_reversed(&m);
	make_hex(&m, hex_lower);
	make_hex(&m, hex_upper);
	make_percent(&m, hex_upper, false);
	make_percent(&m, hex_lower, false);
	make_percent(&m, hex_upper, true);
	for (size_t before = 0; before < 3; before++)
		make_base64(&m, base64_plain, before);
	for (size_t before = 0; before < 3; before++)
		make_base64(&m, base64_url, before);
	invariant(m.n <= REDACT_FORMS_MAX);
	return m.n;
}

/* The longest needle at @text, or NULL. */
static const struct redact_needle *needle_at(const struct redact_needle *needles, size_t n,
                                             const char *text, size_t len_bytes)
{
	const struct redact_needle *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct redact_needle *k = &needles[i];

		if (k->len_bytes <= len_bytes && memcmp(k->bytes, text, k->len_bytes) == 0 &&
		    (!best || k->len_bytes > best->len_bytes))
			best = k;
	}
	return best;
}

/* Where the first of them begins; @len_bytes if none does. */
static size_t first_of(const struct redact_needle *needles, size_t n, const char *text,
                       size_t len_bytes)
{
	size_t first = len_bytes;

	for (size_t i = 0; i < n; i++) {
		/* Only what would begin earlier is of interest. */
		size_t within = first + needles[i].len_bytes - 1;
		const char *at = memmem(text, within < len_bytes ? within : len_bytes,
		                        needles[i].bytes, needles[i].len_bytes);

		if (at && (size_t)(at - text) < first)
			first = (size_t)(at - text);
	}
	return first;
}

bool redact_text(const struct redact_needle *needles, size_t n, const char *text, size_t len_bytes,
                 struct buf *out)
{
	bool found = false;

	for (;;) {
		size_t at = first_of(needles, n, text, len_bytes);
		const struct redact_needle *k;

		if (at == len_bytes)
			break;
		k = needle_at(needles, n, text + at, len_bytes - at);
		invariant(k != NULL);
		found = true;
		buf_add(out, text, at);
		buf_fmt(out, "[%s]", k->name);
		text += at + k->len_bytes;
		len_bytes -= at + k->len_bytes;
	}
	if (found)
		buf_add(out, text, len_bytes);
	return found;
}
