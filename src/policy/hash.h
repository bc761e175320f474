/* Hash tables from bytes to small numbers; grow only while a policy loads. */
#ifndef WARY_POLICY_HASH_H
#define WARY_POLICY_HASH_H

#include "policy/arena.h"

#include <stdint.h>
#include <string.h>

/** hash_bytes: fast and good enough: the tables hold what the policy's author
 * wrote, so that names that a child chooses cannot lengthen a chain. */
static inline uint64_t hash_bytes(const char *s, size_t n)
{
	uint64_t h = 0x9e3779b97f4a7c15u ^ n;

	for (; n >= 8; s += 8, n -= 8) {
		uint64_t w;

		memcpy(&w, s, 8);
		h = (h ^ w) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	if (n) {
		uint64_t w = 0;

		for (size_t i = 0; i < n; i++)
			w = w << 8 | (unsigned char)s[i];
		h = (h ^ w) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	return h * 0xc4ceb9fe1a85ec53u >> 16;
}

/* Bytes to a number that is never 0.  Short ones lie in the slot itself, so
 * that looking them up touches one cache line. */
#define TEXT_INLINE_BYTES 24
struct text_slot {
	uint32_t n;
	uint32_t value; /* 0: free */
	union {
		char bytes[TEXT_INLINE_BYTES]; /* where n is not more */
		struct {
			const char *s;
			uint64_t hash;
		};
	};
};
struct text_map {
	struct text_slot *slots;
	size_t used, cap; /* cap: a power of two, or 0 */
};

/** text_map_get: the number, or 0. */
uint32_t text_map_get(const struct text_map *m, const char *s, size_t n);
/** text_map_at: where the number is kept; 0 there: the bytes are new, and the
 * caller sets it at once.  @s must live as long as the map, unless it is
 * no longer than TEXT_INLINE_BYTES. */
uint32_t *text_map_at(struct text_map *m, struct arena *a, const char *s, size_t n);

/* A pair of numbers to a number that is never 0. */
struct pair_slot {
	uint64_t key;
	uint32_t value;
};
struct pair_map {
	struct pair_slot *slots;
	size_t used, cap;
};
uint32_t pair_map_get(const struct pair_map *m, uint64_t key);
uint32_t *pair_map_at(struct pair_map *m, struct arena *a, uint64_t key);

#endif
