/* Files and folders of the user's, as wary itself sees them before any tree
 * runs.  Nothing here is for names that a supervised program chose. */
#ifndef WARY_CMD_PATHS_H
#define WARY_CMD_PATHS_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

/** paths_join: "@folder/@name" (free(3)); NULL without memory. */
char *paths_join(const char *folder, const char *name);

/** paths_canonical: the canonical form of a path: of its longest part that
 * exists, with the rest behind it.
 * @path: relative ones are taken from the working folder.
 * @out: memory of the caller (free(3)).
 * Returns 0, -ERR_NOTFOUND (a ".." behind a name that does not exist, or no
 * working folder), -ERR_TOOLONG, -ERR_NOMEM. */
must_check int paths_canonical(const char *path, char **out);

/** paths_links: the links that the kernel passes on the way to a path, and where
 * it leads: whoever replaces one of them has the path lead elsewhere.
 * @path: as written; relative ones are taken from the working folder.
 * @each: gets each link's canonical name; another value than 0 ends the walk.
 * Links of /proc are not followed.  Returns 0 (also where the way ends before the
 * path does), -ERR_NOTFOUND (no working folder), -ERR_TOOLONG (names, or a circle
 * of links), -ERR_NOMEM, or what @each returned. */
must_check int paths_links(const char *path, int (*each)(void *ctx, const char *link), void *ctx);

/** paths_of_fd: the canonical path of an open descriptor, from /proc.
 * Returns 0, -ERR_SYS, -ERR_TOOLONG, -ERR_NOMEM. */
must_check int paths_of_fd(int fd, char **out);

/** paths_below: whether @path is @folder or lies below it, by text: both are
 * canonical. */
bool paths_below(const char *path, const char *folder);

/** paths_read: the whole of a regular file or a pipe.
 * @max_bytes: a longer one is -ERR_BOUND.
 * @owner_only: the file must belong to this user or root and be writable by
 *   no one else, its folder likewise: else -ERR_PERM.
 * @path: set to the canonical path (free(3)); may be NULL.
 * Blocks on a pipe only.
 * Returns 0 or -ERR_NOTFOUND, -ERR_PERM, -ERR_BOUND, -ERR_SYS, -ERR_NOMEM. */
must_check int paths_read(const char *file, size_t max_bytes, bool owner_only, struct buf *out,
                          char **path);

/** paths_write: puts a file in place whole or not at all: written beside it,
 * synced, renamed onto it.  Folders on the way are made with mode 0700.
 * @mode: of a new file; an existing one keeps its own.
 * Returns 0 or -ERR_PERM, -ERR_FULL, -ERR_SYS, -ERR_NOMEM. */
must_check int paths_write(const char *file, const void *bytes, size_t len_bytes, mode_t mode);

#endif
