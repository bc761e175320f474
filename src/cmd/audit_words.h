/* Words and times of the reading commands, in and out. */
#ifndef WARY_CMD_AUDIT_WORDS_H
#define WARY_CMD_AUDIT_WORDS_H

#include "audit/read.h"
#include "base/buf.h"

/** audit_open: opens the store that is meant for reading, or says why not.
 * Returns NULL then. */
struct store *audit_open(const char *db);
/** audit_open_views: likewise, for what reads through views: they are wary's own
 * (store_own_views). */
struct store *audit_open_views(const char *db);

/** audit_session_word: the session of a word, or says why not.
 * Returns 0 or AUDIT_USAGE. */
must_check int audit_session_word(struct store *s, const char *word, uint64_t *id);

/** audit_verdict_word: "allow", "ask", "deny", "kill", several with commas, or
 * "refused". Returns 0 or AUDIT_USAGE, having said why. */
must_check int audit_verdict_word(const char *words, struct read_filter *f);
must_check int audit_class_word(const char *words, struct read_filter *f);

/** audit_amount_word: a number with a unit, as "10m".
 * @max: of the number: no more than what @factors leave room for.
 * @units, @factors: its letters, and what one of each is.
 * Returns 0 or -ERR_FORMAT. */
must_check int audit_amount_word(const char *word, uint64_t max, const char *units,
                                 const uint64_t *factors, uint64_t *out);
/** audit_ago_word: the wall time that was a span, "30s" to "2w", ago; 1 where that is
 * before 1970. Returns 0 or -ERR_FORMAT. */
must_check int audit_ago_word(const char *word, uint64_t *us);

/** audit_since_word: "2d", "3h", "10m", "30s" ago, or a local time
 * "2026-11-29", "2026-11-29 12:01", "12:01[:07]". Returns likewise. */
must_check int audit_since_word(const char *word, struct read_filter *f);

/** audit_path_word: a pattern as in a policy; `~` is the home folder; one
 * without a slash in front matches at any depth.
 * @out: memory for f->path. Returns likewise. */
must_check int audit_path_word(const char *word, struct buf *out, struct read_filter *f);

/* What is appended is printable. */
enum audit_time {
	AUDIT_TIME_MINUTE, /* 2026-11-29 12:01 */
	AUDIT_TIME_FULL,   /* 2026-11-29 12:01:07.112 */
	AUDIT_TIME_CLOCK,  /* 12:01:07.112 */
};
/** audit_put_time: local time. */
void audit_put_time(struct buf *out, uint64_t us, enum audit_time form);
/** audit_put_span: "3.2 s", "41 m". */
void audit_put_span(struct buf *out, uint64_t us);
/** audit_put_path: with the home folder as ~. */
void audit_put_path(struct buf *out, const struct rows_text *t);
void audit_put_text(struct buf *out, const struct rows_text *t);
/** audit_put_rule: "default.wary:12", "floor: metadata", "human". */
void audit_put_rule(struct buf *out, const struct read_event *e);
/** audit_put_status: of a session: "0", "killed by SIGTERM", "running". */
void audit_put_status(struct buf *out, const struct read_session *s);

/** audit_put_key: a public key's name, and whether it is the machine's or was.
 * @own, @own_n: of keys_trusted. */
void audit_put_key(struct buf *out, const uint8_t public_key[ROWS_KEY_BYTES],
                   const uint8_t (*own)[ROWS_KEY_BYTES], size_t own_n);

/** audit_is_word: whether a text of a row is that word. */
bool audit_is_word(const struct rows_text *t, const char *word);

/** audit_json_text: a JSON string; bytes that are not UTF-8 become U+DC80 +
 * byte, as Python's surrogateescape has it; "null" for no text. */
void audit_json_text(struct buf *out, const struct rows_text *t);

#endif
