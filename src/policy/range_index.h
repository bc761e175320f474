/* Ranges of addresses as a path-compressed tree of their bits: looking up an
 * address visits only ranges that hold it. */
#ifndef WARY_POLICY_RANGE_INDEX_H
#define WARY_POLICY_RANGE_INDEX_H

#include "policy/address.h"
#include "policy/arena.h"

struct range_node {
	uint8_t ip[16];
	uint8_t bits;
	uint32_t entries;  /* 0: only a fork */
	uint32_t child[2]; /* 0: none */
};

struct range_index {
	struct arena *arena;
	VEC(struct range_node) nodes; /* [0] unused */
	uint32_t root;
};

void range_index_begin(struct range_index *ix, struct arena *a);

/** range_index_at: where the entries of a range are listed; valid until the
 * next call. */
uint32_t *range_index_at(struct range_index *ix, const uint8_t *ip, uint8_t bits);

/** range_index_next: the next list of entries that holds the address.
 * @node: 0 at first, then as left; set to 0 at the end, which returns 0. */
uint32_t range_index_next(const struct range_index *ix, const uint8_t *ip, unsigned bits_max,
                          uint32_t *node);

#endif
