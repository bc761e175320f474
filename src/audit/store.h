/* The SQLite database: opening, creating, appending.  One struct belongs to
 * one thread.  Several sessions write to one store: every batch is one
 * BEGIN IMMEDIATE … COMMIT. */
#ifndef WARY_AUDIT_STORE_H
#define WARY_AUDIT_STORE_H

#include "audit/rows.h"
#include "base/err.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct store;

enum store_mode {
	STORE_READ,   /* must exist; nothing is written */
	STORE_WRITE,  /* must exist */
	STORE_CREATE, /* made where it is missing, with its folder (0700) */
};

/** store_open: opens a store and checks that it is one of this version.
 * One of an earlier version that is read has the columns of this one; created, it is made one
 * of this version where it can be (audit/upgrade.h).
 * @why: set on failure to a sentence for people; free(3).
 * Returns 0 or -ERR_NOMEM, -ERR_PERM, -ERR_VERSION, -ERR_DAMAGED, -ERR_FORMAT
 * (a database of something else), -ERR_FULL, -ERR_NOTFOUND, -ERR_BUSY,
 * -ERR_SYS. Blocks while another creates it. */
must_check int store_open(const char *path, enum store_mode mode, struct store **out, char **why);
void store_close(struct store *s);

/** store_sync_always: commits wait for the disk from now on. */
must_check int store_sync_always(struct store *s);

/** store_calm: whether a commit copies the log into the database once it is long,
 * which waits for the disk. */
enum store_calm { STORE_NEVER, STORE_RUNNING };
must_check int store_calm(struct store *s, enum store_calm how);

/** store_settle: at the end of a session: copies a log that is more than short
 * into the database and empties it, since the next start reads all of it.  Not
 * where others are at work in it, and never a failure: the log is as good. */
void store_settle(struct store *s);

/** store_db: the connection, for readers. */
sqlite3 *store_db(struct store *s);
/** store_version: of its schema, when it was opened. */
int64_t store_version(const struct store *s);
/** store_has_sizes: whether it has a place for what an effect took away. */
bool store_has_sizes(const struct store *s);
/** store_own_views: from here on this connection's views are wary's own, whatever the store
 * has under their names: for whoever reads through views.  Twice is once.
 * Returns 0 or a store_ error. */
must_check int store_own_views(struct store *s);
/** store_path: as given to store_open. */
const char *store_path(const struct store *s);

/** store_code: what a result of SQLite is to wary: 0 or a negative ERR_. */
int store_code(int rc);

/** store_explain: a sentence for people on why it cannot be used; free(3);
 * NULL without memory. */
char *store_explain(const struct store *s, int err);

/** store_why: what SQLite said last, for people; valid until the next call. */
const char *store_why(const struct store *s);

/** store_begin: begins a batch; waits up to STORE_BUSY_MS for other writers.
 * @last: set to the store's last checkpoint; id 0 where there is none.
 * Its range[].first + count are the next ids.
 * Returns 0 or an error of store_open. */
must_check int store_begin(struct store *s, struct rows_checkpoint *last);
#define STORE_BUSY_MS 20000
must_check int store_commit(struct store *s);
void store_rollback(struct store *s);

/* Each appends one row within a batch. Returns 0 or an error of store_open. */
must_check int store_put_string(struct store *s, const struct rows_string *row, int64_t mark);
must_check int store_put_actor(struct store *s, const struct rows_actor *row, int64_t mark);
must_check int store_put_act(struct store *s, const struct rows_act *row, int64_t mark);
must_check int store_put_detail(struct store *s, const struct rows_detail *row, int64_t mark);
must_check int store_put_event(struct store *s, const struct rows_event *row, int64_t mark);
must_check int store_put_closing(struct store *s, const struct rows_closing *row, int64_t mark);
must_check int store_put_checkpoint(struct store *s, const struct rows_checkpoint *row);
must_check int store_put_tombstone(struct store *s, const struct rows_tombstone *row);
/** store_put_signer: sets row->id. */
must_check int store_put_signer(struct store *s, struct rows_signer *row);
/** store_put_session: the row and its sources.
 * @signer: the id of its key. @texts: the sources' texts, in their order. */
must_check int store_put_session(struct store *s, const struct rows_opening *row, uint64_t signer,
                                 const struct rows_text *texts);

/** store_signer_find: the first id of a public key, 0 where it is not there. */
must_check int store_signer_find(struct store *s, const uint8_t *public_key, uint64_t *id);
/** store_session_next: an id that no session has had. */
must_check int store_session_next(struct store *s, uint64_t *id);
/** store_session_name: the name for a new session: the shortest beginning of
 * its uuid, of 4 digits at least, that no other has. */
must_check int store_session_name(struct store *s, const uint8_t *uuid,
                                  char name[2 * ROWS_UUID_BYTES + 1]);

/* What a store knows of a session that is to be continued. */
struct store_session {
	uint64_t id, opened_us, mono_us;
	bool closed;
	uint8_t chain[ROWS_HASH_BYTES];
	uint64_t journal, next_seq;
};
/** store_session_find: by uuid. */
must_check int store_session_find(struct store *s, const uint8_t *uuid, struct store_session *out,
                                  bool *there);
/** store_closing: the closing record of a session. */
must_check int store_closing(struct store *s, uint64_t session, bool *there);
/** store_session_counts: sets decisions, refused, asked, grants from the rows;
 * reads all rows of the session. */
must_check int store_session_counts(struct store *s, uint64_t session, struct rows_closing *out);

#endif
