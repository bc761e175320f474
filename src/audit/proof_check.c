/* What a proof shows: its rows decoded, and all that vouches for them. */
#include "audit/cursor.h"
#include "audit/proof.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>

/* 1 or 0. */
static bool take_flag(struct cursor *c)
{
	uint64_t v = cursor_int(c, 1);

	c->wrong |= v > 1;
	return v == 1;
}

void proof_message_decode(const uint8_t message[PROOF_MESSAGE_BYTES], struct rows_checkpoint *c)
{
	struct cursor b = cursor_of(message, PROOF_MESSAGE_BYTES);

	(void)cursor_take(&b, sizeof "wary checkpoint 1");
	cursor_bytes(&b, c->prev, sizeof c->prev);
	c->id = cursor_u64(&b);
	c->session = cursor_u64(&b);
	cursor_bytes(&b, c->uuid, sizeof c->uuid);
	c->kind = cursor_u32(&b);
	c->at_us = cursor_u64(&b);
	c->skew_us = (int64_t)cursor_u64(&b);
	for (unsigned t = 0; t < ROWS_TABLES; t++) {
		c->range[t].first = cursor_u64(&b);
		c->range[t].count = cursor_u64(&b);
	}
	c->first_seq = cursor_u64(&b);
	c->journal = cursor_u64(&b);
	c->kinds = cursor_u32(&b);
	c->classes = cursor_u32(&b);
	c->answers = cursor_u32(&b);
	cursor_bytes(&b, c->chain, sizeof c->chain);
	cursor_bytes(&b, c->root, sizeof c->root);
	c->signer = cursor_u64(&b);
	cursor_bytes(&b, c->public_key, sizeof c->public_key);
	invariant(!b.wrong && !b.left);
}

static void decode_opening(struct cursor *c, struct proof_rows *out)
{
	struct rows_opening *o = &out->opening;

	cursor_bytes(c, o->uuid, sizeof o->uuid);
	o->id = cursor_u64(c);
	o->name = cursor_text(c);
	o->opened_us = cursor_u64(c);
	o->mono_us = cursor_u64(c);
	o->argv = cursor_text(c);
	o->cwd = cursor_text(c);
	o->user = cursor_text(c);
	o->host = cursor_text(c);
	o->kernel = cursor_text(c);
	o->version = cursor_text(c);
	o->uid = cursor_u32(c);
	cursor_bytes(c, o->public_key, sizeof o->public_key);
	o->sources_n = cursor_u32(c);
	for (uint32_t i = 0; !c->wrong && i < o->sources_n; i++) {
		(void)cursor_text(c);
		(void)cursor_text(c);
		(void)cursor_take(c, 32);
	}
}

static void decode_string(struct cursor *c, struct proof_rows *out)
{
	struct rows_string *s = &out->strings[out->strings_n];

	if (out->strings_n == PROOF_LEAVES_MAX) {
		c->wrong = true;
		return;
	}
	s->id = cursor_u64(c);
	s->prefix = cursor_u64(c);
	s->text = cursor_text(c);
	out->strings_n++;
}

static void decode_actor(struct cursor *c, struct proof_rows *out)
{
	struct rows_actor *a = &out->actor;

	a->id = cursor_u64(c);
	a->pid = cursor_u32(c);
	a->tid = cursor_u32(c);
	a->ppid = cursor_u32(c);
	a->uid = cursor_u32(c);
	a->program = cursor_u64(c);
}

static void decode_act(struct cursor *c, struct proof_rows *out)
{
	struct rows_act *a = &out->act;

	a->id = cursor_u64(c);
	a->flags = cursor_u64(c);
	a->rule_file = cursor_u64(c);
	a->rule_line = cursor_u64(c);
	a->rule_text = cursor_u64(c);
	a->kind = cursor_text(c);
	a->class = cursor_text(c);
	a->syscall = cursor_text(c);
	a->answer = cursor_text(c);
	a->judge = cursor_text(c);
}

static void decode_detail(struct cursor *c, struct proof_rows *out)
{
	struct rows_detail *d = &out->detail;

	d->id = cursor_u64(c);
	d->object2 = cursor_u64(c);
	d->cwd = cursor_u64(c);
	d->argv = cursor_u64(c);
	d->stack = cursor_u64(c);
	d->reason = (int64_t)cursor_u64(c);
	d->has_sha256 = take_flag(c);
	if (d->has_sha256)
		cursor_bytes(c, d->sha256, sizeof d->sha256);
}

static void decode_event(struct cursor *c, struct proof_rows *out)
{
	struct rows_event *e = &out->event;
	uint64_t bits;

	e->id = cursor_u64(c);
	e->seq = cursor_u64(c);
	e->at_us = cursor_u64(c);
	e->took_us = cursor_u64(c);
	e->actor = cursor_u64(c);
	e->act = cursor_u64(c);
	e->object = cursor_u64(c);
	e->detail = cursor_u64(c);
	bits = cursor_int(c, 1);
	e->known = bits & CHAIN_EVENT_KNOWN;
	e->result = (int64_t)cursor_u64(c);
	e->has_size = bits & CHAIN_EVENT_HAS_SIZE;
	/* What was not done has taken nothing away. */
	if (bits & ~(uint64_t)(CHAIN_EVENT_KNOWN | CHAIN_EVENT_HAS_SIZE) ||
	    (e->has_size && !e->known))
		c->wrong = true;
	if (!e->has_size)
		return;
	e->size_before = cursor_u64(c);
	e->links_left = cursor_u64(c);
}

/* The tables in the order of the chain; the opening record is before them. */
static const struct {
	char tag;
	void (*decode)(struct cursor *c, struct proof_rows *out);
} tables[] = {
	[ROWS_STRINGS] = {'S', decode_string}, [ROWS_ACTORS] = {'P', decode_actor},
	[ROWS_ACTS] = {'A', decode_act},       [ROWS_DETAILS] = {'D', decode_detail},
	[ROWS_EVENTS] = {'E', decode_event},   [ROWS_TABLES] = {'O', decode_opening},
};

/* ROWS_TABLES for an opening record; above for none of them. */
static unsigned table_of(const struct buf *bytes)
{
	unsigned t = 0;

	while (t <= ROWS_TABLES && (!bytes->len_bytes || bytes->data[0] != tables[t].tag))
		t++;
	return t;
}

int proof_decode(const struct buf *bytes, struct proof_rows *out)
{
	struct cursor c = cursor_of(bytes->data, bytes->len_bytes);
	unsigned table = table_of(bytes);

	if (table > ROWS_TABLES)
		return -ERR_FORMAT;
	(void)cursor_take(&c, 1 + ROWS_HASH_BYTES); /* the tag, and the leaf before */
	tables[table].decode(&c, out);
	return c.wrong || c.left ? -ERR_FORMAT : 0;
}

static const struct rows_string *string_of(const struct proof_rows *rows, uint64_t id)
{
	for (size_t i = 0; i < rows->strings_n; i++)
		if (rows->strings[i].id == id)
			return &rows->strings[i];
	return NULL;
}

bool proof_text(struct buf *out, const struct proof_rows *rows, uint64_t id)
{
	const struct rows_string *s = string_of(rows, id);
	const struct rows_string *prefix = s ? string_of(rows, s->prefix) : NULL;

	if (!id)
		return true;
	if (!s || (s->prefix && !prefix))
		return false;
	if (prefix)
		buf_add(out, prefix->text.bytes, prefix->text.len_bytes);
	buf_add(out, s->text.bytes, s->text.len_bytes);
	return true;
}

/* A proof under examination. */
struct check {
	const struct proof *p;
	const uint8_t (*trusted)[ROWS_KEY_BYTES];
	size_t trusted_n;
	bool key_trusted[PROOF_KEYS_MAX]; /* machine keys */
	struct proof_rows *rows;
	size_t counts[ROWS_TABLES + 1]; /* rows of each table */
	const char *why;
};

static int wrong(struct check *c, int err, const char *why)
{
	c->why = why;
	return err;
}

static bool same_key(const uint8_t *a, const uint8_t *b)
{
	return memcmp(a, b, ROWS_KEY_BYTES) == 0;
}

/* The machine key that certified key @i: itself, or one that comes later. */
static const struct proof_key *certifier(const struct proof *p, size_t i)
{
	const struct proof_key *k = &p->keys[i];

	if (k->row.role == SIGNER_MACHINE && same_key(k->by, k->row.public_key))
		return k;
	for (size_t j = i + 1; j < p->keys_n; j++)
		if (p->keys[j].row.role == SIGNER_MACHINE &&
		    same_key(k->by, p->keys[j].row.public_key))
			return &p->keys[j];
	return NULL;
}

static bool is_named(const struct check *c, const uint8_t *key)
{
	for (size_t i = 0; i < c->trusted_n; i++)
		if (same_key(c->trusted[i], key))
			return true;
	return false;
}

/* From the machine's first key down to those of sessions. */
static int check_keys(struct check *c)
{
	const uint8_t *uuid = c->p->points[0].uuid;

	for (size_t i = c->p->keys_n; i-- > 0;) {
		const struct proof_key *k = &c->p->keys[i];
		const struct proof_key *by = certifier(c->p, i);
		bool machine = k->row.role == SIGNER_MACHINE;

		if (!by)
			return wrong(c, -ERR_CRYPTO, "a key is certified by none of its keys");
		if (chain_certificate_verify(&k->row, machine ? NULL : uuid, by->row.public_key) !=
		    0)
			return wrong(c, -ERR_CRYPTO, "a key's certificate does not fit");
		c->key_trusted[i] = machine && (is_named(c, k->row.public_key) ||
		                                c->key_trusted[by - c->p->keys]);
		if (!machine && !c->key_trusted[by - c->p->keys])
			return wrong(c, -ERR_CRYPTO,
			             "it is signed by another machine than those that are trusted");
	}
	return 0;
}

static const struct proof_key *signer_of(const struct proof *p, const struct rows_checkpoint *point)
{
	for (size_t i = 0; i < p->keys_n; i++)
		if (p->keys[i].row.role != SIGNER_MACHINE &&
		    same_key(p->keys[i].row.public_key, point->public_key))
			return &p->keys[i];
	return NULL;
}

static int check_points(struct check *c)
{
	const struct rows_checkpoint *first = &c->p->points[0];

	for (size_t i = 0; i < c->p->points_n; i++) {
		const struct rows_checkpoint *point = &c->p->points[i];

		if (point->session != first->session ||
		    memcmp(point->uuid, first->uuid, sizeof point->uuid) != 0)
			return wrong(c, -ERR_CRYPTO, "its checkpoints are of several sessions");
		if (!signer_of(c->p, point))
			return wrong(c, -ERR_CRYPTO, "a checkpoint is signed by none of its keys");
		if (chain_checkpoint_verify(point) != 0)
			return wrong(c, -ERR_CRYPTO, "a checkpoint's signature does not fit");
	}
	return 0;
}

static const struct rows_checkpoint *point_of(const struct proof *p, uint64_t id)
{
	for (size_t i = 0; i < p->points_n; i++)
		if (p->points[i].id == id)
			return &p->points[i];
	return NULL;
}

/* Where a row of a table must be among the leaves of its batch.
 * @count: set to how many leaves there are. Returns @count's value where the row is
 * not of the batch. */
static uint64_t place_of(const struct rows_checkpoint *point, unsigned table, uint64_t id,
                         uint64_t *count)
{
	uint64_t before = point->kind & ROWS_OPENING ? 1 : 0;
	uint64_t place = table == ROWS_TABLES && before ? 0 : UINT64_MAX;

	for (unsigned t = 0; t < ROWS_TABLES; t++) {
		const struct rows_range *r = &point->range[t];

		if (t == table && id >= r->first && id - r->first < r->count)
			place = before + id - r->first;
		/* More than any tree has: its path leads nowhere. */
		before += r->count <= UINT32_MAX ? r->count : UINT32_MAX;
	}
	*count = before + (point->kind & ROWS_CLOSING ? 1 : 0);
	return place < *count ? place : *count;
}

/* The id of the row that was decoded last. */
static uint64_t id_of(const struct proof_rows *rows, unsigned table)
{
	const uint64_t ids[] = {
		[ROWS_STRINGS] = rows->strings_n ? rows->strings[rows->strings_n - 1].id : 0,
		[ROWS_ACTORS] = rows->actor.id,
		[ROWS_ACTS] = rows->act.id,
		[ROWS_DETAILS] = rows->detail.id,
		[ROWS_EVENTS] = rows->event.id,
		[ROWS_TABLES] = rows->opening.id,
	};

	return ids[table];
}

static int check_leaf(struct check *c, const struct proof_leaf *leaf)
{
	const struct rows_checkpoint *point = point_of(c->p, leaf->checkpoint);
	unsigned table = table_of(&leaf->bytes);
	struct chain_hash hash;
	struct chain_hash root;
	uint64_t count = 0;
	uint64_t place;

	if (!point || proof_decode(&leaf->bytes, c->rows) != 0)
		return wrong(c, -ERR_FORMAT, "a row in it is not whole");
	c->counts[table]++;
	if (table == ROWS_STRINGS &&
	    string_of(c->rows, id_of(c->rows, table)) != &c->rows->strings[c->rows->strings_n - 1])
		return wrong(c, -ERR_FORMAT, "it has not exactly the rows it needs");
	place = place_of(point, table, id_of(c->rows, table), &count);
	if (place >= count || leaf->place != place)
		return wrong(c, -ERR_CRYPTO, "a row is not where its batch has it");
	if (table == ROWS_EVENTS && c->rows->event.seq != point->first_seq + c->rows->event.id -
	                                                          point->range[ROWS_EVENTS].first)
		return wrong(c, -ERR_CRYPTO, "a row is not where its session has it");
	invariant(crypto_generichash(hash.bytes, sizeof hash.bytes,
	                             (const uint8_t *)leaf->bytes.data, leaf->bytes.len_bytes, NULL,
	                             0) == 0);
	memcpy(root.bytes, point->root, sizeof root.bytes);
	if (!merkle_path_check(&hash, count, place, leaf->path, leaf->path_n, &root))
		return wrong(c, -ERR_CRYPTO,
		             "a row is not under the root that its checkpoint signed");
	if (table == ROWS_EVENTS)
		c->rows->time_us = (uint64_t)point->skew_us;
	return 0;
}

/* That there is one row of each, and what it refers to. */
static int check_whole(struct check *c)
{
	const struct proof_rows *r = c->rows;
	const uint64_t texts[] = {r->event.object,  r->actor.program,  r->act.rule_file,
	                          r->act.rule_text, r->detail.object2, r->detail.cwd,
	                          r->detail.argv,   r->detail.stack};

	for (unsigned t = ROWS_ACTORS; t <= ROWS_TABLES; t++)
		if (c->counts[t] != (t == ROWS_DETAILS && !r->event.detail ? 0 : 1))
			return wrong(c, -ERR_FORMAT, "it has not exactly the rows it needs");
	if (r->event.id != c->p->row)
		return wrong(c, -ERR_CRYPTO, "it is about another row than it says");
	if (r->event.actor != r->actor.id || r->event.act != r->act.id ||
	    r->event.detail != r->detail.id)
		return wrong(c, -ERR_CRYPTO, "its rows do not belong together");
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		const struct rows_string *s = string_of(r, texts[i]);

		if (texts[i] && (!s || (s->prefix && !string_of(r, s->prefix))))
			return wrong(c, -ERR_FORMAT, "a name that its row refers to is missing");
	}
	return 0;
}

/* The opening record is of this session, and names who may sign for it. */
static int check_opening(struct check *c)
{
	const struct rows_opening *o = &c->rows->opening;
	const struct rows_checkpoint *first = &c->p->points[0];

	if (memcmp(o->uuid, first->uuid, sizeof o->uuid) != 0 || o->id != first->session)
		return wrong(c, -ERR_CRYPTO, "its opening record is of another session");
	for (size_t i = 0; i < c->p->points_n; i++) {
		const struct proof_key *k = signer_of(c->p, &c->p->points[i]);

		if (k->row.role == SIGNER_SESSION && !same_key(k->row.public_key, o->public_key))
			return wrong(c, -ERR_CRYPTO,
			             "a checkpoint is signed by another session's key");
	}
	return 0;
}

static void finish(struct check *c)
{
	const struct rows_checkpoint *last = &c->p->points[0];
	const struct proof_key *k = signer_of(c->p, last);

	for (size_t i = 0; i < c->p->leaves_n; i++)
		if (table_of(&c->p->leaves[i].bytes) == ROWS_EVENTS)
			k = signer_of(c->p, point_of(c->p, c->p->leaves[i].checkpoint));
	memcpy(c->rows->machine, k->by, sizeof c->rows->machine);
	c->rows->time_us += c->rows->opening.opened_us + c->rows->event.at_us;
}

int proof_check(const struct proof *p, const uint8_t (*trusted)[ROWS_KEY_BYTES], size_t trusted_n,
                struct proof_rows *out, const char **why)
{
	struct check c = {.p = p, .trusted = trusted, .trusted_n = trusted_n, .rows = out};
	int err = 0;

	*out = (struct proof_rows){0};
	if (!p->points_n || !p->keys_n || !p->leaves_n)
		err = wrong(&c, -ERR_FORMAT, "it is empty");
	if (!err)
		err = check_keys(&c);
	if (!err)
		err = check_points(&c);
	for (size_t i = 0; !err && i < p->leaves_n; i++)
		err = check_leaf(&c, &p->leaves[i]);
	if (!err)
		err = check_whole(&c);
	if (!err)
		err = check_opening(&c);
	if (!err)
		finish(&c);
	*why = c.why;
	return err;
}
