/* Merkle trees over the leaves of one batch (docs/AUDIT.md), as in RFC 6962
 * but with BLAKE2b.  Pure. */
#ifndef WARY_AUDIT_MERKLE_H
#define WARY_AUDIT_MERKLE_H

#include "audit/lanes.h"

#include <stdbool.h>
#include <stdint.h>

#define MERKLE_DEPTH_MAX 40 /* far more leaves than a batch can have */

/* A tree under way: at each height the roots of full subtrees that wait until there are enough
 * for the nodes above to be hashed at once (audit/lanes.h). */
struct merkle {
	uint64_t leaves;
	uint8_t waiting[MERKLE_DEPTH_MAX]; /* how many: fewer than 2 * LANES */
	struct chain_hash at[MERKLE_DEPTH_MAX][2 * LANES];
};

void merkle_init(struct merkle *m);
void merkle_add(struct merkle *m, const struct chain_hash *leaf);

/** merkle_root: the root over what was added; zeros for nothing.
 * @m stays as it is. */
void merkle_root(const struct merkle *m, struct chain_hash *out);

/** merkle_path: the siblings on the way from leaf @index to the root.
 * @leaves, @count: all of the batch.
 * @out: room for MERKLE_DEPTH_MAX; nearest to the leaf first.
 * Returns their number. @index must be below @count. */
unsigned merkle_path(const struct chain_hash *leaves, uint64_t count, uint64_t index,
                     struct chain_hash *out);

/** merkle_path_check: whether a path leads from the leaf to the root.
 * Everything may come from an untrusted file, but for @count and @root: a path
 * proves a place only in a tree of a size that was signed. */
bool merkle_path_check(const struct chain_hash *leaf, uint64_t count, uint64_t index,
                       const struct chain_hash *path, unsigned path_n,
                       const struct chain_hash *root);

#endif
