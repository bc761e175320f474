#include "audit/anchor.h"
#include "audit/batch_inside.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STRINGS_REMEMBERED 32768
#define ACTORS_REMEMBERED 4096
#define ACTS_REMEMBERED 4096
/* After so many events actors are written again, so that who reads one actor's rows need not
 * go on to the session's end (audit/reach.h).  Few are at work at once: it is a byte or so for
 * each event. */
#define ANEW_EVENTS BATCH_EVENTS_MAX

static int take_room(struct batch *b)
{
	struct batch_room *room = mmap(NULL, sizeof *room, PROT_READ | PROT_WRITE,
	                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		return -ERR_NOMEM;
	b->room = room;
	b->waiting = room->waiting;
	b->actor_rows = room->actor_rows;
	b->act_rows = room->act_rows;
	b->detail_rows = room->detail_rows;
	b->event_rows = room->event_rows;
	return 0;
}

int batch_new(struct store *store, const struct batch_identity *who, struct batch **out)
{
	struct batch *b = calloc(1, sizeof *b);
	int err = b ? 0 : -ERR_NOMEM;

	if (err)
		return err;
	b->store = store;
	b->who = *who;
	err = take_room(b);
	if (!err)
		err = intern_new(STRINGS_REMEMBERED, &b->strings);
	if (!err)
		err = intern_new(ACTORS_REMEMBERED, &b->actors);
	if (!err)
		err = intern_new(ACTS_REMEMBERED, &b->acts);
	if (err)
		batch_free(b);
	else
		*out = b;
	return err;
}

void batch_free(struct batch *b)
{
	if (!b)
		return;
	for (unsigned i = 0; i < b->slots; i++)
		free(b->waiting[i].carry);
	if (b->room)
		(void)munmap(b->room, sizeof *b->room);
	intern_free(b->strings);
	intern_free(b->actors);
	intern_free(b->acts);
	free(b);
}

static void begin_anew(struct batch *b)
{
	if (b->since_anew < ANEW_EVENTS)
		return;
	intern_forget(b->actors);
	b->point.kind |= ROWS_ANEW;
}

int batch_begin(struct batch *b)
{
	struct rows_checkpoint last;
	struct chain_hash prev = {{0}};
	int err = store_begin(b->store, &last);

	if (err)
		return err;
	if (last.id)
		err = chain_checkpoint_hash(&last, &prev);
	if (err) {
		store_rollback(b->store);
		return err;
	}
	b->point = (struct rows_checkpoint){
		.id = last.id + 1,
		.session = b->who.session,
		.kind = b->who.recovered ? ROWS_RECOVERED : 0,
		.first_seq = b->who.next_seq,
		.signer = b->who.signer,
	};
	memcpy(b->point.uuid, b->who.uuid, sizeof b->point.uuid);
	memcpy(b->point.prev, prev.bytes, sizeof b->point.prev);
	memcpy(b->point.public_key, b->who.key->public_key, sizeof b->point.public_key);
	for (unsigned t = 0; t < ROWS_TABLES; t++)
		b->point.range[t].first = last.range[t].first + last.range[t].count;
	b->chain = b->who.chain;
	b->journal = b->who.journal;
	b->has_closing = false;
	merkle_init(&b->tree);
	begin_anew(b);
	return 0;
}

/* Keeps an intent, as the body of a CARRY entry. */
static int wait_for_outcome(struct batch *b, uint64_t index, uint64_t intent, uint16_t slot,
                            const uint8_t *body, size_t len_bytes)
{
	struct batch_waiting *w = &b->waiting[slot];
	size_t need = sizeof intent + len_bytes;

	if (need > w->cap_bytes) {
		uint8_t *more = realloc(w->carry, need);

		if (!more)
			return -ERR_NOMEM;
		w->carry = more;
		w->cap_bytes = need;
	}
	if (slot >= b->slots)
		b->slots = slot + 1u;
	memcpy(w->carry, &intent, sizeof intent);
	memcpy(w->carry + sizeof intent, body, len_bytes);
	w->len_bytes = need;
	w->used = true;
	w->intent = intent;
	w->home = index;
	return 0;
}

void batch_identify(struct batch *b, uint64_t session, uint64_t signer)
{
	b->who.session = session;
	b->who.signer = signer;
	b->point.session = session;
	b->point.signer = signer;
}

static int entry_intent(struct batch *b, uint64_t index, const struct journal_entry *e)
{
	struct record r;
	int err = record_decode(&r, e->body, e->head.len_bytes);

	return err ? err
	           : wait_for_outcome(b, index, index, e->head.slot, e->body, e->head.len_bytes);
}

static int entry_carry(struct batch *b, uint64_t index, const struct journal_entry *e)
{
	struct batch_waiting *w = &b->waiting[e->head.slot];
	struct record r;
	uint64_t intent;

	if (e->head.len_bytes < sizeof intent)
		return -ERR_FORMAT;
	memcpy(&intent, e->body, sizeof intent);
	if (record_decode(&r, e->body + sizeof intent, e->head.len_bytes - sizeof intent) != 0 ||
	    intent >= index)
		return -ERR_FORMAT;
	if (w->used && w->intent == intent) {
		w->home = index;
		return 0;
	}
	/* In recovery it may be the only copy that is left. */
	if (!b->who.recovered)
		return -ERR_FORMAT;
	return wait_for_outcome(b, index, intent, e->head.slot, e->body + sizeof intent,
	                        e->head.len_bytes - sizeof intent);
}

static int entry_outcome(struct batch *b, uint64_t index, const struct journal_entry *e)
{
	struct batch_waiting *w = &b->waiting[e->head.slot];
	struct record_outcome o = {0};
	struct record r;
	int err;

	if (e->head.len_bytes != sizeof o && e->head.len_bytes != RECORD_OUTCOME_BYTES)
		return -ERR_FORMAT;
	memcpy(&o, e->body, e->head.len_bytes);
	if (!w->used || w->intent != o.intent) {
		b->orphans += index >= b->who.journal;
		return index < b->who.journal || b->who.recovered ? 0 : -ERR_FORMAT;
	}
	w->used = false;
	if (index < b->who.journal)
		return 0;
	err = record_decode(&r, w->carry + sizeof o.intent, w->len_bytes - sizeof o.intent);
	return err ? err : batch_put_outcome(b, &r, &o, e->head.len_bytes == sizeof o);
}

static int entry_note(struct batch *b, uint64_t index, const struct journal_entry *e)
{
	struct record r;
	int err = record_decode(&r, e->body, e->head.len_bytes);

	if (err || index < b->who.journal)
		return err;
	return batch_event(b, &r, r.head.result);
}

static int entry_opening(struct batch *b, uint64_t index, const struct journal_entry *e)
{
	(void)b;
	(void)e;
	return index ? -ERR_FORMAT : 0; /* its row was made when it was written */
}

static int entry_end(struct batch *b, uint64_t index, const struct journal_entry *e)
{
	(void)b;
	(void)index;
	return e->head.len_bytes ? -ERR_FORMAT : 0;
}

int batch_entry(struct batch *b, uint64_t index, const struct journal_entry *e)
{
	static int (*const by_type[])(struct batch *, uint64_t, const struct journal_entry *) = {
		[RECORD_INTENT] = entry_intent, [RECORD_OUTCOME] = entry_outcome,
		[RECORD_NOTE] = entry_note,     [RECORD_CARRY] = entry_carry,
		[RECORD_END] = entry_end,       [RECORD_OPENING] = entry_opening,
	};
	int err;

	if (e->head.type < RECORD_INTENT || e->head.type >= RECORD_TYPES ||
	    e->head.slot >= BATCH_SLOTS)
		return -ERR_FORMAT;
	err = by_type[e->head.type](b, index, e);
	if (!err && index >= b->journal)
		b->journal = index + 1;
	return err;
}

bool batch_full(const struct batch *b)
{
	return b->point.range[ROWS_EVENTS].count >= BATCH_EVENTS_MAX;
}

int batch_event(struct batch *b, const struct record *r, int64_t result)
{
	struct record_outcome o = {.mono_ns = r->head.mono_ns, .result = result};

	return batch_put_outcome(b, r, &o, false);
}

uint64_t batch_orphans(const struct batch *b)
{
	return b->orphans;
}

bool batch_unknown_fits(const struct batch *b)
{
	uint64_t rows = b->point.range[ROWS_EVENTS].count;

	for (unsigned i = 0; i < b->slots; i++)
		rows += b->waiting[i].used;
	return rows < BATCH_EVENTS_MAX;
}

int batch_unknown(struct batch *b)
{
	for (unsigned i = 0; i < b->slots; i++) {
		struct batch_waiting *w = &b->waiting[i];
		struct record r;
		int err;

		if (!w->used)
			continue;
		err = record_decode(&r, w->carry + sizeof w->intent,
		                    w->len_bytes - sizeof w->intent);
		if (!err)
			err = batch_put_outcome(b, &r, NULL, false);
		if (err)
			return err;
		w->used = false;
	}
	return 0;
}

int batch_opening(struct batch *b, const struct rows_opening *o)
{
	chain_opening(&b->chain, o, NULL);
	merkle_add(&b->tree, &b->chain);
	b->point.kind |= ROWS_OPENING;
	return 0;
}

int batch_close(struct batch *b, struct rows_closing *c)
{
	c->session = b->who.session;
	c->at_us = batch_since_opening_us(b, clock_mono_ns());
	b->closing = *c;
	b->has_closing = true;
	b->point.kind |= ROWS_CLOSING;
	return 0;
}

static int put_actors(struct batch *b)
{
	int err = 0;

	for (uint64_t i = 0; !err && i < b->point.range[ROWS_ACTORS].count; i++) {
		chain_actor(&b->chain, &b->actor_rows[i], NULL);
		merkle_add(&b->tree, &b->chain);
		err = store_put_actor(b->store, &b->actor_rows[i], chain_mark(&b->chain));
	}
	return err;
}

static int put_acts(struct batch *b)
{
	int err = 0;

	for (uint64_t i = 0; !err && i < b->point.range[ROWS_ACTS].count; i++) {
		chain_act(&b->chain, &b->act_rows[i].row, NULL);
		merkle_add(&b->tree, &b->chain);
		err = store_put_act(b->store, &b->act_rows[i].row, chain_mark(&b->chain));
	}
	return err;
}

static int put_details(struct batch *b)
{
	int err = 0;

	for (uint64_t i = 0; !err && i < b->point.range[ROWS_DETAILS].count; i++) {
		chain_detail(&b->chain, &b->detail_rows[i], NULL);
		merkle_add(&b->tree, &b->chain);
		err = store_put_detail(b->store, &b->detail_rows[i], chain_mark(&b->chain));
	}
	return err;
}

static int put_events(struct batch *b)
{
	int err = 0;

	for (uint64_t i = 0; !err && i < b->point.range[ROWS_EVENTS].count; i++) {
		chain_event(&b->chain, &b->event_rows[i], NULL);
		merkle_add(&b->tree, &b->chain);
		err = store_put_event(b->store, &b->event_rows[i], chain_mark(&b->chain));
	}
	return err;
}

static int put_closing(struct batch *b)
{
	if (!b->has_closing)
		return 0;
	chain_closing(&b->chain, &b->closing, NULL);
	merkle_add(&b->tree, &b->chain);
	return store_put_closing(b->store, &b->closing, chain_mark(&b->chain));
}

static int put_checkpoint(struct batch *b)
{
	struct rows_checkpoint *p = &b->point;
	uint64_t mono_us = clock_mono_ns() / 1000;
	uint64_t wall_us = clock_wall_ns() / 1000;
	struct chain_hash root;
	int err;

	p->at_us = batch_since_opening_us(b, mono_us * 1000);
	p->skew_us = (int64_t)(wall_us - b->who.opened_us) - (int64_t)(mono_us - b->who.mono_us);
	p->journal = b->journal;
	merkle_root(&b->tree, &root);
	memcpy(p->root, root.bytes, sizeof p->root);
	memcpy(p->chain, b->chain.bytes, sizeof p->chain);
	err = chain_checkpoint_sign(p, b->who.key->secret);
	return err ? err : store_put_checkpoint(b->store, p);
}

int batch_commit(struct batch *b)
{
	static int (*const steps[])(struct batch *) = {put_actors, put_acts,    put_details,
	                                               put_events, put_closing, put_checkpoint};
	int err = 0;

	if (!b->tree.leaves && !b->point.range[ROWS_EVENTS].count && !b->has_closing) {
		store_rollback(b->store);
		return 0;
	}
	for (size_t i = 0; !err && i < sizeof steps / sizeof steps[0]; i++)
		err = steps[i](b);
	if (!err)
		err = store_commit(b->store);
	if (err) {
		store_rollback(b->store);
		return err;
	}
	if (b->point.kind & ROWS_ANEW)
		b->since_anew = 0;
	b->since_anew += b->point.range[ROWS_EVENTS].count;
	b->who.chain = b->chain;
	b->who.next_seq += b->point.range[ROWS_EVENTS].count;
	b->who.journal = b->journal;
	return 0;
}

void batch_rollback(struct batch *b)
{
	store_rollback(b->store);
}

uint64_t batch_waiting_oldest(const struct batch *b, uint64_t from, uint16_t *slot)
{
	uint64_t oldest = UINT64_MAX;

	for (unsigned i = 0; i < b->slots; i++) {
		uint64_t home = b->waiting[i].home;

		if (b->waiting[i].used && home >= from && home < oldest) {
			oldest = home;
			*slot = (uint16_t)i;
		}
	}
	return oldest;
}

const uint8_t *batch_waiting_body(const struct batch *b, uint16_t slot, size_t *len_bytes,
                                  uint64_t *intent)
{
	*intent = b->waiting[slot].intent;
	*len_bytes = b->waiting[slot].len_bytes;
	return b->waiting[slot].carry;
}

void batch_waiting_moved(struct batch *b, uint16_t slot, uint64_t index)
{
	b->waiting[slot].home = index;
}

int batch_anchor(const struct batch *b, struct anchor *out)
{
	out->checkpoint = b->point.id;
	return chain_checkpoint_hash(&b->point, &out->hash);
}

void batch_totals(const struct batch *b, struct batch_totals *out)
{
	*out = b->totals;
}
