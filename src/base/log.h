/* Diagnostics: one line to stderr that begins with "wary:". */
#ifndef WARY_BASE_LOG_H
#define WARY_BASE_LOG_H

#include <stdbool.h>

/* Set once by main.c from -q and -v before any thread exists. */
void log_set_level(bool quiet, bool verbose);

/** log_error: something failed and the user must know; never silenced.
 * The format's arguments must be printable already (text_printable). */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** log_notice: refusals, the summary, degraded machines; silenced by -q. */
void log_notice(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** log_detail: shown only with -v. */
void log_detail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

bool log_is_quiet(void);

/** log_colour: whether stderr is a terminal and NO_COLOR is not set. */
bool log_colour(void);

#endif
