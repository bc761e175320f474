#include "audit/reach.h"

#include "base/buf.h"
#include "base/own.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct list {
	uint64_t *at;
	size_t n;
};

struct reach {
	struct list batches; /* ascending */
	uint64_t last;       /* the last batch that was looked at */
	/* While they are found. */
	struct list sessions; /* whose batches, for now, can have such rows */
	sqlite3_stmt *actors, *batch;
	uint64_t actor; /* the next that fits; UINT64_MAX: none */
	bool everywhere;
};

struct batch_at {
	uint64_t id, session, kind, first_actor, actors;
};

static int list_add(struct list *l, uint64_t value)
{
	/* Doubled where their number is a power of two. */
	if (!(l->n & (l->n - 1))) {
		uint64_t *more = reallocarray(l->at, l->n ? 2 * l->n : 1, sizeof *more);

		if (!more)
			return -ERR_NOMEM;
		l->at = more;
	}
	l->at[l->n++] = value;
	return 0;
}

static bool list_has(const struct list *l, uint64_t value)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->at[i] == value)
			return true;
	return false;
}

static void list_drop(struct list *l, uint64_t value)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n; i++)
		if (l->at[i] != value)
			l->at[kept++] = l->at[i];
	l->n = kept;
}

static int next_actor(struct reach *r)
{
	int rc = sqlite3_step(r->actors);

	r->actor = rc == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(r->actors, 0) : UINT64_MAX;
	return store_code(rc);
}

static int next_batch(struct reach *r, struct batch_at *out, bool *there)
{
	int rc = sqlite3_step(r->batch);
	uint64_t *const fields[] = {&out->id, &out->session, &out->kind, &out->first_actor,
	                            &out->actors};

	*there = rc == SQLITE_ROW;
	for (int i = 0; *there && i < (int)(sizeof fields / sizeof fields[0]); i++)
		*fields[i] = (uint64_t)sqlite3_column_int64(r->batch, i);
	return store_code(rc);
}

/* Whether one of the actors that fit is of this batch; they ascend as batches do. */
static int brings_one(struct reach *r, const struct batch_at *b, bool *yes)
{
	uint64_t end = b->first_actor + b->actors;
	int err = 0;

	*yes = false;
	for (; !err && r->actor < end; err = next_actor(r)) {
		*yes |= r->actor >= b->first_actor;
		/* Of no batch: wary writes none such, and whose it is cannot be told. */
		r->everywhere |= r->actor < b->first_actor;
	}
	return err;
}

static int take_batch(struct reach *r, const struct batch_at *b)
{
	bool yes;
	int err = brings_one(r, b, &yes);

	if (b->kind & ROWS_ANEW)
		list_drop(&r->sessions, b->session);
	if (!err && yes && !list_has(&r->sessions, b->session))
		err = list_add(&r->sessions, b->session);
	if (!err && list_has(&r->sessions, b->session))
		err = list_add(&r->batches, b->id);
	if (b->kind & ROWS_CLOSING)
		list_drop(&r->sessions, b->session);
	r->last = b->id;
	return err;
}

static int prepare(struct reach *r, struct store *s, const char *condition)
{
	auto_buf sql = BUF_INIT;
	int rc;

	buf_fmt(&sql, "SELECT w.id FROM actor w WHERE %s ORDER BY w.id", condition);
	if (!buf_text(&sql))
		return -ERR_NOMEM;
	rc = sqlite3_prepare_v2(store_db(s), sql.data, -1, &r->actors, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(store_db(s),
		                        "SELECT id, session, kind, first_actor, actors"
		                        " FROM checkpoint ORDER BY id",
		                        -1, &r->batch, NULL);
	return store_code(rc);
}

static int find(struct reach *r, struct store *s, const char *condition)
{
	struct batch_at b;
	bool there = true;
	int err = prepare(r, s, condition);

	if (!err)
		err = next_actor(r);
	while (!err && there) {
		err = next_batch(r, &b, &there);
		if (!err && there)
			err = take_batch(r, &b);
	}
	sqlite3_finalize(r->actors);
	sqlite3_finalize(r->batch);
	free(r->sessions.at);
	r->everywhere |= r->actor != UINT64_MAX;
	return err;
}

int reach_find(struct store *s, const char *condition, struct reach **out)
{
	struct reach *r = calloc(1, sizeof *r);
	int err;

	if (!r)
		return -ERR_NOMEM;
	err = find(r, s, condition);
	if (err)
		reach_free(r);
	else
		*out = r;
	return err;
}

void reach_free(struct reach *r)
{
	if (r)
		free(r->batches.at);
	free(r);
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

bool reach_has(const struct reach *r, uint64_t checkpoint)
{
	return r->everywhere || checkpoint > r->last ||
	       (r->batches.n && bsearch(&checkpoint, r->batches.at, r->batches.n,
	                                sizeof *r->batches.at, by_id) != NULL);
}
