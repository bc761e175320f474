/* The anchor that a machine keeps beside each store, "S.head": written when a
 * session ends, read by verify.  It finds a lost log and an older copy put
 * back; whoever may write the folder can write it too, so that it does not
 * take the place of an anchor kept elsewhere. */
#ifndef WARY_AUDIT_HEAD_H
#define WARY_AUDIT_HEAD_H

#include "audit/anchor.h"

/** head_write: replaces it. Returns 0 or -ERR_NOMEM, -ERR_SYS. */
must_check int head_write(const char *store, const struct anchor *a);
/** head_read: @written_us: wall time when it was written.
 * Returns 0 or -ERR_NOTFOUND, -ERR_FORMAT, -ERR_NOMEM. */
must_check int head_read(const char *store, struct anchor *out, uint64_t *written_us);
/** head_forget: for a store that is made anew. */
void head_forget(const char *store);

#endif
