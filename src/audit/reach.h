/* Which batches rows of some actors can be in, so that the others are not read.
 *
 * How it works: an actor's row is written with the first event that has it, in one batch, and
 * events of that session have it until the writer begins anew (ROWS_ANEW: a later batch says
 * that from it on events only have actors that are written from it on).  So what an actor did
 * is in the batches from its own on, of its session, up to where that begins anew, or to the
 * session's end.  Nothing is taken from when processes start and end: rows of a process may
 * come after that of its end, and process numbers are used again.
 */
#ifndef WARY_AUDIT_REACH_H
#define WARY_AUDIT_REACH_H

#include "audit/store.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct reach;

/** reach_find: @condition: SQL over a row w of actor, as expr_parse makes it.
 * @out: the batches that are in the store now; reach_free.
 * Returns 0, -ERR_NOMEM or a store_ error. */
must_check int reach_find(struct store *s, const char *condition, struct reach **out);
void reach_free(struct reach *r);

/** reach_has: whether a batch can have such rows; one that came since can.
 * @checkpoint: its id. */
bool reach_has(const struct reach *r, uint64_t checkpoint);

#endif
