/* Folders that only their owner can use. */
#ifndef WARY_AUDIT_FOLDER_H
#define WARY_AUDIT_FOLDER_H

#include "base/err.h"

/** folder_make: makes a folder and those above it that are missing, with mode
 * 0700. Returns 0 or -ERR_NOMEM, -ERR_FULL, -ERR_PERM; errno says more. */
must_check int folder_make(const char *path);

/** folder_make_above: the same for the folder that @path lies in. */
must_check int folder_make_above(const char *path);

#endif
