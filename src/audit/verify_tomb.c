/* Sessions that retention removed: their tombstones, and the chain over the gaps. */
#include "audit/verify_inside.h"

#include "audit/bridge.h"
#include "base/text.h"
#include "base/uses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

USES(open_read);

#define NOTES_MAX 20

struct tomb {
	struct rows_tombstone row; /* texts: in memory */
	char *memory;
	char name[40]; /* printable */
};

struct gap {
	struct bridge bridge;
	size_t tomb;
	bool crossed;
};

struct verify_tombs {
	struct tomb *tombs;
	size_t tombs_n;
	struct gap *gaps; /* by their first checkpoint */
	size_t gaps_n;
};

static void keep_texts(struct verify *v, struct tomb *t)
{
	struct rows_text *const texts[] = {&t->row.name, &t->row.reason, &t->row.bridges};
	size_t len = 0;
	char *at;

	for (size_t i = 0; i < 3; i++)
		len += texts[i]->len_bytes;
	at = t->memory = malloc(len + 1);
	if (!at)
		v->err = -ERR_NOMEM;
	for (size_t i = 0; at && i < 3; i++) {
		if (texts[i]->len_bytes)
			memcpy(at, texts[i]->bytes, texts[i]->len_bytes);
		texts[i]->bytes = at;
		at += texts[i]->len_bytes;
	}
}

/* Returns whether it has only what wary writes. */
static bool read_row(struct verify *v, sqlite3_stmt *stmt, struct tomb *t)
{
	struct columns c = columns_of(stmt);
	auto_buf shown = BUF_INIT;

	*t = (struct tomb){.memory = NULL};
	t->row.id = columns_id(&c);
	t->row.session = columns_id(&c);
	t->row.name = columns_text(&c);
	columns_blob(&c, t->row.uuid, sizeof t->row.uuid);
	t->row.at_us = columns_id(&c);
	t->row.reason = columns_text(&c);
	t->row.checkpoints = columns_id(&c);
	t->row.events = columns_id(&c);
	c.wrong |= sqlite3_column_type(stmt, c.at) != SQLITE_BLOB;
	t->row.bridges.bytes = sqlite3_column_blob(stmt, c.at);
	t->row.bridges.len_bytes = (size_t)sqlite3_column_bytes(stmt, c.at++);
	t->row.signer = columns_id(&c);
	columns_blob(&c, t->row.signature, sizeof t->row.signature);
	text_printable(&shown, t->row.name.bytes ? t->row.name.bytes : "", t->row.name.len_bytes,
	               32);
	snprintf(t->name, sizeof t->name, "%s", buf_text(&shown) ? shown.data : "?");
	keep_texts(v, t);
	return !c.wrong;
}

static bool signed_by_machine(struct verify *v, struct tomb *t)
{
	const struct verify_signer *by = verify_signer_of(v, t->row.signer);

	if (!by || by->wrong || !by->trusted || by->row.role != SIGNER_MACHINE)
		return false;
	memcpy(t->row.public_key, by->row.public_key, sizeof t->row.public_key);
	return chain_tombstone_verify(&t->row) == 0;
}

/* Who signed what is gone is certified for its session, as if it were here. */
static bool signer_right(struct verify *v, const struct tomb *t, const struct bridge *b)
{
	struct verify_session gone = {.id = t->row.session, .signer = b->signer};

	memcpy(gone.uuid, t->row.uuid, sizeof gone.uuid);
	return verify_signer_fits(v, b->signer, &gone);
}

static bool add_gaps(struct verify *v, size_t tomb)
{
	struct verify_tombs *all = v->tombs;
	const struct tomb *t = &all->tombs[tomb];
	struct rows_text from = t->row.bridges;
	uint64_t checkpoints = 0;
	uint64_t events = 0;
	struct bridge b;
	bool there = true;

	while (bridge_next(&from, &b, &there) == 0 && there) {
		if (!signer_right(v, t, &b))
			return false;
		all->gaps = verify_grow(v, all->gaps, all->gaps_n, sizeof *all->gaps);
		if (v->err)
			return true;
		all->gaps[all->gaps_n++] = (struct gap){.bridge = b, .tomb = tomb};
		checkpoints += b.count;
		events += b.range[ROWS_EVENTS].count;
	}
	return !there && checkpoints == t->row.checkpoints && events == t->row.events;
}

static void check_tomb(struct verify *v, bool readable)
{
	size_t i = v->tombs->tombs_n - 1;
	struct tomb *t = &v->tombs->tombs[i];
	unsigned long long id = t->row.id;

	if (id != i + 1)
		verify_wrong(v, "tombstone %zu was removed", i + 1);
	if (!readable || !signed_by_machine(v, t))
		verify_wrong(v,
		             "tombstone %llu (session %s) is not one of this record: its signature "
		             "does not fit, or is not by a trusted machine",
		             id, t->name);
	else if (!add_gaps(v, i))
		verify_wrong(v, "tombstone %llu (session %s) does not say what was removed", id,
		             t->name);
	else if (verify_session_of(v, t->row.session))
		verify_wrong(v, "session %s is here, and has a tombstone (%llu)", t->name, id);
}

static int by_first(const void *a, const void *b)
{
	const struct gap *x = a;
	const struct gap *y = b;

	return (x->bridge.first > y->bridge.first) - (x->bridge.first < y->bridge.first);
}

void verify_tombs_load(struct verify *v)
{
	sqlite3_stmt *stmt =
		verify_prepare(v, "SELECT id, session, name, uuid, at_us, reason, checkpoints,"
	                          " events, bridges, signer, signature FROM tombstone ORDER BY id");
	struct verify_tombs *all = calloc(1, sizeof *all);

	v->tombs = all;
	if (!all)
		v->err = -ERR_NOMEM;
	while (stmt && !v->err && verify_step(v, stmt, "tombstone")) {
		bool readable;

		all->tombs = verify_grow(v, all->tombs, all->tombs_n, sizeof *all->tombs);
		if (v->err)
			break;
		readable = read_row(v, stmt, &all->tombs[all->tombs_n++]);
		if (!v->err)
			check_tomb(v, readable);
	}
	sqlite3_finalize(stmt);
	if (all && all->gaps_n)
		qsort(all->gaps, all->gaps_n, sizeof *all->gaps, by_first);
}

static struct gap *gap_at(const struct verify_tombs *all, uint64_t checkpoint)
{
	for (size_t lo = 0, hi = all->gaps_n; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (all->gaps[mid].bridge.first == checkpoint)
			return &all->gaps[mid];
		if (all->gaps[mid].bridge.first < checkpoint)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static bool fits(const struct verify *v, const struct bridge *b)
{
	bool right = memcmp(b->prev, v->prev.bytes, sizeof b->prev) == 0;

	for (unsigned t = 0; t < ROWS_TABLES; t++)
		right = right && b->range[t].first == v->next_id[t];
	return right;
}

static void cross(struct verify *v, struct gap *g)
{
	const struct bridge *b = &g->bridge;

	if (!v->doubt && !fits(v, b))
		verify_wrong(v,
		             "the checkpoints from %llu on, which went with session %s, did not "
		             "follow what is before them: one of the two is from another history",
		             (unsigned long long)b->first, v->tombs->tombs[g->tomb].name);
	for (uint64_t i = 0; i < b->count; i++) {
		memcpy(v->prev.bytes, b->hashes + i * ROWS_HASH_BYTES, ROWS_HASH_BYTES);
		verify_anchors_at(v, b->first + i, &v->prev);
	}
	for (unsigned t = 0; t < ROWS_TABLES; t++)
		v->next_id[t] = b->range[t].first + b->range[t].count;
	v->last_checkpoint = b->first + b->count - 1;
	v->doubt = false;
	g->crossed = true;
}

void verify_tombs_cross(struct verify *v, uint64_t checkpoint)
{
	struct gap *g;

	while (v->last_checkpoint + 1 < checkpoint &&
	       (g = gap_at(v->tombs, v->last_checkpoint + 1)) && !g->crossed &&
	       g->bridge.count <= checkpoint - g->bridge.first)
		cross(v, g);
}

static void note(struct verify *v, const struct tomb *t)
{
	time_t at = (time_t)(t->row.at_us / 1000000);
	auto_buf rows = BUF_INIT;
	auto_buf reason = BUF_INIT;
	struct tm tm;
	char day[32] = "?";

	if (localtime_r(&at, &tm))
		strftime(day, sizeof day, "%Y-%m-%d", &tm);
	text_thousands(&rows, t->row.events);
	text_printable(&reason, t->row.reason.bytes, t->row.reason.len_bytes, 300);
	verify_note(v, "session %s was removed by %s on %s: %s row%s, %llu checkpoints", t->name,
	            buf_text(&reason) ? reason.data : "?", day, buf_text(&rows) ? rows.data : "?",
	            t->row.events == 1 ? "" : "s", (unsigned long long)t->row.checkpoints);
}

void verify_tombs_end(struct verify *v)
{
	const struct verify_tombs *all = v->tombs;

	for (size_t i = 0; i < all->gaps_n; i++)
		if (!all->gaps[i].crossed)
			verify_wrong(v,
			             "tombstone %llu (session %s) is of checkpoints from %llu on, "
			             "which are here, or beyond the end of the record",
			             (unsigned long long)all->tombs[all->gaps[i].tomb].row.id,
			             all->tombs[all->gaps[i].tomb].name,
			             (unsigned long long)all->gaps[i].bridge.first);
	for (size_t i = 0; i < all->tombs_n && i < NOTES_MAX; i++)
		note(v, &all->tombs[i]);
	if (all->tombs_n > NOTES_MAX)
		verify_note(v, "and %zu more were removed by retention", all->tombs_n - NOTES_MAX);
	v->result->removed = all->tombs_n;
}

void verify_tombs_free(struct verify *v)
{
	for (size_t i = 0; v->tombs && i < v->tombs->tombs_n; i++)
		free(v->tombs->tombs[i].memory);
	if (v->tombs) {
		free(v->tombs->tombs);
		free(v->tombs->gaps);
	}
	free(v->tombs);
	v->tombs = NULL;
}
