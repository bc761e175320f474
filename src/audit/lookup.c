/* What a writer must know of the store before it appends. */
#include "audit/bind.h"
#include "audit/columns.h"
#include "base/text.h"

#include <string.h>

static int last_checkpoint(struct store *s, struct rows_checkpoint *last)
{
	struct binding b;
	bool there = false;
	int err = bind_start(s, SQL_LAST_CHECKPOINT, &b);

	if (!err)
		err = bind_row(&b, &there);
	if (err)
		return err;
	if (there) {
		struct columns c = columns_of(b.stmt);

		columns_checkpoint(&c, last);
		if (c.wrong)
			err = -ERR_DAMAGED;
		sqlite3_reset(b.stmt);
	} else {
		*last = (struct rows_checkpoint){0};
		for (unsigned t = 0; t < ROWS_TABLES; t++)
			last->range[t].first = 1;
	}
	return err;
}

int store_begin(struct store *s, struct rows_checkpoint *last)
{
	int err = store_turn(s, STORE_BUSY_MS);

	if (err)
		return err;
	err = store_code(sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL));
	if (!err)
		err = last_checkpoint(s, last);
	if (err)
		store_rollback(s);
	return err;
}

static int one_id(struct binding *b, uint64_t *out)
{
	bool there = false;
	int err = bind_row(b, &there);

	if (err)
		return err;
	*out = there ? (uint64_t)sqlite3_column_int64(b->stmt, 0) : 0;
	sqlite3_reset(b->stmt);
	return 0;
}

int store_signer_find(struct store *s, const uint8_t *public_key, uint64_t *id)
{
	struct binding b;
	int err = bind_start(s, SQL_SIGNER_FIND, &b);

	if (err)
		return err;
	bind_blob(&b, public_key, ROWS_KEY_BYTES);
	return one_id(&b, id);
}

int store_session_next(struct store *s, uint64_t *id)
{
	struct binding b;
	int err = bind_start(s, SQL_SESSION_NEXT, &b);

	return err ? err : one_id(&b, id);
}

static int is_named(struct store *s, const char *name, bool *yes)
{
	struct binding b;
	uint64_t found = 0;
	int err = bind_start(s, SQL_SESSION_NAMED, &b);

	if (err)
		return err;
	bind_word(&b, name);
	err = one_id(&b, &found);
	if (!err)
		*yes = found != 0;
	return err;
}

#define NAME_MIN_DIGITS 4

int store_session_name(struct store *s, const uint8_t *uuid, char name[2 * ROWS_UUID_BYTES + 1])
{
	auto_buf hex = BUF_INIT;
	bool taken = true;
	int err = 0;

	text_hex(&hex, uuid, ROWS_UUID_BYTES);
	if (!buf_text(&hex))
		return -ERR_NOMEM;
	for (size_t n = NAME_MIN_DIGITS; !err && taken && n <= 2 * ROWS_UUID_BYTES; n++) {
		memcpy(name, hex.data, n);
		name[n] = '\0';
		err = is_named(s, name, &taken);
	}
	return err;
}

int store_session_find(struct store *s, const uint8_t *uuid, struct store_session *out, bool *there)
{
	struct binding b;
	int err = bind_start(s, SQL_SESSION_FIND, &b);

	if (err)
		return err;
	bind_blob(&b, uuid, ROWS_UUID_BYTES);
	err = bind_row(&b, there);
	if (!err && *there) {
		struct columns c = columns_of(b.stmt);

		out->id = columns_id(&c);
		out->opened_us = columns_id(&c);
		out->mono_us = columns_id(&c);
		out->closed = columns_id(&c) != 0;
		columns_blob(&c, out->chain, sizeof out->chain);
		out->journal = columns_id(&c);
		out->next_seq = columns_id(&c);
		err = c.wrong ? -ERR_DAMAGED : 0;
	}
	sqlite3_reset(b.stmt);
	return err;
}

int store_session_counts(struct store *s, uint64_t session, struct rows_closing *out)
{
	struct binding b;
	bool there = false;
	int err = bind_start(s, SQL_SESSION_COUNTS, &b);

	if (err)
		return err;
	bind_id(&b, session);
	err = bind_row(&b, &there);
	if (!err && there) {
		struct columns c = columns_of(b.stmt);

		out->decisions = columns_id(&c);
		out->refused = columns_id(&c);
		out->asked = columns_id(&c);
		out->grants = columns_id(&c);
		err = c.wrong ? -ERR_DAMAGED : 0;
	}
	sqlite3_reset(b.stmt);
	return err;
}

int store_closing(struct store *s, uint64_t session, bool *there)
{
	struct binding b;
	uint64_t found = 0;
	int err = bind_start(s, SQL_CLOSING_FIND, &b);

	if (err)
		return err;
	bind_id(&b, session);
	err = one_id(&b, &found);
	if (!err)
		*there = found != 0;
	return err;
}
