#include "base/text.h"

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t text_utf8_next(const unsigned char *s, size_t len_bytes, unsigned *code)
{
	static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n;
	unsigned c;

	if (!len_bytes)
		return 0;
	if (s[0] < 0x80) {
		*code = s[0];
		return 1;
	}
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		n = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		n = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		n = 4;
	else
		return 0;
	if (n > len_bytes)
		return 0;
	c = s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3fu);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*code = c;
	return n;
}

bool text_is_hidden(unsigned code)
{
	static const unsigned ranges[][2] = {
		{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},       {0x61c, 0x61c},
		{0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
		{0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},
	};

	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		if (code >= ranges[i][0] && code <= ranges[i][1])
			return true;
	return false;
}

static void escape(struct buf *out, unsigned code)
{
	static const char named[] = {['\n'] = 'n', ['\t'] = 't', ['\r'] = 'r'};

	if (code < sizeof named && named[code])
		buf_fmt(out, "\\%c", named[code]);
	else if (code < 0x100)
		buf_fmt(out, "\\x%02x", code);
	else
		buf_fmt(out, "\\u{%x}", code);
}

void text_printable(struct buf *out, const void *bytes, size_t len_bytes, size_t max_chars)
{
	const unsigned char *s = bytes;
	size_t i = 0;

	for (size_t shown = 0; i < len_bytes; shown++) {
		unsigned code = 0;
		size_t n = text_utf8_next(s + i, len_bytes - i, &code);

		if (max_chars && shown == max_chars) {
			buf_str(out, "…");
			return;
		}
		if (n == 0) {
			buf_fmt(out, "\\x%02x", s[i]);
			n = 1;
		} else if (code == '\\') {
			buf_str(out, "\\\\");
		} else if (text_is_hidden(code)) {
			escape(out, code);
		} else {
			buf_add(out, s + i, n);
		}
		i += n;
	}
}

char *text_printable_str(const char *text, size_t max_chars)
{
	struct buf b = BUF_INIT;
	char *s;

	text_printable(&b, text, strlen(text), max_chars);
	s = buf_take(&b);
	invariant(s != NULL);
	return s;
}

bool text_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

#define WORD_MAX_BYTES 63

static unsigned least_of(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned text_edit_distance(const char *a, const char *b)
{
	unsigned d[WORD_MAX_BYTES + 1][WORD_MAX_BYTES + 1];
	size_t la = strlen(a);
	size_t lb = strlen(b);

	if (la > WORD_MAX_BYTES || lb > WORD_MAX_BYTES)
		return WORD_MAX_BYTES + 1;
	for (unsigned i = 0; i <= la; i++)
		d[i][0] = i;
	for (unsigned j = 0; j <= lb; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= la; i++) {
		for (size_t j = 1; j <= lb; j++) {
			unsigned same = a[i - 1] == b[j - 1] ? 0 : 1;
			unsigned best = d[i - 1][j - 1] + same;

			best = least_of(best, d[i - 1][j] + 1);
			best = least_of(best, d[i][j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = least_of(best, d[i - 2][j - 2] + 1);
			d[i][j] = best;
		}
	}
	return d[la][lb];
}

const char *text_nearest(const char *word, const char *const *list)
{
	unsigned limit = (unsigned)strlen(word) / 3 + 1;
	const char *best = NULL;

	for (; *list; list++) {
		unsigned dist = text_edit_distance(word, *list);

		if (dist <= limit) {
			best = *list;
			if (!dist)
				break;
			limit = dist - 1;
		}
	}
	return best;
}

void text_hex(struct buf *out, const void *bytes, size_t len_bytes)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *s = bytes;

	for (size_t i = 0; i < len_bytes; i++) {
		char two[] = {digits[s[i] >> 4], digits[s[i] & 15]};

		buf_add(out, two, sizeof two);
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int text_unhex(const char *hex, size_t hex_len, void *out, size_t len_bytes)
{
	unsigned char *o = out;

	if (hex_len != 2 * len_bytes)
		return -ERR_FORMAT;
	for (size_t i = 0; i < len_bytes; i++) {
		int hi = hex_digit(hex[2 * i]);
		int lo = hex_digit(hex[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return -ERR_FORMAT;
		o[i] = (unsigned char)(hi << 4 | lo);
	}
	return 0;
}

int text_number(const char *s, unsigned long long max, unsigned long long *out)
{
	unsigned long long n = 0;

	if (!*s)
		return -ERR_FORMAT;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return -ERR_FORMAT;
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (unsigned)(*s - '0'), &n))
			return -ERR_BOUND;
	}
	if (n > max)
		return -ERR_BOUND;
	*out = n;
	return 0;
}

void text_thousands(struct buf *out, unsigned long long n)
{
	char digits[32];
	int len = snprintf(digits, sizeof digits, "%llu", n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf_chr(out, ',');
		buf_chr(out, digits[i]);
	}
}
