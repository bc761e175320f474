/* Who may change a store now: one process at a time.
 *
 * SQLite has locks of its own, which keep its file whole.  Until 3.51.3 they do
 * not keep a commit, though: where one process copies the log into the database
 * while another has just done so and a third begins the log anew, committed rows
 * may be taken for copied and vanish (https://sqlite.org/wal.html#walresetbug).
 * So wary's processes neither commit nor copy at the same time. */
#ifndef WARY_AUDIT_TURN_H
#define WARY_AUDIT_TURN_H

#include "base/err.h"

/** turn_open: what the turns of a store are taken by: its folder of journals,
 * which is made where it is missing.
 * @db: path of the store. @fd: set to a descriptor that turn_take needs; the
 * caller closes it.
 * Returns 0 or -ERR_NOMEM, -ERR_FULL, -ERR_PERM, -ERR_SYS (no descriptor is left). */
must_check int turn_open(const char *db, int *fd);

/** turn_take: waits for the turn, at most @wait_ms milliseconds.  Nested calls
 * are one; another descriptor of the same process is another taker.
 * Returns 0, -ERR_BUSY or -ERR_SYS (flock(2)). */
must_check int turn_take(int fd, unsigned wait_ms);

/** turn_give: ends it; of no effect where it was not taken. */
void turn_give(int fd);

#endif
