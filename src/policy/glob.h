/* Patterns over cooked text: `*` is any run of bytes, a backslash makes the
 * next byte itself.  Path patterns are runs of parts between slashes; a part
 * `**` is any number of parts, none included.
 *
 * Everything is bounded by (length of pattern) × (length of name): a `*` that
 * fails goes back only to the last one met. */
#ifndef WARY_POLICY_GLOB_H
#define WARY_POLICY_GLOB_H

#include "policy/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* A slice of text; not NUL-terminated. */
struct slice {
	const char *s;
	size_t n;
};

/** glob_match: whether a whole name matches. */
bool glob_match(struct slice glob, struct slice name);

/** glob_match_ignoring_case: for folders that ignore case; where either has
 * bytes beyond ASCII it says yes in doubt (case folding and normalisation of
 * file systems are not repeated here): only for deny and ask. */
bool glob_match_ignoring_case(struct slice glob, struct slice name);

/** glob_is_literal: whether nothing in it is a wildcard. */
bool glob_is_literal(struct slice glob);

/** glob_covers: whether every name that @b matches is matched by @a; false in
 * doubt.  glob_overlaps: whether some name is matched by both. */
bool glob_covers(struct slice a, struct slice b);
bool glob_overlaps(struct slice a, struct slice b);

/** glob_plain: the text without its backslashes. */
char *glob_plain(struct arena *a, struct slice glob);

/** glob_plain_in: the same in a buffer; false where it has no room (a NUL is
 * not added). */
bool glob_plain_in(struct slice glob, char *out, size_t size, size_t *n);

/** glob_quote: cooked text that means these bytes themselves. */
char *glob_quote(struct arena *a, const char *bytes);

/** glob_find: the first unescaped byte @c, or NULL. */
const char *glob_find(const char *glob, char c);

struct slice slice_of(const char *s);

/* Path patterns: canonical cooked text that begins with a slash, without
 * empty, `.` and `..` parts and without a slash at its end (but "/"). */

/** path_part_next: cuts the next part off a pattern or name.
 * *rest begins with a slash or is empty. Returns false at the end. */
bool path_part_next(const char **rest, struct slice *part);

/** path_match: whether a canonical name matches. */
bool path_match(const char *pattern, const char *name, bool ignore_case);

/** path_differs: whether the literal beginnings of two patterns alone show that
 * no name is matched by both; a quick look before the two below. */
bool path_differs(const char *a, const char *b);

/** path_covers, path_overlaps: as for globs. */
bool path_covers(const char *a, const char *b);
bool path_overlaps(const char *a, const char *b);

/** path_is_literal: whether no part has a wildcard. */
bool path_is_literal(const char *pattern);

/** path_literal_len: length of the beginning that is literal parts only. */
size_t path_literal_len(const char *pattern);

#endif
