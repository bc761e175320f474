#include "audit/bridge.h"

#include <string.h>

/* Before the hashes: three numbers, prev, two numbers for each table. */
#define HEAD_BYTES (3 * 8 + ROWS_HASH_BYTES + ROWS_TABLES * 16)

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

static uint64_t take_u64(struct rows_text *from)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < 8; i++)
		v |= (uint64_t)(uint8_t)from->bytes[i] << (8 * i);
	from->bytes += 8;
	from->len_bytes -= 8;
	return v;
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
	*there = from->len_bytes != 0;
	if (!*there)
		return 0;
	if (from->len_bytes < HEAD_BYTES)
		return -ERR_FORMAT;
	out->first = take_u64(from);
	out->count = take_u64(from);
	out->signer = take_u64(from);
	memcpy(out->prev, from->bytes, sizeof out->prev);
	from->bytes += sizeof out->prev;
	from->len_bytes -= sizeof out->prev;
	for (unsigned t = 0; t < ROWS_TABLES; t++) {
		out->range[t].first = take_u64(from);
		out->range[t].count = take_u64(from);
	}
	if (!plausible(out) || out->count > from->len_bytes / ROWS_HASH_BYTES)
		return -ERR_FORMAT;
	out->hashes = (const uint8_t *)from->bytes;
	from->bytes += out->count * ROWS_HASH_BYTES;
	from->len_bytes -= out->count * ROWS_HASH_BYTES;
	return 0;
}
