/* Inside the store: its statements.  For the files that are the store, and space.c, only. */
#ifndef WARY_AUDIT_STORE_SQL_H
#define WARY_AUDIT_STORE_SQL_H

#include "audit/store.h"

/* Prepared when first needed: start-up must not wait for them all. */
enum store_sql {
	SQL_STRING,
	SQL_ACTOR,
	SQL_ACT,
	SQL_DETAIL,
	SQL_EVENT,
	SQL_EVENT_SIZED,
	SQL_CLOSING,
	SQL_CHECKPOINT,
	SQL_SIGNER,
	SQL_TOMBSTONE,
	SQL_SESSION,
	SQL_SESSION_SOURCE,
	SQL_SOURCE,
	SQL_LAST_CHECKPOINT,
	SQL_SIGNER_FIND,
	SQL_SESSION_NEXT,
	SQL_SESSION_FIND,
	SQL_SESSION_COUNTS,
	SQL_CLOSING_FIND,
	SQL_SESSION_NAMED,
	STORE_SQL_COUNT
};

struct store {
	sqlite3 *db;
	char *path;
	int turn_fd;     /* opened by the first batch; -1 before */
	int64_t version; /* of its schema, when it was opened */
	bool reads;      /* only: then its tables have the columns of this version */
	sqlite3_stmt *stmt[STORE_SQL_COUNT];
};

/** store_turn: takes the turn to change it (audit/turn.h); a batch's end gives
 * it back. Returns 0 or an error of turn_open, turn_take. */
must_check int store_turn(struct store *s, unsigned wait_ms);

const char *store_sql_text(enum store_sql which);

/** store_sql: the statement, prepared; not reset. */
must_check int store_sql(struct store *s, enum store_sql which, sqlite3_stmt **out);
/** store_number: what a statement of one row and one column gives; @out stays as it is
 * on failure. */
must_check int store_number(struct store *s, const char *sql, int64_t *out);
/** store_step: one row; resets when there is none. */
must_check int store_step(sqlite3_stmt *stmt, bool *row);
/** store_insert: runs a statement that gives no rows, and resets it. */
must_check int store_insert(sqlite3_stmt *stmt);

#endif
