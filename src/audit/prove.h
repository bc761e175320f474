/* Makes a proof (audit/proof.h) of one row of a store. */
#ifndef WARY_AUDIT_PROVE_H
#define WARY_AUDIT_PROVE_H

#include "audit/proof.h"
#include "audit/store.h"

/** prove_row: reads and checks the batches that the row and what it refers to are
 * in, and checks its own output.
 * @row: the id of an event.
 * @out: free with proof_free.
 * @why: set on failure to what is wrong, printable; free(3).
 * Returns 0, -ERR_NOTFOUND (no such row), -ERR_DAMAGED (what it would prove is not as
 * it was signed), -ERR_BOUND, -ERR_NOMEM or -ERR_SYS. */
must_check int prove_row(struct store *s, uint64_t row, struct proof **out, char **why);

#endif
