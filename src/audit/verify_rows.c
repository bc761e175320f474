/* The rows of the five tables that batches are made of. */
#include "audit/verify_rows.h"

#include "base/own.h"
#include "base/text.h"

#include <string.h>

static void advance(struct verify *v, enum rows_table t)
{
	struct verify_cursor *c = &v->cursors[t];
	int64_t id;

	c->there = c->stmt && verify_step(v, c->stmt, verify_tables[t].name);
	if (!c->there)
		return;
	id = sqlite3_column_int64(c->stmt, 0);
	/* Negative ids come first; no batch has them. */
	c->id = id < 0 ? 0 : (uint64_t)id;
}

static void start_at(struct verify *v, enum rows_table t, int64_t id)
{
	sqlite3_stmt *stmt = v->cursors[t].stmt;

	if (stmt)
		sqlite3_reset(stmt);
	if (stmt && sqlite3_bind_int64(stmt, 1, id) != SQLITE_OK)
		v->err = -ERR_NOMEM;
	advance(v, t);
}

static sqlite3_stmt *prepare(struct verify *v, enum rows_table t)
{
	const struct verify_table *table = &verify_tables[t];
	auto_buf sql = BUF_INIT;

	buf_fmt(&sql, "SELECT id, %s, mark FROM %s WHERE id >= ? ORDER BY id", table->columns,
	        table->table);
	if (buf_text(&sql))
		return verify_prepare(v, sql.data);
	v->err = -ERR_NOMEM;
	return NULL;
}

void verify_rows_begin(struct verify *v)
{
	for (unsigned t = 0; t < ROWS_TABLES; t++) {
		v->next_id[t] = 1;
		v->cursors[t].stmt = prepare(v, t);
		start_at(v, t, INT64_MIN);
	}
}

void verify_rows_seek(struct verify *v, const struct rows_checkpoint *c)
{
	for (unsigned t = 0; t < ROWS_TABLES; t++) {
		uint64_t first = c->range[t].first;

		if (c->range[t].count && (!v->cursors[t].there || v->cursors[t].id != first))
			start_at(v, t, (int64_t)first);
	}
}

void verify_rows_skip(struct verify *v, const struct rows_checkpoint *c)
{
	verify_rows_seek(v, c);
	for (unsigned t = 0; t < ROWS_TABLES; t++)
		v->next_id[t] = c->range[t].first;
}

static void number(struct buf *b, uint64_t n)
{
	text_thousands(b, n);
}

/* Rows that no checkpoint speaks of, up to @end. */
static void uncovered(struct verify *v, enum rows_table t, uint64_t end)
{
	uint64_t first = v->cursors[t].id;
	uint64_t count = 0;
	auto_buf at = BUF_INIT;

	while (v->cursors[t].there && v->cursors[t].id < end) {
		count++;
		advance(v, t);
	}
	if (!count || v->doubt)
		return;
	number(&at, first);
	if (count == 1)
		verify_wrong(v, "%s %s was inserted: no checkpoint speaks of it",
		             verify_tables[t].name, buf_text(&at));
	else
		verify_wrong(v, "%llu %ss from %s on were inserted: no checkpoint speaks of them",
		             (unsigned long long)count, verify_tables[t].name, buf_text(&at));
}

/* One batch's rows of one table, while they are read. */
struct run {
	enum rows_table table;
	const struct rows_checkpoint *point;
	const char *session;
	uint64_t first_actor; /* of those that its events can have */
	uint64_t removed, first_removed;
	bool doubt;  /* the last mark did not fit */
	bool broken; /* two in a row: the chain is lost until the next checkpoint */
	bool right;
};

static void say(struct verify *v, const struct run *r, uint64_t id, const char *what)
{
	auto_buf n = BUF_INIT;
	auto_buf seq = BUF_INIT;

	number(&n, id);
	number(&seq, r->point->first_seq + id - r->point->range[ROWS_EVENTS].first);
	if (r->table == ROWS_EVENTS)
		verify_wrong(v, "row %s (session %s, seq %s) %s", buf_text(&n), r->session,
		             buf_text(&seq), what);
	else
		verify_wrong(v, "%s %s (session %s) %s", verify_tables[r->table].name, buf_text(&n),
		             r->session, what);
}

static void say_removed(struct verify *v, struct run *r)
{
	auto_buf what = BUF_INIT;

	if (!r->removed)
		return;
	if (r->removed == 1)
		buf_str(&what, "was removed");
	else
		buf_fmt(&what, "and %llu after it were removed",
		        (unsigned long long)r->removed - 1);
	say(v, r, r->first_removed, buf_text(&what));
	r->removed = 0;
}

static void one_row(struct verify *v, struct run *r, uint64_t id, struct chain_hash *chain)
{
	struct columns c = columns_of(v->cursors[r->table].stmt);
	struct verify_row at = {
		.id = id,
		.seq = r->point->first_seq + id - r->point->range[ROWS_EVENTS].first,
		.first_actor = r->first_actor,
	};
	int64_t mark;

	c.at = 1;
	verify_tables[r->table].leaf(&c, &at, chain, verify_copy(v, r->table, id));
	mark = columns_int(&c);
	if (!c.wrong && mark == chain_mark(chain)) {
		r->doubt = false;
		return;
	}
	r->right = false;
	if (r->doubt)
		r->broken = true;
	r->doubt = true;
	if (r->broken)
		return;
	say(v, r, id,
	    c.wrong ? "was changed: it has a value that wary never writes"
	            : "was changed: its hash is not the one that was recorded with it");
}

static bool rows_of(struct verify *v, struct run *r, struct chain_hash *chain, struct merkle *tree)
{
	const struct rows_range *range = &r->point->range[r->table];
	struct verify_cursor *cursor = &v->cursors[r->table];

	r->right = true;
	if (range->first > v->next_id[r->table])
		uncovered(v, r->table, range->first);
	for (uint64_t i = 0; i < range->count && !v->err; i++) {
		uint64_t id = range->first + i;

		if (cursor->there && cursor->id < id)
			uncovered(v, r->table, id);
		if (!cursor->there || cursor->id != id) {
			r->first_removed = r->removed ? r->first_removed : id;
			r->removed++;
			r->right = false;
			/* What follows cannot be told from here. */
			r->broken = r->doubt = true;
			if (!cursor->there) {
				r->removed += range->count - i - 1;
				break;
			}
			continue;
		}
		say_removed(v, r);
		one_row(v, r, id, chain);
		verify_leaf(v, tree, chain);
		advance(v, r->table);
	}
	say_removed(v, r);
	v->next_id[r->table] = range->first + range->count;
	return r->right;
}

bool verify_rows(struct verify *v, const struct rows_checkpoint *c, const struct verify_session *s,
                 struct chain_hash *chain, struct merkle *tree)
{
	struct run r = {.point = c, .session = s->name, .first_actor = s->first_actor};
	bool right = true;

	for (unsigned t = 0; t < ROWS_TABLES; t++) {
		r.table = t;
		right &= rows_of(v, &r, chain, tree);
	}
	return right;
}

bool verify_rows_pass(struct verify *v, const struct rows_checkpoint *c)
{
	for (unsigned t = 0; t < ROWS_TABLES; t++)
		if (c->range[t].first != v->next_id[t] ||
		    (v->cursors[t].there && v->cursors[t].id < c->range[t].first))
			return false;
	for (unsigned t = 0; t < ROWS_TABLES; t++) {
		v->next_id[t] += c->range[t].count;
		if (c->range[t].count)
			start_at(v, t, (int64_t)v->next_id[t]);
	}
	return true;
}

void verify_rows_end(struct verify *v)
{
	for (unsigned t = 0; t < ROWS_TABLES; t++) {
		if (!v->options->only_n)
			uncovered(v, t, UINT64_MAX);
		sqlite3_finalize(v->cursors[t].stmt);
		v->cursors[t].stmt = NULL;
	}
}
