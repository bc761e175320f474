/* One session as a self-contained page: no network, no text as markup. */
#ifndef WARY_AUDIT_REPORT_H
#define WARY_AUDIT_REPORT_H

#include "base/err.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

/* A page takes so many rows. Where a session has more decisions, equal ones are
 * counted together, so that the page opens quickly and stays usable; what was
 * refused or asked, and the starts of programs, keep rows of their own longest. */
#define REPORT_ROWS_MAX 120000

/** report_write: writes the page.
 * @db: a store, open for reading.  @session: its id (a rowid).
 * @verified: what verification said; @intact: whether it was content.
 * @progress: called about every 100,000 rows with the share done, 0 to 1; or
 * NULL.
 * Returns 0, -ERR_NOTFOUND, -ERR_DAMAGED, -ERR_NOMEM, -ERR_SYS. */
must_check int report_write(sqlite3 *db, sqlite3_int64 session, const char *verified, bool intact,
                            void (*progress)(double share), FILE *out);

#endif
