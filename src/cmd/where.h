/* Where the record is. */
#ifndef WARY_CMD_WHERE_H
#define WARY_CMD_WHERE_H

#include "base/err.h"
#include "cmd/folders.h"

/** where_store: --db or -o, else WARY_DB, else wary/wary.db in the state folder.
 * @given: NULL where no option was given.
 * @out: absolute, canonical where it exists; memory (free(3)).
 * Returns 0, -ERR_NOMEM, -ERR_NOTFOUND, -ERR_TOOLONG. */
must_check int where_store(const char *given, const struct folders *f, char **out);

/** where_written: the same as it was written, relative and through links.
 * Returns 0 or -ERR_NOMEM. */
must_check int where_written(const char *given, const struct folders *f, char **out);

#endif
