/* Inside verify: batches looked at ahead, several at once.
 *
 * How it works: a row's hash covers the one before it, and libsodium takes longer for it than
 * all else that is done for a row.  But a batch begins with a hash that the checkpoint before it
 * of its session has, so that chains of several batches can be hashed side by side
 * (audit/lanes.h).  Of a batch that is found right there is no more to be said; of any other
 * nothing is said here: it is read again, row by row, by what knows the words for what is
 * wrong.  So this decides nothing but what is right, from the bytes alone:
 * 1. its rows are there, each with its mark and with values that wary writes;
 * 2. hashed from @start on they end in the checkpoint's chain, and their tree in its root.
 * Whether @start is the session's last hash, whether the checkpoint stands where it should, is
 * signed and by whom, is for the walk to see, which uses what is said here only where that fits.
 */
#ifndef WARY_AUDIT_VERIFY_AHEAD_H
#define WARY_AUDIT_VERIFY_AHEAD_H

#include "audit/verify_rows.h"

#define VERIFY_AHEAD 16

/* A checkpoint that is read, and what was seen of its batch. */
struct verify_point {
	struct rows_checkpoint c;
	bool readable;           /* every column is as wary writes it */
	bool right;              /* 1 and 2 above hold */
	struct chain_hash start; /* then: the hash that its rows begin from */
	uint64_t first_actor;    /* then: the lowest that its events have */
};

struct verify_ahead;

/** verify_ahead_new: @stmt: checkpoints in order, as COLUMNS_CHECKPOINT has them; borrowed.
 * Returns it, or NULL with v->err set. */
struct verify_ahead *verify_ahead_new(struct verify *v, sqlite3_stmt *stmt);
void verify_ahead_free(struct verify_ahead *a);

/** verify_ahead_next: the next checkpoint, valid until the next call; NULL at the end, or with
 * v->err set. */
struct verify_point *verify_ahead_next(struct verify_ahead *a);

#endif
