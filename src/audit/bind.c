#include "audit/bind.h"

#include "audit/columns.h"

void bind_int(struct binding *b, int64_t v)
{
	b->failed |= sqlite3_bind_int64(b->stmt, b->at++, v) != SQLITE_OK;
}

void bind_id(struct binding *b, uint64_t v)
{
	bind_int(b, (int64_t)v);
}

void bind_null(struct binding *b)
{
	b->failed |= sqlite3_bind_null(b->stmt, b->at++) != SQLITE_OK;
}

void bind_blob(struct binding *b, const void *bytes, size_t len_bytes)
{
	b->failed |=
		sqlite3_bind_blob64(b->stmt, b->at++, bytes, len_bytes, SQLITE_STATIC) != SQLITE_OK;
}

void bind_text(struct binding *b, const struct rows_text *t)
{
	const char *bytes = t->len_bytes ? t->bytes : "";

	if (columns_is_text(t))
		b->failed |= sqlite3_bind_text64(b->stmt, b->at++, bytes, t->len_bytes,
		                                 SQLITE_STATIC, SQLITE_UTF8) != SQLITE_OK;
	else
		bind_blob(b, bytes, t->len_bytes);
}

void bind_word(struct binding *b, const char *word)
{
	b->failed |= sqlite3_bind_text(b->stmt, b->at++, word, -1, SQLITE_STATIC) != SQLITE_OK;
}

int bind_finish(struct binding *b)
{
	if (b->failed) {
		sqlite3_reset(b->stmt);
		return -ERR_NOMEM;
	}
	return store_insert(b->stmt);
}

int bind_start(struct store *s, enum store_sql which, struct binding *b)
{
	*b = (struct binding){.at = 1};
	return store_sql(s, which, &b->stmt);
}

int bind_row(struct binding *b, bool *there)
{
	if (b->failed)
		return -ERR_NOMEM;
	return store_step(b->stmt, there);
}
