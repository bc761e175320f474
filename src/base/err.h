/* Errors of wary's own functions: 0, or a negative ERR_ code.
 *
 * A function that returns int returns 0 (or a count, where its contract says
 * so) on success and -ERR_X on failure; outputs are set exactly on success.
 * Failures of the kernel on behalf of a caller are plain negative errnos and
 * are kept apart: they are results, not errors of wary.
 */
#ifndef WARY_BASE_ERR_H
#define WARY_BASE_ERR_H

#define must_check __attribute__((warn_unused_result))

enum err {
	ERR_NONE = 0,
	/* Far above any errno, so that the two cannot be mistaken. */
	ERR_BASE = 10000,
#define ERR(name, no, text) ERR_##name,
#include "base/err.def"
#undef ERR
	ERR_END
};

/** err_text: the text for a code.
 * @err: a negative ERR_ code (its positive value is taken as well).
 * Returns a constant string, never NULL. */
const char *err_text(int err);

/** err_errno: the errno that a supervised caller receives for a code.
 * @err: a negative ERR_ code.
 * Returns a positive errno; never 0, so that no failure reads as success. */
int err_errno(int err);

/** err_broken: an invariant of wary itself does not hold: says where, aborts.
 * The guardian then ends the tree, so that breaking closes. */
_Noreturn void err_broken(const char *file, int line, const char *what);

#define invariant(cond) ((cond) ? (void)0 : err_broken(__FILE__, __LINE__, #cond))

#endif
