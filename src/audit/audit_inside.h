/* Inside the audit of a running session: audit.c, session.c, writer.c. */
#ifndef WARY_AUDIT_AUDIT_INSIDE_H
#define WARY_AUDIT_AUDIT_INSIDE_H

#include "audit/audit.h"
#include "audit/batch.h"
#include "audit/journal.h"
#include "audit/keys_chain.h"
#include "audit/store.h"

#include <pthread.h>
#include <stdatomic.h>

struct receipt {
	uint64_t intent; /* index of its entry */
	uint16_t slot;
};

struct audit {
	char *db;
	bool sync;
	/* Opening: made by the opener's thread, taken over by whoever joins it. */
	pthread_t opener;
	bool opener_runs;
	int open_err;
	char *why;
	pthread_mutex_t told_lock; /* of the two below */
	pthread_cond_t told_changed;
	const struct audit_session *told; /* which session to open */
	bool told_all;                    /* or that there is none */
	struct keys_chain *machine;       /* until the session is on record */
	struct rows_signer signer;        /* with its certificate; ids at finish */
	struct keys *key; /* the session's; wiped by the writer after its last use */
	uint8_t uuid[ROWS_UUID_BYTES];
	uint64_t opened_us, mono_us;
	char name[2 * ROWS_UUID_BYTES + 1];
	struct journal *journal;
	bool tried; /* to put the session on record */
	/* Since audit_open_finish these belong to the writer's thread. */
	struct store *store;
	struct batch *batch;
	pthread_t writer;
	bool writer_runs;
	int write_err;
	struct rows_closing closing;

	_Atomic bool ending;
	_Atomic bool failed;
	int failed_fd;
	_Atomic uint64_t decisions, refused, asked, grants;
	bool (*redact)(void *ctx, const char *text, size_t len_bytes, struct buf *out);
	void *redact_ctx;
	struct receipt receipts[JOURNAL_SLOTS];
};

/** audit_fail: the record can no longer be kept. Any thread. */
void audit_fail(struct audit *a);

/** audit_redact: what may be on record of a text: *text becomes that of @out
 * where the redactor changed it. Check @out for failure. */
void audit_redact(struct audit *a, const char **text, struct buf *out);

/** audit_quote_argv: appends a list of arguments, redacted and quoted. */
void audit_quote_argv(struct audit *a, const char *const *argv, size_t argc, struct buf *out);

/** writer_start: starts the thread. Returns 0 or -ERR_NOMEM. */
must_check int writer_start(struct audit *a);
/** writer_finish: drains, closes the session in the store by a->closing, ends
 * the thread. Returns 0 or what failed. */
must_check int writer_finish(struct audit *a);

#endif
