/* The machine's key is replaced by a new one, which the old one certifies.  A crash at
 * any moment leaves one of the two usable; once the new one is there the old secret is
 * wiped (docs/AUDIT.md, "Key rotation"). */
#ifndef WARY_AUDIT_KEYS_ROTATE_H
#define WARY_AUDIT_KEYS_ROTATE_H

#include "audit/keys_chain.h"

struct keys_rotation {
	int folder_fd; /* locked: one rotation at a time */
	char *folder;
	struct keys *old, *fresh;
	struct keys_chain *chain; /* of old; once it is done, of fresh */
};

/** keys_rotate_begin: makes the new key, in memory only.
 * @r: keys_rotate_end in any case. @why: set on failure to a sentence; free(3).
 * Returns 0 or -ERR_NOTFOUND (no key yet), -ERR_BUSY (another rotation is under way),
 * -ERR_BOUND (KEYS_FORMER_MAX), an error of keys_machine. */
must_check int keys_rotate_begin(struct keys_rotation *r, char **why);

/** keys_rotate_commit: puts it in the place of the old one.
 * @replaced: set where the new key is the machine's; also where what comes after
 *   failed: then it is done by the next session's start.
 * Returns 0, -ERR_NOMEM, -ERR_CRYPTO or -ERR_SYS (errno says more). */
must_check int keys_rotate_commit(struct keys_rotation *r, bool *replaced);

void keys_rotate_end(struct keys_rotation *r);

#endif
