/* What changes the record is on record too: a session of wary's own. */
#ifndef WARY_CMD_AUDIT_OWN_H
#define WARY_CMD_AUDIT_OWN_H

#include "audit/audit.h"

/** audit_own_open: begins a session for a command of wary audit, in a store that is
 * there; sessions that died are recovered first.
 * @argv: from the command's name on.
 * Returns NULL, having said why, where it cannot be recorded. */
struct audit *audit_own_open(const char *db, int argc, char **argv);

/** audit_own_event: an event of such a session.
 * @what: a word; @whom: what it is about. */
struct audit_event audit_own_event(const char *what, const char *whom);

/** audit_own_close: ends it with an exit status. Returns 0 or what failed, said. */
must_check int audit_own_close(struct audit *a, int status);

#endif
