/* Journal entries into rows: the work of the writer and of recovery.
 *
 * A batch is begun, fed with entries in the order of their index, and
 * committed; rows appear in the store with their hashes and a signed
 * checkpoint, all or nothing.  One struct belongs to one thread.
 */
#ifndef WARY_AUDIT_BATCH_H
#define WARY_AUDIT_BATCH_H

#include "audit/chain.h"
#include "audit/decode.h"
#include "audit/keys.h"
#include "audit/store.h"

#include <stdbool.h>

#define BATCH_EVENTS_MAX 4096
#define BATCH_SLOTS 4095 /* as JOURNAL_SLOTS */

struct batch;

/* Who writes: a running session, or the recovery of a dead one. */
struct batch_identity {
	uint64_t session; /* 0 until batch_identify */
	uint8_t uuid[ROWS_UUID_BYTES];
	uint64_t opened_us, mono_us;
	uint64_t signer;         /* id in the store */
	const struct keys *key;  /* borrowed: outlives the batch */
	struct chain_hash chain; /* the session's last */
	uint64_t next_seq;
	uint64_t journal; /* entries that are in rows already */
	bool recovered;
};

struct batch_totals {
	uint64_t decisions, refused, asked, grants;
};

/** batch_new: @store: borrowed. Returns 0 or -ERR_NOMEM. */
must_check int batch_new(struct store *store, const struct batch_identity *who, struct batch **out);
void batch_free(struct batch *b);

/** batch_begin: takes the store's write lock. Returns 0 or a store_ error. */
must_check int batch_begin(struct batch *b);

/** batch_identify: within the first batch of a session: its id and signer. */
void batch_identify(struct batch *b, uint64_t session, uint64_t signer);

/** batch_entry: one entry of the journal, checked already.
 * @index: its index; entries whose row is in the store already (below the
 * identity's journal) only restore what was waiting.
 * Returns 0, -ERR_FORMAT for a body that is not of its type, or a store_
 * error. */
must_check int batch_entry(struct batch *b, uint64_t index, const struct journal_entry *e);

/** batch_full: whether it should be committed before the next entry. */
bool batch_full(const struct batch *b);

/** batch_event: a row that did not come from the journal. */
struct record;
must_check int batch_event(struct batch *b, const struct record *r, int64_t result);

/** batch_orphans: outcomes whose intent was lost, in recovery; elsewhere that
 * is -ERR_FORMAT. */
uint64_t batch_orphans(const struct batch *b);

/** batch_unknown_fits: whether this batch has room for a row of each intent
 * that still waits, and one more.  An empty batch has.  They never go into two
 * batches: were wary killed in between, the next recovery would take those of
 * the first for waiting again. */
bool batch_unknown_fits(const struct batch *b);

/** batch_unknown: makes rows with an unknown result of the intents that still
 * wait; for the end of a session, where they fit. */
must_check int batch_unknown(struct batch *b);

/** batch_opening: puts the session's first record into this batch. */
must_check int batch_opening(struct batch *b, const struct rows_opening *o);

/** batch_close: adds the closing record; at_us and session are filled in. */
must_check int batch_close(struct batch *b, struct rows_closing *c);

/** batch_commit: hashes, signs and commits; a batch without rows only lets the
 * lock go. Returns 0 or an error; then everything of the batch is gone. */
must_check int batch_commit(struct batch *b);
void batch_rollback(struct batch *b);

/** batch_waiting_oldest: the lowest index, from @from on, at which a waiting
 * intent lies in the journal, or UINT64_MAX.
 * @slot: set to its slot. */
uint64_t batch_waiting_oldest(const struct batch *b, uint64_t from, uint16_t *slot);
/** batch_waiting_body: the body of a CARRY entry for the intent that waits in
 * a slot; valid until its outcome.
 * @intent: set to the index that the intent had first. */
const uint8_t *batch_waiting_body(const struct batch *b, uint16_t slot, size_t *len_bytes,
                                  uint64_t *intent);
/** batch_waiting_moved: the intent now lies at @index too. */
void batch_waiting_moved(struct batch *b, uint16_t slot, uint64_t index);

/** batch_anchor: the last checkpoint that was committed. */
struct anchor;
must_check int batch_anchor(const struct batch *b, struct anchor *out);

/** batch_totals: what the rows so far count, from batch_new on. */
void batch_totals(const struct batch *b, struct batch_totals *out);

#endif
