#include "audit/verify_ahead.h"

#include "base/own.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FINDINGS_SHOWN 100
/* More rows than any batch has: a checkpoint that says so was changed. */
#define RANGE_MAX ((uint64_t)1 << 20)

__attribute__((format(printf, 3, 0))) static void tell(void (*to)(void *, const char *), void *ctx,
                                                       const char *fmt, va_list ap)
{
	char sentence[1024];

	vsnprintf(sentence, sizeof sentence, fmt, ap);
	if (to)
		to(ctx, sentence);
}

void verify_wrong(struct verify *v, const char *fmt, ...)
{
	va_list ap;

	if (!v->result->wrong++)
		v->result->vouched_row = v->good_row;
	if (v->result->wrong > FINDINGS_SHOWN)
		return;
	va_start(ap, fmt);
	tell(v->options->wrong, v->options->ctx, fmt, ap);
	va_end(ap);
}

void verify_note(struct verify *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tell(v->options->note, v->options->ctx, fmt, ap);
	va_end(ap);
}

sqlite3_stmt *verify_prepare(struct verify *v, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(store_db(v->store), sql, -1, &stmt, NULL);

	if (rc == SQLITE_OK)
		return stmt;
	/* No memory is a failure; that a table or column is not there, a change. */
	if ((rc & 0xff) == SQLITE_NOMEM)
		v->err = -ERR_NOMEM;
	else
		verify_wrong(v, "the database is not as wary made it: %s", store_why(v->store));
	return NULL;
}

bool verify_stepped(struct verify *v, int rc, const char *what)
{
	if (rc == SQLITE_ROW)
		return true;
	if (rc == SQLITE_DONE)
		return false;
	if ((rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB)
		verify_wrong(v, "the database is damaged: the %ss cannot be read to their end",
		             what);
	else if (!v->err)
		v->err = -ERR_SYS;
	return false;
}

bool verify_step(struct verify *v, sqlite3_stmt *stmt, const char *what)
{
	return verify_stepped(v, sqlite3_step(stmt), what);
}

struct buf *verify_copy(struct verify *v, unsigned table, uint64_t id)
{
	if (!v->tap || v->tap->table != table || v->tap->id != id)
		return NULL;
	v->tap->place = v->tap->leaves_n;
	return v->tap->copy;
}

void verify_leaf(struct verify *v, struct merkle *tree, const struct chain_hash *leaf)
{
	struct verify_tap *t = v->tap;

	merkle_add(tree, leaf);
	if (!t)
		return;
	t->leaves = verify_grow(v, t->leaves, t->leaves_n, sizeof *t->leaves);
	if (!v->err)
		t->leaves[t->leaves_n++] = *leaf;
}

/* The places of @c in the store's sequence. */
static void check_place(struct verify *v, const struct rows_checkpoint *c)
{
	uint64_t expected;

	verify_tombs_cross(v, c->id);
	expected = v->last_checkpoint + 1;
	if (c->id > expected + 1)
		verify_wrong(v, "checkpoints %llu to %llu were removed",
		             (unsigned long long)expected, (unsigned long long)c->id - 1);
	else if (c->id == expected + 1)
		verify_wrong(v, "checkpoint %llu was removed", (unsigned long long)expected);
	else if (c->id != expected)
		verify_wrong(v, "checkpoint %llu is out of place", (unsigned long long)c->id);
	else if (!v->doubt && memcmp(c->prev, v->prev.bytes, sizeof c->prev) != 0)
		verify_wrong(v,
		             "checkpoint %llu does not follow the one before it: one of the two "
		             "is from another history",
		             (unsigned long long)c->id);
	if (c->id != expected)
		v->doubt = true;
}

enum signing { SIGNED, SIGNED_BY_ANOTHER, SIGNED_NOT };

/* Whether the checkpoint was signed by whom it should be. */
static enum signing signing_of(struct verify *v, const struct rows_checkpoint *c, bool readable,
                               const struct verify_session *s)
{
	if (readable && !verify_signer_fits(v, c->signer, s))
		return SIGNED_BY_ANOTHER;
	return readable && chain_checkpoint_verify(c) == 0 ? SIGNED : SIGNED_NOT;
}

static void check_signature(struct verify *v, const struct rows_checkpoint *c, enum signing signing,
                            const struct verify_session *s)
{
	static const char *const why[] = {
		[SIGNED_BY_ANOTHER] = "is signed by a key that is not trusted for it",
		[SIGNED_NOT] = "was changed: its signature does not fit",
	};

	/* A changed opening record has been named, and is in every signature. */
	if (signing != SIGNED && !s->wrong)
		verify_wrong(v, "checkpoint %llu (session %s) %s", (unsigned long long)c->id,
		             s->name, why[signing]);
}

static bool plausible(struct verify *v, const struct rows_checkpoint *c)
{
	for (unsigned t = 0; t < ROWS_TABLES; t++)
		if (c->range[t].count > RANGE_MAX ||
		    (v->doubt ? c->range[t].first < v->next_id[t]
		              : c->range[t].first != v->next_id[t]))
			return false;
	return true;
}

bool verify_batch_rows(struct verify *v, const struct rows_checkpoint *c, struct verify_session *s,
                       bool is_signed, struct chain_hash *chain, struct merkle *tree)
{
	bool right = true;
	bool mark_fits = true;

	if (c->kind & ROWS_OPENING) {
		right = verify_opening(v, s, chain);
		verify_leaf(v, tree, chain);
		/* Nothing else is in a first batch. */
		if (memcmp(chain->bytes, c->chain, sizeof c->chain) != 0) {
			verify_wrong(v, "the opening record of session %s was changed%s", s->name,
			             is_signed ? "" : ", or its first checkpoint");
			s->wrong = true;
			right = false;
		}
	}
	right &= verify_rows(v, c, s, chain, tree);
	if (c->kind & ROWS_CLOSING) {
		bool there = verify_closing(v, s, chain, &mark_fits);

		if (!there)
			verify_wrong(v, "the closing record of session %s was removed", s->name);
		else if (right && !mark_fits)
			verify_wrong(v, "the closing record of session %s was changed", s->name);
		right &= there && mark_fits;
		verify_leaf(v, tree, chain);
		s->closed = true;
	}
	return right;
}

bool verify_batch_hashes(struct verify *v, const struct rows_checkpoint *c,
                         const struct verify_session *s, const struct chain_hash *chain,
                         const struct merkle *tree)
{
	struct chain_hash root;

	merkle_root(tree, &root);
	if (memcmp(chain->bytes, c->chain, sizeof c->chain) == 0 &&
	    memcmp(root.bytes, c->root, sizeof c->root) == 0)
		return true;
	verify_wrong(v,
	             "rows of checkpoint %llu (session %s) were changed and their hashes made "
	             "anew: the hash is not the one that was signed",
	             (unsigned long long)c->id, s->name);
	return false;
}

/* The rows of a batch that cannot be checked, since one before it was lost. */
static void pass_over(struct verify *v, const struct rows_checkpoint *c)
{
	for (unsigned t = 0; t < ROWS_TABLES; t++)
		v->next_id[t] = c->range[t].first + c->range[t].count;
}

/* Whether its rows, with the checkpoint's hashes, were found right ahead, from where the
 * session is. */
static bool is_known(struct verify *v, const struct verify_point *p, const struct verify_session *s)
{
	return p->right && p->first_actor >= s->first_actor &&
	       memcmp(p->start.bytes, s->chain.bytes, sizeof p->start.bytes) == 0 &&
	       verify_rows_pass(v, &p->c);
}

/* Row by row, with what is wrong. */
static bool check_rows(struct verify *v, const struct rows_checkpoint *c, struct verify_session *s,
                       enum signing signing, struct chain_hash *chain)
{
	struct merkle tree;
	bool right;

	merkle_init(&tree);
	right = verify_batch_rows(v, c, s, signing == SIGNED, chain, &tree);
	check_signature(v, c, signing, s);
	if (signing == SIGNED && right)
		right = verify_batch_hashes(v, c, s, chain, &tree);
	return right;
}

static void check_batch(struct verify *v, const struct verify_point *p, struct verify_session *s)
{
	const struct rows_checkpoint *c = &p->c;
	enum signing signing = signing_of(v, c, p->readable, s);
	struct chain_hash chain = s->chain;
	bool right = false;

	if ((c->kind & ROWS_OPENING) && !s->opened)
		s->chain_known = true;
	else if (s->next_seq != c->first_seq)
		s->chain_known = false; /* a batch between was lost, which was said */
	if (c->kind & ROWS_ANEW)
		s->first_actor = c->range[ROWS_ACTORS].first;
	if (plausible(v, c) && s->chain_known && is_known(v, p, s)) {
		memcpy(chain.bytes, c->chain, sizeof c->chain);
		check_signature(v, c, signing, s);
		right = true;
	} else if (plausible(v, c) && s->chain_known) {
		right = check_rows(v, c, s, signing, &chain);
	} else {
		if (plausible(v, c))
			pass_over(v, c);
		check_signature(v, c, signing, s);
	}
	if (signing == SIGNED)
		memcpy(s->chain.bytes, c->chain, sizeof c->chain);
	else
		s->chain = chain;
	s->chain_known |= signing == SIGNED;
	s->opened = true;
	s->next_seq = c->first_seq + c->range[ROWS_EVENTS].count;
	v->doubt = signing != SIGNED;
	if (signing == SIGNED && right && !v->result->wrong)
		v->good_row = v->next_id[ROWS_EVENTS] - 1;
}

static void check_own(struct verify *v, const struct verify_point *p)
{
	const struct rows_checkpoint *c = &p->c;
	struct verify_session *s = verify_session_of(v, c->session);

	if (v->options->only_n)
		verify_rows_seek(v, c);
	if (s) {
		check_batch(v, p, s);
	} else {
		verify_wrong(v, "checkpoint %llu is of a session that is not in the record",
		             (unsigned long long)c->id);
		v->doubt = true;
	}
	v->result->checkpoints++;
	v->result->rows +=
		c->range[ROWS_EVENTS].count <= RANGE_MAX ? c->range[ROWS_EVENTS].count : 0;
}

/* One whose rows nobody asked for: its hash is in the next one, and so in the last, whose
 * signature is checked. */
static void check_link(struct verify *v, const struct rows_checkpoint *c)
{
	pass_over(v, c);
	v->doubt = false;
	v->result->chained++;
}

static void check_checkpoint(struct verify *v, const struct verify_point *p)
{
	const struct rows_checkpoint *c = &p->c;

	check_place(v, c);
	if (verify_wants(v, c->session))
		check_own(v, p);
	else
		check_link(v, c);
	v->last_checkpoint = c->id;
	if (chain_checkpoint_hash(c, &v->prev) != 0)
		v->err = -ERR_NOMEM;
	else
		verify_anchors_at(v, c->id, &v->prev);
}

/* The last one vouches for all before it. */
static void check_last(struct verify *v)
{
	sqlite3_stmt *stmt = verify_prepare(v, "SELECT " COLUMNS_CHECKPOINT COLUMNS_CHECKPOINT_FROM
	                                       " ORDER BY c.id DESC LIMIT 1");

	if (stmt && verify_step(v, stmt, "checkpoint")) {
		struct columns columns = columns_of(stmt);
		struct rows_checkpoint c;
		struct verify_session *s;

		columns_checkpoint(&columns, &c);
		s = verify_session_of(v, c.session);
		if (s)
			check_signature(v, &c, signing_of(v, &c, !columns.wrong, s), s);
		else
			verify_wrong(v, "checkpoint %llu is of a session that is not in the record",
			             (unsigned long long)c.id);
	}
	sqlite3_finalize(stmt);
}

static void walk(struct verify *v)
{
	sqlite3_stmt *stmt = verify_prepare(v, "SELECT " COLUMNS_CHECKPOINT COLUMNS_CHECKPOINT_FROM
	                                       " ORDER BY c.id");
	struct verify_ahead *ahead = stmt ? verify_ahead_new(v, stmt) : NULL;
	const struct verify_point *p;

	verify_rows_begin(v);
	while (ahead && !v->err && (p = verify_ahead_next(ahead)))
		check_checkpoint(v, p);
	verify_ahead_free(ahead);
	sqlite3_finalize(stmt);
	v->result->last_checkpoint = v->last_checkpoint;
	verify_rows_end(v);
}

static void check_all(struct verify *v)
{
	bool whole = !v->options->only_n;

	verify_tombs_load(v);
	if (!v->err)
		walk(v);
	if (!v->err && !whole)
		check_last(v);
	if (!v->err)
		verify_tombs_end(v);
	if (!v->err && whole)
		verify_rest(v);
	else if (!v->err)
		verify_rest_only(v);
	if (!v->err)
		verify_ends(v);
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

bool verify_wants(const struct verify *v, uint64_t session)
{
	const struct verify_options *o = v->options;

	return !o->only_n || bsearch(&session, o->only, o->only_n, sizeof *o->only, by_id);
}

static bool is_version(struct verify *v)
{
	sqlite3_stmt *stmt = verify_prepare(v, "PRAGMA user_version");
	bool same = stmt && verify_step(v, stmt, "version") &&
	            sqlite3_column_int64(stmt, 0) == store_version(v->store);

	sqlite3_finalize(stmt);
	return same;
}

/* All of it as it is at one moment, whoever writes meanwhile, of the version that it has then. */
static int open_moment(struct verify *v, char **why)
{
	int err = store_open(v->options->db, STORE_READ, &v->store, why);

	if (err)
		return err;
	/* Before that moment: what this machine saw until then is there. */
	verify_anchors_begin(v);
	if (!v->err && sqlite3_exec(store_db(v->store), "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		v->err = -ERR_SYS;
	if (v->err || is_version(v) || v->err)
		return 0;
	/* It was made a later version just now. */
	store_close(ptr_take(v->store));
	free(ptr_take(v->anchors));
	v->anchors_n = 0;
	return open_moment(v, why);
}

int verify_store(const struct verify_options *o, struct verify_result *out, char **why)
{
	struct verify v = {.options = o, .result = out, .keys_n = o->public_keys_n};
	int err;

	*out = (struct verify_result){0};
	err = open_moment(&v, why);
	if (err)
		return err;
	if (!v.err && verify_load(&v))
		check_all(&v);
	if (!out->wrong)
		out->vouched_row = v.good_row;
	if (v.err && asprintf(why, "the record cannot be read: %s", store_why(v.store)) < 0)
		*why = NULL;
	store_close(v.store);
	verify_tombs_free(&v);
	free(v.signers);
	free(v.sessions);
	free(v.anchors);
	return v.err;
}
