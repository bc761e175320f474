/* A store of an earlier version of the schema. */
#ifndef WARY_AUDIT_UPGRADE_H
#define WARY_AUDIT_UPGRADE_H

#include "audit/store.h"
#include "base/err.h"

/** upgrade_first: makes a store of version 1 one of version 2, in one transaction: the event
 * table gets two columns, the views are made anew, no row changes.
 *
 * It stays as it is, and is written as version 1 without sizes, where a session runs in it
 * (one of an earlier wary could not go on writing), and where anything in it is not as wary
 * made it: that is evidence, and for verify to find.
 *
 * Returns 0, also where it stays as it is, or a store_ error.  Waits for the turn. */
must_check int upgrade_first(struct store *s);

#endif
