/* Journals of sessions that died: into the store, signed as recovered. */
#ifndef WARY_AUDIT_RECOVER_H
#define WARY_AUDIT_RECOVER_H

#include "audit/keys.h"
#include "audit/store.h"
#include "base/err.h"

/** recover_all: recovers every journal beside the store whose session does not
 * live (its lock is free).
 * @machine: the key that certifies the recovery's.
 * @why: set to a sentence on failure where there is more to say; free(3).
 * Returns 0, or what failed; the journals that were not recovered stay. */
must_check int recover_all(struct store *s, const struct keys *machine, char **why);

/** recover_store: the same for a store that is not open; does nothing where
 * there is no journal, no machine key, or it is not to be written.
 * @why: as for recover_all. */
must_check int recover_store(const char *db, char **why);

#endif
