#include "audit/columns.h"

#include "base/text.h"

#include <string.h>

/* The value itself is asked, since each sqlite3_column_ function locks, finds it and
 * checks for failures anew. That is for one thread at a time, as these connections
 * are (SQLITE_OPEN_NOMUTEX). */
static sqlite3_value *next(struct columns *c)
{
	return c->values ? c->values[c->at++] : sqlite3_column_value(c->stmt, c->at++);
}

static int64_t int_of(struct columns *c, sqlite3_value *v)
{
	if (sqlite3_value_type(v) != SQLITE_INTEGER)
		c->wrong = true;
	return sqlite3_value_int64(v);
}

int64_t columns_int(struct columns *c)
{
	return int_of(c, next(c));
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
	sqlite3_value *v = next(c);

	*known = sqlite3_value_type(v) != SQLITE_NULL;
	return *known ? int_of(c, v) : 0;
}

static void blob_of(struct columns *c, sqlite3_value *v, void *out, size_t len_bytes)
{
	bool right =
		sqlite3_value_type(v) == SQLITE_BLOB && (size_t)sqlite3_value_bytes(v) == len_bytes;
	const void *bytes = right ? sqlite3_value_blob(v) : NULL;

	if (bytes)
		memcpy(out, bytes, len_bytes);
	else
		memset(out, 0, len_bytes);
	if (!bytes)
		c->wrong = true;
}

void columns_blob(struct columns *c, void *out, size_t len_bytes)
{
	blob_of(c, next(c), out, len_bytes);
}

bool columns_blob_or_null(struct columns *c, void *out, size_t len_bytes)
{
	sqlite3_value *v = next(c);

	if (sqlite3_value_type(v) == SQLITE_NULL) {
		memset(out, 0, len_bytes);
		return false;
	}
	blob_of(c, v, out, len_bytes);
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
	sqlite3_value *v = next(c);
	int type = sqlite3_value_type(v);
	struct rows_text t = {NULL, 0};

	if (type == SQLITE_TEXT)
		t.bytes = (const char *)sqlite3_value_text(v);
	else if (type == SQLITE_BLOB)
		t.bytes = sqlite3_value_blob(v);
	/* Of a value of another type SQLite would make text to measure it. */
	if (t.bytes)
		t.len_bytes = (size_t)sqlite3_value_bytes(v);
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
