/* Legal holds: sessions that retention must leave.  They are rows of the record
 * themselves (kind session, object "hold" or "release", object2 the session's uuid),
 * so that they are chained and signed as everything else. */
#ifndef WARY_AUDIT_HOLD_H
#define WARY_AUDIT_HOLD_H

#include "audit/rows.h"
#include "audit/store.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define HOLD_ON "hold"
#define HOLD_OFF "release"

struct hold {
	uint8_t uuid[ROWS_UUID_BYTES]; /* of the session that is held */
	uint64_t by;                   /* the session whose record says so */
};

/** hold_list: the holds that are in force.
 * @out: free(3). Returns 0 or an error of store_open. */
must_check int hold_list(struct store *s, struct hold **out, size_t *n);

/** hold_of: whether a session is held. */
bool hold_of(const struct hold *holds, size_t n, const uint8_t uuid[ROWS_UUID_BYTES]);
/** hold_by: whether a session's record has a hold that is in force. */
bool hold_by(const struct hold *holds, size_t n, uint64_t session);

#endif
