/* Bridges: what a tombstone says of the checkpoints that went with its session, so
 * that the chain leads over the gap (docs/AUDIT.md, "Tombstone").  Pure. */
#ifndef WARY_AUDIT_BRIDGE_H
#define WARY_AUDIT_BRIDGE_H

#include "audit/chain.h"

/* Checkpoints that followed each other in the store, of one session and signer. */
struct bridge {
	uint64_t first, count; /* their ids */
	uint64_t signer;
	uint8_t prev[ROWS_HASH_BYTES];        /* of the first */
	struct rows_range range[ROWS_TABLES]; /* the rows of all of them */
	const uint8_t *hashes;                /* of each checkpoint; ROWS_HASH_BYTES each */
};

/** bridge_put: appends one. */
void bridge_put(struct buf *out, const struct bridge *b);

/** bridge_next: takes the next one off.
 * @from: what is left of the bytes, which are from a file that anyone may have
 *   changed; out->hashes points into them.
 * @there: false at their end.
 * Returns 0 or -ERR_FORMAT. */
must_check int bridge_next(struct rows_text *from, struct bridge *out, bool *there);

#endif
