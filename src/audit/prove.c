#include "audit/prove.h"

#include "audit/verify_rows.h"
#include "base/own.h"

#include <stdlib.h>
#include <string.h>

/* The walk of verify, over the batches that matter. */
struct prover {
	struct verify v;
	struct verify_options options;
	struct verify_result result;
	struct proof *proof;
	struct buf why; /* the first finding */
};

static void keep_first(void *ctx, const char *sentence)
{
	struct buf *why = ctx;

	if (!why->len_bytes)
		buf_str(why, sentence);
}

/* Not whether all of it is whole: any session, since the walk is not verify's. */
static const uint64_t only[] = {1};

static const char *const ranges[] = {
	[ROWS_STRINGS] = "string", [ROWS_ACTORS] = "actor", [ROWS_ACTS] = "act",
	[ROWS_DETAILS] = "detail", [ROWS_EVENTS] = "event",
};

/* One checkpoint by a condition on its columns with one number. */
static int checkpoint_where(struct prover *p, const char *condition, uint64_t number,
                            struct rows_checkpoint *out)
{
	sqlite3_stmt *stmt = NULL;
	auto_buf sql = BUF_INIT;
	int err = 0;

	buf_fmt(&sql, "SELECT " COLUMNS_CHECKPOINT COLUMNS_CHECKPOINT_FROM " WHERE %s LIMIT 1",
	        condition);
	if (!buf_text(&sql))
		return -ERR_NOMEM;
	stmt = verify_prepare(&p->v, sql.data);
	if (stmt)
		sqlite3_bind_int64(stmt, 1, (int64_t)number);
	if (stmt && verify_step(&p->v, stmt, "checkpoint")) {
		struct columns c = columns_of(stmt);

		columns_checkpoint(&c, out);
		err = c.wrong ? -ERR_DAMAGED : 0;
	} else {
		err = p->v.err ? p->v.err : -ERR_NOTFOUND;
	}
	sqlite3_finalize(stmt);
	return err;
}

/* The batch that a row is in. */
static int batch_of(struct prover *p, unsigned table, uint64_t id, struct rows_checkpoint *out)
{
	auto_buf where = BUF_INIT;

	if (table == ROWS_TABLES)
		return checkpoint_where(p, "c.session = ? AND c.kind & 1", id, out);
	buf_fmt(&where, "?1 >= c.first_%s AND ?1 < c.first_%s + c.%ss", ranges[table],
	        ranges[table], ranges[table]);
	return buf_text(&where) ? checkpoint_where(p, where.data, id, out) : -ERR_NOMEM;
}

/* The session's last hash before a batch. */
static int chain_before(struct prover *p, const struct rows_checkpoint *c, struct chain_hash *out)
{
	struct rows_checkpoint before;
	auto_buf where = BUF_INIT;
	int err;

	memset(out, 0, sizeof *out);
	if (c->kind & ROWS_OPENING)
		return 0;
	buf_fmt(&where, "c.id = (SELECT max(id) FROM checkpoint WHERE session = ? AND id < %llu)",
	        (unsigned long long)c->id);
	if (!buf_text(&where))
		return -ERR_NOMEM;
	err = checkpoint_where(p, where.data, c->session, &before);
	if (!err)
		memcpy(out->bytes, before.chain, sizeof out->bytes);
	return err == -ERR_NOTFOUND ? -ERR_DAMAGED : err;
}

/* Reads a batch with the tap on one of its rows. */
static int read_batch(struct prover *p, const struct rows_checkpoint *c, struct verify_tap *tap)
{
	struct verify_session *s = verify_session_of(&p->v, c->session);
	struct chain_hash chain;
	struct merkle tree;
	int err = s ? chain_before(p, c, &chain) : -ERR_DAMAGED;
	bool right;

	if (err)
		return err;
	merkle_init(&tree);
	p->v.tap = tap;
	verify_rows_skip(&p->v, c);
	right = verify_batch_rows(&p->v, c, s, true, &chain, &tree) &&
	        verify_batch_hashes(&p->v, c, s, &chain, &tree);
	p->v.tap = NULL;
	if (p->v.err)
		return p->v.err;
	return right && tap->place < tap->leaves_n ? 0 : -ERR_DAMAGED;
}

static int add_point(struct prover *p, const struct rows_checkpoint *c)
{
	struct proof *out = p->proof;

	for (size_t i = 0; i < out->points_n; i++)
		if (out->points[i].id == c->id)
			return 0;
	if (out->points_n == PROOF_POINTS_MAX)
		return -ERR_BOUND;
	out->points[out->points_n++] = *c;
	return 0;
}

/* Puts a row into the proof, with its way to its root, and decodes it. */
static int add_row(struct prover *p, unsigned table, uint64_t id, struct proof_rows *rows)
{
	struct proof_leaf *leaf = &p->proof->leaves[p->proof->leaves_n];
	struct verify_tap tap = {.table = table, .id = id, .place = UINT64_MAX};
	struct rows_checkpoint c;
	int err;

	if (p->proof->leaves_n == PROOF_LEAVES_MAX)
		return -ERR_BOUND;
	p->proof->leaves_n++;
	buf_init(&leaf->bytes, PROOF_MAX_BYTES);
	tap.copy = &leaf->bytes;
	err = batch_of(p, table, id, &c);
	if (!err)
		err = read_batch(p, &c, &tap);
	if (!err && leaf->bytes.failed)
		err = -ERR_NOMEM;
	if (!err) {
		leaf->checkpoint = c.id;
		leaf->place = tap.place;
		leaf->path_n = merkle_path(tap.leaves, tap.leaves_n, tap.place, leaf->path);
		err = proof_decode(&leaf->bytes, rows) != 0 ? -ERR_DAMAGED : add_point(p, &c);
	}
	free(tap.leaves);
	return err;
}

/* What a row refers to must be there. */
static int add_reference(struct prover *p, unsigned table, uint64_t id, struct proof_rows *rows)
{
	int err = id ? add_row(p, table, id, rows) : 0;

	return err == -ERR_NOTFOUND ? -ERR_DAMAGED : err;
}

static bool has_string(const struct proof_rows *rows, uint64_t id)
{
	for (size_t i = 0; i < rows->strings_n; i++)
		if (rows->strings[i].id == id)
			return true;
	return false;
}

static int add_text(struct prover *p, uint64_t id, struct proof_rows *rows)
{
	uint64_t prefix;
	int err;

	if (!id || has_string(rows, id))
		return 0;
	err = add_reference(p, ROWS_STRINGS, id, rows);
	if (err)
		return err;
	prefix = rows->strings[rows->strings_n - 1].prefix;
	return prefix && !has_string(rows, prefix) ? add_reference(p, ROWS_STRINGS, prefix, rows)
	                                           : 0;
}

static int add_rows(struct prover *p, struct proof_rows *rows)
{
	int err = add_row(p, ROWS_EVENTS, p->proof->row, rows);

	if (!err)
		err = add_reference(p, ROWS_TABLES, p->proof->points[0].session, rows);
	if (!err)
		err = add_reference(p, ROWS_ACTORS, rows->event.actor, rows);
	if (!err)
		err = add_reference(p, ROWS_ACTS, rows->event.act, rows);
	if (!err)
		err = add_reference(p, ROWS_DETAILS, rows->event.detail, rows);
	if (!err) {
		const uint64_t texts[] = {rows->event.object,   rows->actor.program,
		                          rows->act.rule_file,  rows->act.rule_text,
		                          rows->detail.object2, rows->detail.cwd,
		                          rows->detail.argv,    rows->detail.stack};

		for (size_t i = 0; !err && i < sizeof texts / sizeof texts[0]; i++)
			err = add_text(p, texts[i], rows);
	}
	return err;
}

static int put_key(struct proof *out, const struct verify_signer *s, const struct verify_signer *by)
{
	struct proof_key *k = &out->keys[out->keys_n];

	if (out->keys_n == PROOF_KEYS_MAX)
		return -ERR_BOUND;
	k->row = s->row;
	memcpy(k->by, by->row.public_key, sizeof k->by);
	out->keys_n++;
	return 0;
}

static bool has_key(const struct proof *p, const struct verify_signer *s)
{
	for (size_t i = 0; i < p->keys_n; i++)
		if (memcmp(p->keys[i].row.public_key, s->row.public_key, ROWS_KEY_BYTES) == 0)
			return true;
	return false;
}

/* The row by which the key after @s vouches for it. */
static const struct verify_signer *back_of(struct verify *v, const struct verify_signer *s)
{
	const struct verify_signer *next = s->next ? verify_signer_of(v, s->next) : NULL;

	for (const struct verify_signer *b = next; b && b < v->signers + v->signers_n; b++)
		if (b->back && !b->wrong && b->row.certified_by == s->next)
			return b;
	return NULL;
}

/* From the key that certified up to the one that the machine had last, so that the row
 * can be shown to who knows only that.
 * @last: set to that one, or to where it does not go on. */
static int add_later(struct prover *p, const struct verify_signer **last)
{
	const struct verify_signer *back;
	int err = 0;

	while (!err && (back = back_of(&p->v, *last))) {
		*last = verify_signer_of(&p->v, (*last)->next);
		err = put_key(p->proof, back, *last);
	}
	return err;
}

/* The signers, then the machine's keys, from the one that certified them up to the
 * latest, and from there down to the first. */
static int add_keys(struct prover *p)
{
	const struct verify_signer *latest = NULL;
	const struct verify_signer *earliest = NULL;
	int err = 0;

	for (size_t i = 0; !err && i < p->proof->points_n; i++) {
		const struct verify_signer *s = verify_signer_of(&p->v, p->proof->points[i].signer);
		const struct verify_signer *by =
			s ? verify_signer_of(&p->v, s->row.certified_by) : NULL;

		if (!by)
			return -ERR_DAMAGED;
		if (!has_key(p->proof, s))
			err = put_key(p->proof, s, by);
		if (!latest || by > latest)
			latest = by;
		if (!earliest || by < earliest)
			earliest = by;
	}
	if (!err && earliest)
		err = add_later(p, &earliest);
	if (earliest > latest)
		latest = earliest;
	while (!err && latest) {
		const struct verify_signer *by = verify_signer_of(&p->v, latest->row.certified_by);

		if (by && by >= latest)
			return -ERR_DAMAGED;
		err = put_key(p->proof, latest, by ? by : latest);
		latest = by;
	}
	return err;
}

/* Its own output, by the first key that is in it. */
static int check_own(struct prover *p)
{
	const struct proof_key *root = &p->proof->keys[p->proof->keys_n - 1];
	struct proof_rows *rows = malloc(sizeof *rows);
	const char *why = NULL;
	int err;

	if (!rows)
		return -ERR_NOMEM;
	err = proof_check(p->proof, &root->row.public_key, 1, rows, &why);
	if (err && why)
		keep_first(&p->why, why);
	free(rows);
	return err == -ERR_CRYPTO || err == -ERR_FORMAT ? -ERR_DAMAGED : err;
}

static int make(struct prover *p)
{
	struct proof_rows *rows = calloc(1, sizeof *rows);
	int err = rows ? 0 : -ERR_NOMEM;

	if (!err && sqlite3_exec(store_db(p->v.store), "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		err = -ERR_SYS;
	if (!err) {
		bool ours = verify_load(&p->v);

		err = p->v.err ? p->v.err : ours ? 0 : -ERR_DAMAGED;
	}
	if (!err) {
		verify_rows_begin(&p->v);
		err = p->v.err ? p->v.err : add_rows(p, rows);
		verify_rows_end(&p->v);
	}
	if (!err)
		err = add_keys(p);
	if (!err)
		err = check_own(p);
	store_rollback(p->v.store);
	free(rows);
	return err;
}

int prove_row(struct store *s, uint64_t row, struct proof **out, char **why)
{
	struct prover p = {.proof = proof_new()};
	int err = p.proof ? 0 : -ERR_NOMEM;

	*why = NULL;
	p.options = (struct verify_options){
		.db = store_path(s),
		.only = only,
		.only_n = 1,
		.wrong = keep_first,
		.ctx = &p.why,
	};
	p.v = (struct verify){.options = &p.options, .result = &p.result, .store = s};
	if (!err) {
		p.proof->row = row;
		err = make(&p);
	}
	free(p.v.signers);
	free(p.v.sessions);
	if (err) {
		*why = p.why.len_bytes ? buf_take(&p.why) : NULL;
		proof_free(p.proof);
	} else {
		*out = p.proof;
	}
	buf_free(&p.why);
	return err;
}
