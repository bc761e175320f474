/* Bodies of journal entries: an event as bytes, and back.  Pure.
 *
 * Little-endian, as the machine wrote them; a journal is read only by the
 * machine that wrote it.  A body is a fixed head and texts, each with a NUL.
 */
#ifndef WARY_AUDIT_RECORD_H
#define WARY_AUDIT_RECORD_H

#include "audit/audit.h"
#include "audit/rows.h"
#include "base/buf.h"

#include <stddef.h>

/* Types of entries in the journal. */
enum record_type {
	RECORD_INTENT = 1, /* body: an event; its outcome comes later */
	RECORD_OUTCOME,    /* body: struct record_outcome, or RECORD_OUTCOME_BYTES of it */
	RECORD_NOTE,       /* body: an event with its result */
	RECORD_CARRY,      /* body: u64 index of the intent, and the intent again:
	                      so that old segments can be given back */
	RECORD_END,        /* nothing more in this segment; empty body */
	RECORD_OPENING,    /* the first entry: what the session's row is made of, for
	                      where a power cut takes the row and leaves the journal */
	RECORD_TYPES
};

struct record_outcome {
	uint64_t intent; /* index of its entry */
	uint64_t mono_ns;
	int64_t result;
	/* Only where something was taken away: */
	uint64_t size_before, links_left;
};
#define RECORD_OUTCOME_BYTES offsetof(struct record_outcome, size_before)
_Static_assert(sizeof(struct record_outcome) == 40, "no padding in the journal");

enum record_text {
	RECORD_PROGRAM,
	RECORD_SYSCALL,
	RECORD_OBJECT,
	RECORD_OBJECT2,
	RECORD_CWD,
	RECORD_ARGV, /* quoted */
	RECORD_RULE_FILE,
	RECORD_RULE_TEXT,
	RECORD_STACK,
	RECORD_TEXTS
};

enum record_bits { RECORD_BY_HUMAN = 1, RECORD_HAS_SHA256 = 2 };

/* The fixed head of an event, exactly as it lies in the journal. */
struct record_head {
	uint64_t mono_ns;
	uint64_t flags;
	int64_t result; /* notes; 0 in intents */
	int32_t pid, tid, ppid;
	uint32_t uid;
	uint32_t rule_line;
	int32_t reason;
	uint8_t kind, class, answer, bits;
	uint32_t len_bytes[RECORD_TEXTS]; /* without the NUL; RECORD_NO_TEXT: none */
	uint8_t sha256[32];
};
#define RECORD_NO_TEXT UINT32_MAX
_Static_assert(sizeof(struct record_head) == 120, "no padding in the journal");

/* An event in pieces; texts are borrowed. */
struct record {
	struct record_head head;
	const char *text[RECORD_TEXTS]; /* NULL: none; ends in a NUL */
};

/** record_from_event: the pieces of an event.
 * @argv: e->argv as one quoted text, or NULL.
 * Returns 0, or -ERR_BOUND where a text is longer than RECORD_TEXT_MAX. */
must_check int record_from_event(struct record *out, const struct audit_event *e, const char *argv);
#define RECORD_TEXT_MAX ((size_t)32 << 20)

/** record_quote: appends one argument quoted (docs/AUDIT.md, "Quoting"); a list
 * of them is parted by blanks. */
void record_quote(struct buf *out, const char *bytes, size_t len_bytes);

/** record_unquote: reads back a list of quoted arguments.
 * @each: called with each argument (bytes, NUL-terminated, not to be kept);
 *   a return other than 0 ends the reading and is returned.
 * Returns 0 or -ERR_FORMAT, -ERR_NOMEM. */
must_check int record_unquote(const char *text, size_t len_bytes,
                              int (*each)(void *ctx, const char *bytes, size_t len_bytes),
                              void *ctx);

/* What a session's row is made of. Texts are borrowed. */
struct record_opening {
	uint64_t opened_us, mono_us;
	uint32_t uid, sources_n;
	struct rows_text argv, cwd, user, host, kernel, version;
	struct {
		struct rows_text name, path, text;
	} source[ROWS_SOURCES_MAX];
};

/** record_opening_encode: appends the body of the entry. */
void record_opening_encode(struct buf *out, const struct record_opening *o);
/** record_opening_decode: texts point into @bytes, which are as little trusted
 * as those of record_decode. Returns 0 or -ERR_FORMAT. */
must_check int record_opening_decode(struct record_opening *out, const void *bytes,
                                     size_t len_bytes);

/** record_size: bytes of the body. */
size_t record_size(const struct record *r);

/** record_encode: writes exactly record_size() bytes. */
void record_encode(const struct record *r, void *out);

/** record_decode: the pieces of a body; texts point into @bytes.
 * @bytes, @len_bytes: from a file that anyone may have changed.
 * Returns 0 or -ERR_FORMAT. */
must_check int record_decode(struct record *out, const void *bytes, size_t len_bytes);

/* Words of the store; the position in each table is the bit of docs/AUDIT.md. */
const char *record_kind_name(unsigned kind);
const char *record_class_name(unsigned class);
const char *record_answer_name(unsigned answer);
/** record_judge_name: "rule", "human", "floor" or "default". */
const char *record_judge_name(const struct record *r);
/* The bit of a word, or -1. */
int record_kind_find(const char *word);
int record_class_find(const char *word);
int record_answer_find(const char *word);

#endif
