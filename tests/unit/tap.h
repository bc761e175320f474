/* TAP lines (Test Anything Protocol) for unit tests: one program a module. */
#ifndef WARY_TESTS_UNIT_TAP_H
#define WARY_TESTS_UNIT_TAP_H

#include <stdbool.h>

/** tap_ok: one check. Prints "ok N - TEXT" or "not ok N - TEXT". */
void tap_ok(bool ok, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** tap_is_str: that two strings are equal; either may be NULL. Shows both when
 * they are not. */
void tap_is_str(const char *got, const char *want, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** tap_is_int: that two numbers are equal. Shows both when they are not. */
void tap_is_int(long long got, long long want, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** tap_note: a line that no checker reads. */
void tap_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** tap_skip: a check that cannot be made here, and why. */
void tap_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** tap_done: prints the plan. Returns main's status: 0, or 1 where a check
 * failed or none was made. */
int tap_done(void);

#endif
