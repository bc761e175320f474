/* How far a receiver has got: one line in a file, written whole or not. */
#ifndef WARY_CMD_FOLLOW_STATE_H
#define WARY_CMD_FOLLOW_STATE_H

#include "audit/store.h"
#include "base/err.h"

struct follow_state {
	char *path;
	int lock_fd;
	int error;                          /* errno of the call that failed, 0: none did */
	uint64_t id;                        /* of the last row that was taken; 0: none */
	char uuid[2 * ROWS_UUID_BYTES + 1]; /* of its session */
};

/** follow_state_open: reads the state, and keeps others away from it while it is
 * open.
 * @path: of the file, or NULL: the one in the state folder that belongs to @key.
 * @key: what makes this a task of its own: store, receiver, conditions.
 * Returns 0 or a negative ERR_, said already; follow_state_close in any case. */
must_check int follow_state_open(struct follow_state *st, const char *path, const char *key);

/** follow_state_check: whether the row belongs to this store. Said where not.
 * Returns 0, -ERR_NOTFOUND or a store_ error. */
must_check int follow_state_check(const struct follow_state *st, struct store *s);

/** follow_state_write: on the disk when it returns. Returns 0 or a
 * negative ERR_, said already. */
must_check int follow_state_write(struct follow_state *st, uint64_t id, const char *uuid);
void follow_state_close(struct follow_state *st);

#endif
