/* Ranges of addresses, by the lengths of their prefixes: an address is looked
 * up once for each length that some range has, which are few. */
#ifndef WARY_POLICY_RANGE_INDEX_H
#define WARY_POLICY_RANGE_INDEX_H

#include "policy/hash.h"

struct range_index {
	struct arena *arena;
	struct text_map ranges; /* the prefix's bytes and its length to a list */
	uint64_t lengths[3];    /* that ranges have */
};

void range_index_begin(struct range_index *ix, struct arena *a);

/** range_index_at: where the objects of a range are listed. */
uint32_t *range_index_at(struct range_index *ix, const uint8_t *ip, uint8_t bits);

/** range_index_next: the next list that holds the address.
 * @bits: 0 at first, then as left.  Returns 0 at the end. */
uint32_t range_index_next(const struct range_index *ix, const uint8_t *ip, unsigned bits_max,
                          unsigned *bits);

#endif
