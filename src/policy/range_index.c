#include "policy/range_index.h"

_Static_assert(17 <= TEXT_INLINE_BYTES, "keys lie in the map itself");

void range_index_begin(struct range_index *ix, struct arena *a)
{
	*ix = (struct range_index){.arena = a};
}

/* The prefix's bytes, its other bits zero, and its length. Returns how many. */
static size_t key_of(const uint8_t *ip, unsigned bits, char *key)
{
	size_t n = (bits + 7) / 8;

	memcpy(key, ip, n);
	if (bits % 8)
		key[n - 1] = (char)(key[n - 1] & (char)(0xff << (8 - bits % 8)));
	key[n] = (char)bits;
	return n + 1;
}

uint32_t *range_index_at(struct range_index *ix, const uint8_t *ip, uint8_t bits)
{
	char key[17];
	size_t n = key_of(ip, bits, key);

	ix->lengths[bits / 64] |= (uint64_t)1 << bits % 64;
	/* Keys are short, and so lie in the map itself. */
	return text_map_at(&ix->ranges, ix->arena, key, n);
}

uint32_t range_index_next(const struct range_index *ix, const uint8_t *ip, unsigned bits_max,
                          unsigned *bits)
{
	while (*bits <= bits_max) {
		unsigned now = (*bits)++;
		char key[17];
		uint32_t head;

		if (!(ix->lengths[now / 64] >> now % 64 & 1))
			continue;
		head = text_map_get(&ix->ranges, key, key_of(ip, now, key));
		if (head)
			return head;
	}
	return 0;
}
