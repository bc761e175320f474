#include "audit/decode.h"

#include "audit/cursor.h"
#include "audit/record.h"
#include "base/text.h"

#include <sodium.h>
#include <string.h>

enum decode_result decode_entry(const uint8_t *at, size_t room_bytes, uint64_t index,
                                struct journal_entry *out)
{
	if (room_bytes < journal_entry_bytes(0))
		return DECODE_END;
	memcpy(&out->head, at, sizeof out->head);
	if (!out->head.commit)
		return DECODE_END;
	if (out->head.commit != index + 1 || out->head.type < RECORD_INTENT ||
	    out->head.type >= RECORD_TYPES)
		return DECODE_DAMAGED;
	out->size_bytes = journal_entry_bytes(out->head.len_bytes);
	if (out->size_bytes > room_bytes)
		return DECODE_DAMAGED;
	out->body = at + sizeof out->head;
	return DECODE_ENTRY;
}

void decode_tag(uint8_t tag[JOURNAL_TAG_BYTES], const uint8_t *bytes, size_t len_bytes,
                const uint8_t key[RATCHET_KEY_BYTES])
{
	invariant(crypto_onetimeauth(tag, bytes, len_bytes, key) == 0);
}

bool decode_check(const uint8_t *at, const struct journal_entry *e,
                  const uint8_t key[RATCHET_KEY_BYTES])
{
	size_t covered = e->size_bytes - JOURNAL_TAG_BYTES;

	return crypto_onetimeauth_verify(at + covered, at, covered, key) == 0;
}

int decode_segment(const uint8_t *at, size_t room_bytes, struct journal_segment_head *out)
{
	if (room_bytes < sizeof *out)
		return -ERR_FORMAT;
	memcpy(out, at, sizeof *out);
	if (memcmp(out->magic, JOURNAL_SEGMENT_MAGIC, sizeof out->magic) != 0 || !out->generation ||
	    out->size_bytes < JOURNAL_SEGMENT_BYTES || out->size_bytes % JOURNAL_SEGMENT_BYTES ||
	    out->size_bytes > room_bytes)
		return -ERR_FORMAT;
	return 0;
}

int record_decode(struct record *out, const void *bytes, size_t len_bytes)
{
	const char *at = (const char *)bytes + sizeof out->head;
	size_t left;

	if (len_bytes < sizeof out->head)
		return -ERR_FORMAT;
	memcpy(&out->head, bytes, sizeof out->head);
	left = len_bytes - sizeof out->head;
	if (out->head.kind > AUDIT_SESSION || out->head.class >= CLASS_COUNT ||
	    out->head.answer > ANSWER_KILL ||
	    out->head.bits & ~(RECORD_BY_HUMAN | RECORD_HAS_SHA256))
		return -ERR_FORMAT;
	for (unsigned i = 0; i < RECORD_TEXTS; i++) {
		size_t len = out->head.len_bytes[i];

		out->text[i] = NULL;
		if (len == RECORD_NO_TEXT)
			continue;
		/* The NUL must be where the length says, and nowhere before. */
		if (len >= left || memchr(at, '\0', len + 1) != at + len)
			return -ERR_FORMAT;
		out->text[i] = at;
		at += len + 1;
		left -= len + 1;
	}
	return left ? -ERR_FORMAT : 0;
}

int record_opening_decode(struct record_opening *out, const void *bytes, size_t len_bytes)
{
	struct cursor c = cursor_of(bytes, len_bytes);
	struct rows_text *const texts[] = {&out->argv, &out->cwd,    &out->user,
	                                   &out->host, &out->kernel, &out->version};

	*out = (struct record_opening){.opened_us = cursor_u64(&c)};
	out->mono_us = cursor_u64(&c);
	out->uid = cursor_u32(&c);
	out->sources_n = cursor_u32(&c);
	if (out->sources_n > ROWS_SOURCES_MAX)
		return -ERR_FORMAT;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		*texts[i] = cursor_text(&c);
	for (uint32_t i = 0; i < out->sources_n; i++) {
		out->source[i].name = cursor_text(&c);
		out->source[i].path = cursor_text(&c);
		out->source[i].text = cursor_text(&c);
	}
	return c.wrong || c.left ? -ERR_FORMAT : 0;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* One escape after its backslash. Returns the bytes read, 0 where malformed. */
static size_t unescape(const char *s, size_t len, struct buf *out)
{
	static const char letters[] = {
		['n'] = '\n', ['t'] = '\t', ['r'] = '\r', ['\''] = '\'', ['\\'] = '\\'};

	if (len >= 1 && s[0] > 0 && (size_t)s[0] < sizeof letters && letters[(size_t)s[0]]) {
		buf_chr(out, letters[(size_t)s[0]]);
		return 1;
	}
	if (len >= 3 && s[0] == 'x' && hex_value(s[1]) >= 0 && hex_value(s[2]) >= 0) {
		buf_u8(out, (uint8_t)(hex_value(s[1]) << 4 | hex_value(s[2])));
		return 3;
	}
	return 0;
}

/* The end of one quoted argument at the text's beginning, 0 where malformed;
 * its bytes are appended to @out. */
static size_t unquote_one(const char *s, size_t len, struct buf *out)
{
	bool escapes = len >= 2 && s[0] == '$' && s[1] == '\'';
	size_t i = escapes ? 2 : 1;

	if (!escapes && s[0] != '\'') {
		const char *blank = memchr(s, ' ', len);

		i = blank ? (size_t)(blank - s) : len;
		buf_add(out, s, i);
		return i;
	}
	while (i < len && s[i] != '\'') {
		size_t n = 1;

		if (escapes && s[i] == '\\') {
			n = unescape(s + i + 1, len - i - 1, out);
			if (!n)
				return 0;
			n++;
		} else {
			buf_chr(out, s[i]);
		}
		i += n;
	}
	return i < len ? i + 1 : 0;
}

int record_unquote(const char *text, size_t len_bytes,
                   int (*each)(void *ctx, const char *bytes, size_t len_bytes), void *ctx)
{
	auto_buf word = BUF_INIT;
	auto_buf again = BUF_INIT;

	for (size_t i = 0; i < len_bytes;) {
		size_t n = unquote_one(text + i, len_bytes - i, &word);
		int err;

		buf_reset(&again);
		record_quote(&again, buf_text(&word) ? word.data : "", word.len_bytes);
		if (word.failed || again.failed)
			return -ERR_NOMEM;
		/* There is one way to write each argument. */
		if (!n || again.len_bytes != n || memcmp(again.data, text + i, n) != 0)
			return -ERR_FORMAT;
		err = each(ctx, buf_text(&word), word.len_bytes);
		if (err)
			return err;
		i += n;
		if (i < len_bytes && (text[i] != ' ' || i + 1 == len_bytes))
			return -ERR_FORMAT;
		i++;
		buf_reset(&word);
	}
	return 0;
}
