#include "audit/verify_ahead.h"

#include "audit/lanes.h"
#include "base/own.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* Of fewer rows there is nothing to be gained; more no batch of the writer's has. */
#define ROWS_MIN 64
#define ROWS_MAX ((uint64_t)32768)

/* A row's bytes: in the lane, or from @at on in the batch's long ones. */
struct row {
	struct lane lane;
	size_t at, len_bytes;
	int64_t mark;
};

/* A batch whose chain is hashed beside others. */
struct strand {
	struct verify_point *point;
	struct row *rows;
	size_t n, cap;
	struct buf more; /* the bytes of long rows */
	bool wrong;
	struct chain_hash chain;
	struct merkle tree;
};

struct verify_ahead {
	struct verify *v;
	sqlite3_stmt *stmt;
	struct verify_point points[VERIFY_AHEAD];
	size_t n, at;
	int stepped; /* SQLITE_ROW, or why no more come: said when the walk is there */
	struct strand strands[LANES];
	size_t strands_n;
	sqlite3_stmt *reading[ROWS_TABLES];
	/* The table that is being read. */
	enum rows_table table;
	uint64_t expected; /* the id that comes next */
	struct strand *into;
	struct buf bytes; /* of one row */
};

/* ---- reading ------------------------------------------------------------------ */

static struct row *room(struct strand *s)
{
	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 1024;
		struct row *more = reallocarray(s->rows, cap, sizeof *more);

		if (!more)
			return NULL;
		s->rows = more;
		s->cap = cap;
	}
	return &s->rows[s->n++];
}

static void keep(struct strand *s, const struct buf *bytes, int64_t mark)
{
	struct row *row = room(s);

	if (!row || bytes->failed) {
		s->wrong = true;
		return;
	}
	row->mark = mark;
	row->len_bytes = bytes->len_bytes;
	row->lane.len_bytes = 0;
	if (bytes->len_bytes > sizeof row->lane.bytes) {
		row->at = s->more.len_bytes;
		buf_add(&s->more, bytes->data, bytes->len_bytes);
		return;
	}
	row->lane.len_bytes = bytes->len_bytes;
	memcpy(row->lane.bytes, bytes->data, bytes->len_bytes);
	memset(row->lane.bytes + bytes->len_bytes, 0, sizeof row->lane.bytes - bytes->len_bytes);
}

/* One row: id, columns, mark.  An SQL function gets them all at once, where each column of a
 * statement is a call, and each row one more. */
static void take_row(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct verify_ahead *a = sqlite3_user_data(ctx);
	struct strand *s = a->into;
	struct columns c = {.values = argv, .at = 0};
	const struct rows_checkpoint *point = &s->point->c;
	struct verify_row at = {.id = columns_id(&c), .first_actor = 0};

	(void)argc;
	if (s->wrong || c.wrong || at.id != a->expected++) {
		s->wrong = true;
		return;
	}
	at.seq = point->first_seq + at.id - point->range[ROWS_EVENTS].first;
	buf_reset(&a->bytes);
	verify_tables[a->table].leaf(&c, &at, NULL, &a->bytes);
	if (a->table == ROWS_EVENTS && at.actor < s->point->first_actor)
		s->point->first_actor = at.actor;
	keep(s, &a->bytes, columns_int(&c));
	s->wrong |= c.wrong;
}

static void end_rows(sqlite3_context *ctx)
{
	(void)ctx;
}

static bool prepare(struct verify_ahead *a, enum rows_table t)
{
	const struct verify_table *table = &verify_tables[t];
	auto_buf sql = BUF_INIT;

	if (a->reading[t])
		return true;
	buf_fmt(&sql, "SELECT wary_row(id, %s, mark) FROM %s WHERE id BETWEEN ? AND ?",
	        table->columns, table->table);
	return buf_text(&sql) && sqlite3_prepare_v2(store_db(a->v->store), sql.data, -1,
	                                            &a->reading[t], NULL) == SQLITE_OK;
}

static bool read_table(struct verify_ahead *a, struct strand *s, enum rows_table t)
{
	const struct rows_range *r = &s->point->c.range[t];
	bool right;

	if (!r->count)
		return true;
	if (!prepare(a, t))
		return false;
	a->table = t;
	a->expected = r->first;
	a->into = s;
	right = sqlite3_bind_int64(a->reading[t], 1, (int64_t)r->first) == SQLITE_OK &&
	        sqlite3_bind_int64(a->reading[t], 2, (int64_t)(r->first + r->count - 1)) ==
	                SQLITE_OK &&
	        sqlite3_step(a->reading[t]) == SQLITE_ROW;
	/* What failed is met again, and then said, by what reads row by row. */
	sqlite3_reset(a->reading[t]);
	return right && !s->wrong && a->expected == r->first + r->count;
}

static void read_strand(struct verify_ahead *a, struct strand *s)
{
	s->n = 0;
	buf_reset(&s->more);
	s->wrong = false;
	s->chain = s->point->start;
	s->point->first_actor = UINT64_MAX;
	merkle_init(&s->tree);
	for (unsigned t = 0; t < ROWS_TABLES && !s->wrong; t++)
		s->wrong = !read_table(a, s, t);
	s->wrong |= s->more.failed;
	if (s->wrong)
		s->n = 0;
}

/* ---- hashing ------------------------------------------------------------------ */

static void hash_one(const struct strand *s, struct row *row, struct chain_hash *out)
{
	const uint8_t *bytes = row->lane.bytes;

	if (!row->lane.len_bytes) {
		memcpy(s->more.data + row->at + CHAIN_HASH_AT, s->chain.bytes, ROWS_HASH_BYTES);
		bytes = (const uint8_t *)s->more.data + row->at;
	}
	invariant(crypto_generichash(out->bytes, sizeof out->bytes, bytes, row->len_bytes, NULL,
	                             0) == 0);
}

static void take_leaf(struct strand *s, const struct row *row, const struct chain_hash *leaf)
{
	s->chain = *leaf;
	s->wrong |= row->mark != chain_mark(leaf);
	merkle_add(&s->tree, leaf);
}

/* The i-th row of each that has so many. */
static void hash_row(struct strand *const strands[], size_t n, size_t i)
{
	static const struct lane none;
	const struct lane *in[LANES] = {&none, &none, &none, &none};
	struct chain_hash out[LANES];
	size_t shorts = 0;

	for (size_t k = 0; k < n; k++) {
		struct row *row = &strands[k]->rows[i];

		if (!row->lane.len_bytes)
			continue;
		memcpy(row->lane.bytes + CHAIN_HASH_AT, strands[k]->chain.bytes, ROWS_HASH_BYTES);
		in[k] = &row->lane;
		shorts++;
	}
	/* Of one alone the other lanes would be for nothing. */
	if (shorts > 1)
		lanes_hash(in, out);
	for (size_t k = 0; k < n; k++) {
		struct row *row = &strands[k]->rows[i];

		if (shorts < 2 || !row->lane.len_bytes)
			hash_one(strands[k], row, &out[k]);
		take_leaf(strands[k], row, &out[k]);
	}
}

static void hash_strands(struct verify_ahead *a)
{
	struct strand *strands[LANES];
	size_t n = 0;

	for (size_t k = 0; k < a->strands_n; k++)
		if (a->strands[k].n)
			strands[n++] = &a->strands[k];
	for (size_t i = 0; n; i++) {
		size_t left = 0;

		hash_row(strands, n, i);
		for (size_t k = 0; k < n; k++)
			if (i + 1 < strands[k]->n && !strands[k]->wrong)
				strands[left++] = strands[k];
		n = left;
	}
}

static void judge(struct strand *s)
{
	struct verify_point *p = s->point;
	struct chain_hash root;

	if (s->wrong || !s->n)
		return;
	merkle_root(&s->tree, &root);
	p->right = memcmp(s->chain.bytes, p->c.chain, sizeof p->c.chain) == 0 &&
	           memcmp(root.bytes, p->c.root, sizeof p->c.root) == 0;
}

static void look(struct verify_ahead *a)
{
	for (size_t k = 0; k < a->strands_n; k++)
		read_strand(a, &a->strands[k]);
	hash_strands(a);
	for (size_t k = 0; k < a->strands_n; k++)
		judge(&a->strands[k]);
	a->strands_n = 0;
}

/* ---- checkpoints -------------------------------------------------------------- */

/* Those with rows of other kinds are left to the walk, and those with hardly any. */
static bool is_worth(const struct verify_ahead *a, const struct verify_point *p)
{
	uint64_t rows = 0;

	if (!p->readable || p->c.kind & (ROWS_OPENING | ROWS_CLOSING) ||
	    !verify_wants(a->v, p->c.session))
		return false;
	for (unsigned t = 0; t < ROWS_TABLES; t++) {
		const struct rows_range *r = &p->c.range[t];

		if (r->count > ROWS_MAX || r->first > INT64_MAX - ROWS_MAX)
			return false;
		rows += r->count;
	}
	return rows >= ROWS_MIN && rows <= ROWS_MAX;
}

/* Where the batch's rows begin from, as far as is known here. */
static bool find_start(const struct verify_ahead *a, struct verify_point *p)
{
	const struct verify_session *s = verify_session_of(a->v, p->c.session);

	for (const struct verify_point *q = p; q-- > a->points;) {
		if (q->c.session != p->c.session)
			continue;
		memcpy(p->start.bytes, q->c.chain, sizeof q->c.chain);
		return true;
	}
	if (s)
		p->start = s->chain;
	return s != NULL;
}

static void fill(struct verify_ahead *a)
{
	a->n = 0;
	a->at = 0;
	while (a->n < VERIFY_AHEAD && a->stepped == SQLITE_ROW) {
		struct verify_point *p = &a->points[a->n];
		struct columns columns = columns_of(a->stmt);

		a->stepped = sqlite3_step(a->stmt);
		if (a->stepped != SQLITE_ROW)
			break;
		*p = (struct verify_point){.right = false};
		columns_checkpoint(&columns, &p->c);
		p->readable = !columns.wrong;
		a->n++;
		if (is_worth(a, p) && find_start(a, p))
			a->strands[a->strands_n++].point = p;
		if (a->strands_n == LANES)
			look(a);
	}
	look(a);
}

struct verify_point *verify_ahead_next(struct verify_ahead *a)
{
	if (a->at == a->n && a->stepped == SQLITE_ROW)
		fill(a);
	if (a->at < a->n && !a->v->err)
		return &a->points[a->at++];
	if (!a->v->err)
		(void)verify_stepped(a->v, a->stepped, "checkpoint");
	return NULL;
}

struct verify_ahead *verify_ahead_new(struct verify *v, sqlite3_stmt *stmt)
{
	struct verify_ahead *a = calloc(1, sizeof *a);

	if (!a || sqlite3_create_function(store_db(v->store), "wary_row", -1,
	                                  SQLITE_UTF8 | SQLITE_DIRECTONLY, a, NULL, take_row,
	                                  end_rows) != SQLITE_OK) {
		free(a);
		v->err = -ERR_NOMEM;
		return NULL;
	}
	a->v = v;
	a->stmt = stmt;
	a->stepped = SQLITE_ROW;
	return a;
}

void verify_ahead_free(struct verify_ahead *a)
{
	if (!a)
		return;
	for (unsigned t = 0; t < ROWS_TABLES; t++)
		sqlite3_finalize(a->reading[t]);
	for (size_t k = 0; k < LANES; k++) {
		free(a->strands[k].rows);
		buf_free(&a->strands[k].more);
	}
	buf_free(&a->bytes);
	free(a);
}
