/* The room that a store takes, and giving it back. */
#ifndef WARY_AUDIT_SPACE_H
#define WARY_AUDIT_SPACE_H

#include "audit/store.h"

/** space_used: bytes of the database that hold something. Free pages, which later
 * sessions fill, do not count. */
must_check int space_used(struct store *s, uint64_t *bytes);

/** space_release: gives free pages back to the file system, some at a time, so that
 * running sessions are not held up; then copies the log into the database and empties
 * it, where nobody reads.
 * @alone: no session runs: a store that was not made for this is written anew.
 * @left: free bytes that stay. Returns 0 or an error of store_open. */
must_check int space_release(struct store *s, bool alone, uint64_t *left);

#endif
