/* An anchor: the last checkpoint that somebody saw in a store, kept elsewhere.
 * It shows what nothing inside the store can: an end that was cut off, an
 * older copy that was put back.  Pure. */
#ifndef WARY_AUDIT_ANCHOR_H
#define WARY_AUDIT_ANCHOR_H

#include "audit/chain.h"
#include "base/buf.h"

struct anchor {
	uint64_t checkpoint;    /* its id */
	struct chain_hash hash; /* chain_checkpoint_hash of it */
};

#define ANCHOR_MAX_BYTES 128

/** anchor_write: appends one line: "wary-anchor-1 ID HASH". */
void anchor_write(struct buf *out, const struct anchor *a);

/** anchor_read: reads such a line, with or without its end.
 * Returns 0 or -ERR_FORMAT. */
must_check int anchor_read(const char *text, size_t len_bytes, struct anchor *out);

#endif
