/* Reading events and sessions back, filtered. */
#ifndef WARY_AUDIT_READ_H
#define WARY_AUDIT_READ_H

#include "audit/rows.h"
#include "audit/store.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* What a reader wants; zeros want everything. */
struct read_filter {
	uint64_t session; /* id */
	uint32_t kinds;   /* bits of docs/AUDIT.md, "Words" */
	uint32_t classes;
	uint32_t answers;
	bool refused;      /* every answer but allow */
	const char *path;  /* canonical pattern of the object; policy/glob.h */
	uint64_t since_us; /* wall time */
	uint64_t until_us; /* 0: no end */
	const char *where; /* a condition as expr_parse makes it, or NULL */
	uint32_t batch_kinds, batch_classes, batch_answers; /* its masks */
	const char *actors;                                 /* its condition on actors, or NULL */
	uint64_t after_id;
	uint64_t last; /* only so many, the last ones */
};

/* Texts are what the child chose where they are names: print only through
 * text_printable. Valid until the next read_next. */
struct read_event {
	uint64_t id, seq, time_us, took_us;
	uint32_t pid, tid, ppid, uid;
	struct rows_text session, kind, program, syscall, class, object, object2, answer, judge;
	struct rows_text rule_file, rule_text, cwd, argv, stack, sha256;
	uint64_t flags, rule_line;
	bool known;
	int64_t result, reason;
	bool has_size;
	uint64_t size_before, links_left; /* of what was taken away; 0 where it is not known */
};

struct reader;
must_check int read_open(struct store *s, const struct read_filter *f, struct reader **out);
/** read_next: @there: false at the end. Returns 0 or a store_ error. */
must_check int read_next(struct reader *r, struct read_event *out, bool *there);
void read_close(struct reader *r);

struct read_session {
	uint64_t id, opened_us, took_us;
	struct rows_text name, argv, cwd, user, host, reason;
	uint32_t uid;
	bool closed;
	int64_t status; /* of wait(2) */
	uint64_t decisions, refused, asked, grants, dropped, checkpoints;
	uint8_t uuid[ROWS_UUID_BYTES];
};

/** read_sessions: calls @each for every session, the latest first, until it
 * returns other than 0, which is then returned; or a store_ error. Counts of a
 * session that is open are made from its rows. */
must_check int read_sessions(struct store *s,
                             int (*each)(void *ctx, const struct read_session *one), void *ctx);

/** read_session_find: the session whose name or uuid begins with a word; of
 * several the one whose name it is.
 * Returns 0, -ERR_NOTFOUND, -ERR_EXISTS (several), or a store_ error. */
must_check int read_session_find(struct store *s, const char *word, uint64_t *id);

/** read_text: a column of a row at hand, NULL as no text; valid until the next
 * step. */
struct rows_text read_text(struct sqlite3_stmt *stmt, int i);

#endif
