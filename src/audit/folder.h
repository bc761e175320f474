/* Folders that only their owner can use. */
#ifndef WARY_AUDIT_FOLDER_H
#define WARY_AUDIT_FOLDER_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

/** folder_make: makes a folder and those above it that are missing, with mode
 * 0700. Returns 0 or -ERR_NOMEM, -ERR_FULL, -ERR_PERM; errno says more. */
must_check int folder_make(const char *path);

/** folder_journals: appends the folder of a store's journals: beside it, and
 * hidden, so that what is named after the store are its files alone. */
void folder_journals(struct buf *out, const char *db);

/** folder_is_journal: whether a name in that folder is a journal's: its session's uuid. */
bool folder_is_journal(const char *name);

/** folder_any_journal: whether @fits is true of a journal of the store; without it,
 * whether there is one. True also where that cannot be told (no descriptor is left, the
 * folder cannot be read). */
bool folder_any_journal(const char *db, bool (*fits)(int folder_fd, const char *name));

/** folder_files: appends the path of file @i that belongs to a store: the
 * database, SQLite's own files beside it, the last checkpoint seen, the journals.
 * Returns false past the last. */
bool folder_files(struct buf *out, const char *db, size_t i);

/** folder_make_above: the same for the folder that @path lies in. */
must_check int folder_make_above(const char *path);

#endif
