/* Making messages; and the places in a text that they point to. */
#ifndef WARY_POLICY_MESSAGE_H
#define WARY_POLICY_MESSAGE_H

#include "base/err.h"
#include "policy/arena.h"
#include "policy/report.h"

#include <stdbool.h>

/* Where a text comes from decides what it may say (laws 6 and 7). */
enum source_kind {
	SOURCE_MACHINE,
	SOURCE_TENANT,
	SOURCE_USER, /* the user's own, default, or -p */
	SOURCE_PROJECT,
	SOURCE_RULES, /* the command line's */
	SOURCE_ANSWERS,
	SOURCE_QUESTION, /* a question to explain: no policy at all */
};

struct source {
	enum source_kind kind;
	unsigned depth;   /* of includes; 0: named by the caller */
	const char *name; /* "default.wary" */
	const char *path; /* canonical; a shipped policy's name; NULL: no file */
	const char *text; /* NUL-terminated */
	size_t len_bytes;
};

/* A place in a source; source NULL: none. */
struct spot {
	const struct source *source;
	unsigned line, column, len; /* from 1, in characters */
};

/* A word of a text.  `text` is cooked: quotes gone, \xHH a byte, and a
 * backslash before each byte that has no special meaning here. */
struct word {
	struct spot at;
	const char *text;
	const char *raw; /* within the source, with quotes and escapes */
	size_t raw_len;
	bool quoted; /* no keyword, whatever it spells */
};

struct words {
	struct word *v;
	size_t n, cap;
};

struct policy_report {
	struct arena arena; /* without a guard: a lost message is still counted */
	VEC(struct policy_message) messages;
	size_t errors, warnings;
};

/* After so many messages further ones are only counted. */
#define REPORT_MAX 200

/** report_new: NULL without memory. */
struct policy_report *report_new(void);

/** report_error, report_warning, report_note: one message.
 * @hint: or NULL. */
void report_error(struct policy_report *r, struct spot at, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void report_warning(struct policy_report *r, struct spot at, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

void report_note(struct policy_report *r, struct spot at, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/** report_nearest: `did you mean "x"?` for the nearest word of a list, in the
 * report's memory; NULL where none is near. */
const char *report_nearest(struct policy_report *r, const char *word, const char *const *list);

/** report_sort: by file and place, errors and warnings together. */
void report_sort(struct policy_report *r);

/** spot_through: from the beginning of one to the end of another on the same
 * line; else just the first. */
struct spot spot_through(struct spot from, struct spot to);

#endif
