#include "audit/columns.h"

#include "base/text.h"

#include <string.h>

int64_t columns_int(struct columns *c)
{
	if (sqlite3_column_type(c->stmt, c->at) != SQLITE_INTEGER)
		c->wrong = true;
	return sqlite3_column_int64(c->stmt, c->at++);
}

uint64_t columns_id(struct columns *c)
{
	int64_t v = columns_int(c);

	if (v < 0)
		c->wrong = true;
	return (uint64_t)v;
}

uint32_t columns_u32(struct columns *c)
{
	uint64_t v = columns_id(c);

	if (v > UINT32_MAX)
		c->wrong = true;
	return (uint32_t)v;
}

int64_t columns_int_or_null(struct columns *c, bool *known)
{
	*known = sqlite3_column_type(c->stmt, c->at) != SQLITE_NULL;
	if (*known)
		return columns_int(c);
	c->at++;
	return 0;
}

void columns_blob(struct columns *c, void *out, size_t len_bytes)
{
	bool right = sqlite3_column_type(c->stmt, c->at) == SQLITE_BLOB &&
	             (size_t)sqlite3_column_bytes(c->stmt, c->at) == len_bytes;
	const void *bytes = right ? sqlite3_column_blob(c->stmt, c->at) : NULL;

	c->at++;
	if (bytes)
		memcpy(out, bytes, len_bytes);
	else
		memset(out, 0, len_bytes);
	if (!bytes)
		c->wrong = true;
}

bool columns_blob_or_null(struct columns *c, void *out, size_t len_bytes)
{
	if (sqlite3_column_type(c->stmt, c->at) == SQLITE_NULL) {
		c->at++;
		memset(out, 0, len_bytes);
		return false;
	}
	columns_blob(c, out, len_bytes);
	return true;
}

bool columns_is_text(const struct rows_text *t)
{
	const unsigned char *s = (const unsigned char *)t->bytes;
	unsigned code = 1;

	for (size_t i = 0; i < t->len_bytes;) {
		size_t n = text_utf8_next(s + i, t->len_bytes - i, &code);

		if (!n || !code)
			return false;
		i += n;
	}
	return true;
}

struct rows_text columns_text(struct columns *c)
{
	int type = sqlite3_column_type(c->stmt, c->at);
	struct rows_text t = {NULL, 0};

	if (type == SQLITE_TEXT)
		t.bytes = (const char *)sqlite3_column_text(c->stmt, c->at);
	else if (type == SQLITE_BLOB)
		t.bytes = sqlite3_column_blob(c->stmt, c->at);
	/* Of a value of another type SQLite would make text to measure it. */
	if (t.bytes)
		t.len_bytes = (size_t)sqlite3_column_bytes(c->stmt, c->at);
	c->at++;
	/* An empty text has no bytes, in memory either. */
	if (type != (columns_is_text(&t) ? SQLITE_TEXT : SQLITE_BLOB))
		c->wrong = true;
	return t;
}

void columns_checkpoint(struct columns *c, struct rows_checkpoint *out)
{
	memset(out, 0, sizeof *out);
	out->id = columns_id(c);
	out->session = columns_id(c);
	columns_blob(c, out->uuid, sizeof out->uuid);
	out->kind = columns_u32(c);
	out->at_us = columns_id(c);
	out->skew_us = columns_int(c);
	for (unsigned t = 0; t < ROWS_TABLES; t++) {
		out->range[t].first = columns_id(c);
		out->range[t].count = columns_id(c);
	}
	out->first_seq = columns_id(c);
	out->journal = columns_id(c);
	out->kinds = columns_u32(c);
	out->classes = columns_u32(c);
	out->answers = columns_u32(c);
	columns_blob(c, out->prev, sizeof out->prev);
	columns_blob(c, out->chain, sizeof out->chain);
	columns_blob(c, out->root, sizeof out->root);
	out->signer = columns_id(c);
	columns_blob(c, out->public_key, sizeof out->public_key);
	columns_blob(c, out->signature, sizeof out->signature);
}
