/* Binding values to a statement of the store; the first failure stays. */
#ifndef WARY_AUDIT_BIND_H
#define WARY_AUDIT_BIND_H

#include "audit/store_sql.h"

struct binding {
	sqlite3_stmt *stmt;
	int at;
	bool failed;
};

/** bind_start: a statement of the store, to be bound from its first value. */
must_check int bind_start(struct store *s, enum store_sql which, struct binding *b);

/* Bytes are not copied: they stay until bind_finish or the statement's reset. */
void bind_int(struct binding *b, int64_t v);
void bind_id(struct binding *b, uint64_t v);
void bind_null(struct binding *b);
void bind_blob(struct binding *b, const void *bytes, size_t len_bytes);
/** bind_text: as TEXT where it is valid UTF-8, so that every reader of SQLite
 * can take it; else as BLOB. */
void bind_text(struct binding *b, const struct rows_text *t);
void bind_word(struct binding *b, const char *word);

/** bind_finish: runs a statement that gives no rows. */
must_check int bind_finish(struct binding *b);
/** bind_row: runs one that gives at most one row; where there is one, the
 * statement must be reset by the caller. */
must_check int bind_row(struct binding *b, bool *there);

#endif
