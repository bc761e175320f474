#include "audit/anchor.h"

#include "base/text.h"

#include <string.h>

#define HEAD "wary-anchor-1 "

void anchor_write(struct buf *out, const struct anchor *a)
{
	buf_fmt(out, HEAD "%llu ", (unsigned long long)a->checkpoint);
	text_hex(out, a->hash.bytes, sizeof a->hash.bytes);
	buf_chr(out, '\n');
}

int anchor_read(const char *text, size_t len_bytes, struct anchor *out)
{
	struct anchor a;
	char number[24];
	unsigned long long id;
	const char *blank;
	size_t head = strlen(HEAD);
	size_t digits;

	if (len_bytes && text[len_bytes - 1] == '\n')
		len_bytes--;
	if (len_bytes < head || memcmp(text, HEAD, head) != 0)
		return -ERR_FORMAT;
	text += head;
	len_bytes -= head;
	blank = memchr(text, ' ', len_bytes);
	digits = blank ? (size_t)(blank - text) : sizeof number;
	if (digits >= sizeof number)
		return -ERR_FORMAT;
	memcpy(number, text, digits);
	number[digits] = '\0';
	if (text_number(number, INT64_MAX, &id) != 0 ||
	    text_unhex(blank + 1, len_bytes - digits - 1, a.hash.bytes, sizeof a.hash.bytes) != 0)
		return -ERR_FORMAT;
	a.checkpoint = id;
	*out = a;
	return 0;
}
