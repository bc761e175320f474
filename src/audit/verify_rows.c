/* The rows of the five tables that batches are made of. */
#include "audit/verify_inside.h"

#include "base/text.h"

#include <string.h>

static void leaf_string(struct columns *c, uint64_t id, uint64_t seq, struct chain_hash *chain,
                        struct buf *copy)
{
	struct rows_string row = {.id = id};

	(void)seq;
	row.prefix = columns_id(c);
	row.text = columns_text(c);
	chain_string(chain, &row, copy);
}

static void leaf_actor(struct columns *c, uint64_t id, uint64_t seq, struct chain_hash *chain,
                       struct buf *copy)
{
	struct rows_actor row = {.id = id};

	(void)seq;
	row.pid = columns_u32(c);
	row.tid = columns_u32(c);
	row.ppid = columns_u32(c);
	row.uid = columns_u32(c);
	row.program = columns_id(c);
	chain_actor(chain, &row, copy);
}

static void leaf_act(struct columns *c, uint64_t id, uint64_t seq, struct chain_hash *chain,
                     struct buf *copy)
{
	struct rows_act row = {.id = id};

	(void)seq;
	row.kind = columns_text(c);
	row.class = columns_text(c);
	row.syscall = columns_text(c);
	row.flags = (uint64_t)columns_int(c);
	row.answer = columns_text(c);
	row.judge = columns_text(c);
	row.rule_file = columns_id(c);
	row.rule_line = columns_id(c);
	row.rule_text = columns_id(c);
	chain_act(chain, &row, copy);
}

static void leaf_detail(struct columns *c, uint64_t id, uint64_t seq, struct chain_hash *chain,
                        struct buf *copy)
{
	struct rows_detail row = {.id = id};

	(void)seq;
	row.object2 = columns_id(c);
	row.cwd = columns_id(c);
	row.argv = columns_id(c);
	row.stack = columns_id(c);
	row.has_sha256 = columns_blob_or_null(c, row.sha256, sizeof row.sha256);
	row.reason = columns_int(c);
	chain_detail(chain, &row, copy);
}

static void leaf_event(struct columns *c, uint64_t id, uint64_t seq, struct chain_hash *chain,
                       struct buf *copy)
{
	struct rows_event row = {.id = id, .seq = seq};
	bool has_links;

	row.at_us = columns_id(c);
	row.took_us = columns_id(c);
	row.actor = columns_id(c);
	row.act = columns_id(c);
	row.object = columns_id(c);
	row.detail = columns_id(c);
	row.result = columns_int_or_null(c, &row.known);
	row.size_before = (uint64_t)columns_int_or_null(c, &row.has_size);
	row.links_left = (uint64_t)columns_int_or_null(c, &has_links);
	if (row.has_size != has_links || (row.has_size && !row.known) ||
	    row.size_before > INT64_MAX || row.links_left > INT64_MAX)
		c->wrong = true;
	chain_event(chain, &row, copy);
}

/* The id is the first column and the mark the last. */
static const struct {
	const char *name; /* as people are told of it */
	const char *sql;
	void (*leaf)(struct columns *c, uint64_t id, uint64_t seq, struct chain_hash *chain,
	             struct buf *copy);
} tables[ROWS_TABLES] = {
	[ROWS_STRINGS] = {"string",
                          "SELECT id, prefix, text, mark FROM string WHERE id >= ? ORDER BY id",
                          leaf_string},
	[ROWS_ACTORS] = {"actor",
                         "SELECT id, pid, tid, ppid, uid, program, mark FROM actor WHERE id >= ? "
                         "ORDER BY id",
                         leaf_actor},
	[ROWS_ACTS] = {"act",
                       "SELECT id, kind, class, syscall, flags, answer, judge, rule_file,"
                       " rule_line, rule_text, mark FROM act WHERE id >= ? ORDER BY id",
                       leaf_act},
	[ROWS_DETAILS] = {"detail",
                          "SELECT id, object2, cwd, argv, stack, sha256, reason, mark"
                          " FROM detail WHERE id >= ? ORDER BY id",
                          leaf_detail},
	[ROWS_EVENTS] = {"row",
                         "SELECT id, at_us, took_us, actor, act, object, detail, result,"
                         " size_before, links_left, mark FROM event WHERE id >= ? ORDER BY id",
                         leaf_event},
};

static void advance(struct verify *v, enum rows_table t)
{
	struct verify_cursor *c = &v->cursors[t];
	int64_t id;

	c->there = c->stmt && verify_step(v, c->stmt, tables[t].name);
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

void verify_rows_begin(struct verify *v)
{
	for (unsigned t = 0; t < ROWS_TABLES; t++) {
		v->next_id[t] = 1;
		v->cursors[t].stmt = verify_prepare(v, tables[t].sql);
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
		verify_wrong(v, "%s %s was inserted: no checkpoint speaks of it", tables[t].name,
		             buf_text(&at));
	else
		verify_wrong(v, "%llu %ss from %s on were inserted: no checkpoint speaks of them",
		             (unsigned long long)count, tables[t].name, buf_text(&at));
}

/* One batch's rows of one table, while they are read. */
struct run {
	enum rows_table table;
	const struct rows_checkpoint *point;
	const char *session;
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
		verify_wrong(v, "%s %s (session %s) %s", tables[r->table].name, buf_text(&n),
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
	uint64_t seq = r->point->first_seq + id - r->point->range[ROWS_EVENTS].first;
	int64_t mark;

	c.at = 1;
	tables[r->table].leaf(&c, id, seq, chain, verify_copy(v, r->table, id));
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

bool verify_rows(struct verify *v, const struct rows_checkpoint *c, const char *session,
                 struct chain_hash *chain, struct merkle *tree)
{
	struct run r = {.point = c, .session = session};
	bool right = true;

	for (unsigned t = 0; t < ROWS_TABLES; t++) {
		r.table = t;
		right &= rows_of(v, &r, chain, tree);
	}
	return right;
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
