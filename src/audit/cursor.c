#include "audit/cursor.h"

#include <string.h>

const uint8_t *cursor_take(struct cursor *c, size_t len_bytes)
{
	const uint8_t *at = c->at;

	if (c->wrong || len_bytes > c->left) {
		c->wrong = true;
		return NULL;
	}
	c->at += len_bytes;
	c->left -= len_bytes;
	return at;
}

uint64_t cursor_int(struct cursor *c, unsigned len_bytes)
{
	const uint8_t *at = cursor_take(c, len_bytes);
	uint64_t v = 0;

	for (unsigned i = 0; at && i < len_bytes; i++)
		v |= (uint64_t)at[i] << (8 * i);
	return v;
}

uint64_t cursor_u64(struct cursor *c)
{
	return cursor_int(c, 8);
}

uint32_t cursor_u32(struct cursor *c)
{
	return (uint32_t)cursor_int(c, 4);
}

void cursor_bytes(struct cursor *c, void *out, size_t len_bytes)
{
	const uint8_t *at = cursor_take(c, len_bytes);

	if (at)
		memcpy(out, at, len_bytes);
}

struct rows_text cursor_text(struct cursor *c)
{
	size_t n = cursor_u32(c);
	const uint8_t *at = cursor_take(c, n);

	return (struct rows_text){at ? (const char *)at : "", at ? n : 0};
}
