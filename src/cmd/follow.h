/* wary audit follow: rows handed on as they come, each at least once and in
 * order.  Rows go in batches; a batch that the receiver took is noted on disk
 * before the next one goes, one that it did not take goes again. */
#ifndef WARY_CMD_FOLLOW_H
#define WARY_CMD_FOLLOW_H

#include "base/buf.h"
#include "cmd/export_row.h"

#define FOLLOW_ROWS_MAX 256
/* A batch gets no further row when it is as long as this. */
#define FOLLOW_BATCH_BYTES ((size_t)1 << 20)
/* So long a text of a row may be before it is cut. */
#define FOLLOW_CUT_BYTES ((size_t)256 << 10)
#define FOLLOW_CUT_MIN_BYTES 64

/* Rows as the receiver gets them. */
struct follow_batch {
	struct buf text;
	size_t ends[FOLLOW_ROWS_MAX]; /* in text, of each row */
	unsigned rows;
	uint64_t last_id;
	char last_uuid[2 * ROWS_UUID_BYTES + 1]; /* of the last row's session */
	char session[2 * ROWS_UUID_BYTES + 1];   /* name of the first row's session */
};

enum follow_result {
	FOLLOW_TAKEN,
	FOLLOW_AWAY,    /* nobody is there, or it left before all was taken: try again */
	FOLLOW_SMALLER, /* a row is too long for it: shorter texts */
	FOLLOW_REFUSED, /* it will never be taken; said already */
};

/* The receiver and the way there. */
struct follow_link {
	const struct follow_kind *kind;
	const char *at;           /* --at, or the kind's default */
	char *const *argv;        /* of the command, NULL-terminated */
	int signal_fd;            /* readable once it shall end; see follow_wait */
	int fd;                   /* a kind's own, -1: none */
	char *host, *port, *path; /* otlp-http */
};

struct follow_kind {
	const char *name;
	const char *at;   /* default place; NULL: it has none */
	bool one_session; /* a batch has rows of one session only */
	size_t cut_bytes; /* of texts */
	/** check: whether link->at and link->argv are what it takes.
	 * Returns 0 or AUDIT_USAGE, said. */
	int (*check)(struct follow_link *l);
	void (*begin)(struct buf *out, const struct export_row *first); /* or NULL */
	/* @cut: texts of the row are cut at link cut_bytes, which is told. */
	void (*row)(struct buf *out, const struct export_row *x, bool again, size_t cut);
	void (*end)(struct buf *out); /* or NULL */
	enum follow_result (*deliver)(struct follow_link *l, const struct follow_batch *b);
};

extern const struct follow_kind follow_command, follow_syslog, follow_journald, follow_http;

/** follow_wait: waits for a descriptor (-1: for none), or until it shall end.
 * @timeout_ms: -1: for ever.
 * Returns what poll(2) says of @fd, 0 after the time; -1: it shall end. */
int follow_wait(const struct follow_link *l, int fd, short events, int timeout_ms);

/** follow_left: how long until @end_ns of clock_mono_ns, for follow_wait.
 * Returns milliseconds, no more than @most_ms; 0: it has passed. */
int follow_left(uint64_t end_ns, int most_ms);

/** follow_json_line: appends a row as `export --format jsonl` has it, on a line.
 * @cut: where not 0, a field of that name says after how many bytes texts are
 *   cut. */
void follow_json_line(struct buf *out, const struct export_row *x, size_t cut);

/** follow_link_free: closes and frees what the kind has. */
void follow_link_free(struct follow_link *l);

#endif
