/* Inside batch: for batch.c and batch_rows.c only. */
#ifndef WARY_AUDIT_BATCH_INSIDE_H
#define WARY_AUDIT_BATCH_INSIDE_H

#include "audit/batch.h"
#include "audit/intern.h"
#include "audit/merkle.h"
#include "audit/record.h"

#define BATCH_SYSCALL_MAX_BYTES 31

/* An intent that waits for its outcome; kept as the body of a CARRY entry. */
struct batch_waiting {
	bool used;
	uint64_t intent; /* index of the first entry */
	uint64_t home;   /* index of the latest copy */
	uint8_t *carry;
	size_t len_bytes;
	size_t cap_bytes;
};

struct batch_act {
	struct rows_act row;
	char syscall[BATCH_SYSCALL_MAX_BYTES + 1];
};

/* A text and its id. */
struct batch_text {
	uint64_t id; /* 0: none yet */
	size_t len_bytes;
	char bytes[192];
};

/* Most of it is never used: it is mapped, and so taken page by page. */
struct batch_room {
	struct batch_waiting waiting[BATCH_SLOTS];
	struct rows_actor actor_rows[BATCH_EVENTS_MAX];
	struct batch_act act_rows[BATCH_EVENTS_MAX];
	struct rows_detail detail_rows[BATCH_EVENTS_MAX];
	struct rows_event event_rows[BATCH_EVENTS_MAX];
};

struct batch {
	struct store *store;
	struct batch_identity who;
	struct intern *strings, *actors, *acts;
	/* What the last event had: the next often has the same program, rule, folder. */
	struct batch_text last[RECORD_TEXTS];
	struct batch_room *room;
	struct batch_waiting *waiting; /* BATCH_SLOTS, as the rows below: in @room */
	unsigned slots;                /* as many as have ever been used */
	struct batch_totals totals;
	uint64_t orphans;
	uint64_t since_anew; /* events since actors were forgotten */
	/* The batch under way. */
	struct rows_checkpoint point;
	struct chain_hash chain;
	struct merkle tree;
	uint64_t journal;
	struct rows_actor *actor_rows; /* BATCH_EVENTS_MAX of each */
	struct batch_act *act_rows;
	struct rows_detail *detail_rows;
	struct rows_event *event_rows;
	bool has_closing;
	struct rows_closing closing;
};

/** batch_since_opening_us: of a monotonic time, 0 where it was before. */
uint64_t batch_since_opening_us(const struct batch *b, uint64_t mono_ns);

/** batch_put_outcome: a row of an event that began at its head's time, and whatever it
 * refers to that is not in the store yet.
 * @o: what became of it; NULL: not known.
 * @has_size: whether @o says what was taken away; a store of version 1 has no place for it.
 * Returns 0, -ERR_FORMAT or a store_ error. */
must_check int batch_put_outcome(struct batch *b, const struct record *r,
                                 const struct record_outcome *o, bool has_size);

#endif
