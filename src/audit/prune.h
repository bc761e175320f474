/* Retention: removing whole sessions, each of which leaves a signed tombstone. */
#ifndef WARY_AUDIT_PRUNE_H
#define WARY_AUDIT_PRUNE_H

#include "audit/hold.h"
#include "audit/keys.h"
#include "audit/store.h"

enum prune_keep {
	PRUNE_FREE,  /* it may go */
	PRUNE_OPEN,  /* it runs, or was not recovered yet */
	PRUNE_HELD,  /* under a hold */
	PRUNE_HOLDS, /* its record has a hold that is in force */
	PRUNE_LAST,  /* the store's last batch is its */
};

struct prune_session {
	uint64_t id;
	uint8_t uuid[ROWS_UUID_BYTES];
	char name[2 * ROWS_UUID_BYTES + 1];
	uint64_t ended_us; /* wall time; 0 where it is open */
	uint64_t checkpoints, events;
	enum prune_keep keep;
};

/** prune_list: every session, the oldest first.
 * @out: free(3). Returns 0 or an error of store_open. */
must_check int prune_list(struct store *s, struct prune_session **out, size_t *n);

/** prune_remove: removes one session and leaves a tombstone, all or nothing, unless
 * something keeps it now.
 * @machine: signs; its public half must be in the store.
 * @reason: for the tombstone: PRUNE_REASON, and perhaps ": " and whose word it was.
 * @keep: set to what keeps it; PRUNE_FREE: it is gone.
 * Returns 0, -ERR_NOTFOUND (it is gone already) or an error of store_open. */
must_check int prune_remove(struct store *s, const struct keys *machine, uint64_t session,
                            const char *reason, enum prune_keep *keep);
#define PRUNE_REASON "retention"

/** prune_any_runs: whether a session of the store runs now. */
bool prune_any_runs(const char *db);

#endif
