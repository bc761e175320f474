/* Lasting answers: rules in answers/POLICY.wary of the user, dated, in the
 * policy language (law 5 of it). */
#ifndef WARY_ASK_ANSWERS_H
#define WARY_ASK_ANSWERS_H

#include "base/err.h"

/** answers_add: appends rules, one a line, behind a dated comment; makes the
 * file and its folder (0700) where they are missing. Blocks on the disk.
 * @path: of the file.  @rules: lines without the last newline.
 * @session: id, for the comment.
 * Returns 0, -ERR_SYS (errno kept), -ERR_NOMEM, -ERR_PERM where something that
 * is not the user's own file is in the way. */
must_check int answers_add(const char *path, const char *rules, const char *session);

#endif
