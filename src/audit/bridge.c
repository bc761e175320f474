#include "audit/bridge.h"

#include "audit/cursor.h"

void bridge_put(struct buf *out, const struct bridge *b)
{
	buf_u64(out, b->first);
	buf_u64(out, b->count);
	buf_u64(out, b->signer);
	buf_add(out, b->prev, sizeof b->prev);
	for (unsigned t = 0; t < ROWS_TABLES; t++) {
		buf_u64(out, b->range[t].first);
		buf_u64(out, b->range[t].count);
	}
	buf_add(out, b->hashes, b->count * ROWS_HASH_BYTES);
}

/* Ids stay below 2^63, so that sums of them are right. */
static bool plausible(const struct bridge *b)
{
	bool right = b->first && b->first <= INT64_MAX && b->count;

	for (unsigned t = 0; t < ROWS_TABLES; t++)
		right = right && b->range[t].first <= INT64_MAX && b->range[t].count <= INT64_MAX;
	return right;
}

int bridge_next(struct rows_text *from, struct bridge *out, bool *there)
{
	struct cursor c = cursor_of(from->bytes, from->len_bytes);

	*there = from->len_bytes != 0;
	if (!*there)
		return 0;
	out->first = cursor_u64(&c);
	out->count = cursor_u64(&c);
	out->signer = cursor_u64(&c);
	cursor_bytes(&c, out->prev, sizeof out->prev);
	for (unsigned t = 0; t < ROWS_TABLES; t++) {
		out->range[t].first = cursor_u64(&c);
		out->range[t].count = cursor_u64(&c);
	}
	if (c.wrong || !plausible(out) || out->count > c.left / ROWS_HASH_BYTES)
		return -ERR_FORMAT;
	out->hashes = cursor_take(&c, out->count * ROWS_HASH_BYTES);
	*from = (struct rows_text){(const char *)c.at, c.left};
	return 0;
}
