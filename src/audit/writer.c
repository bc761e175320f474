/* The writer's thread: from the journal into the store, in group commits. */
#include "audit/audit_inside.h"

#include "audit/head.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "base/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define POLL_MS 20
#define IDLE_MS 1000
/* A batch is due when so many entries wait, or the oldest so long. */
#define DUE_ENTRIES (BATCH_EVENTS_MAX / 2)
#define DUE_NS ((uint64_t)200 * 1000000)
/* Without entries for so long the writer sleeps until one comes. */
#define DROWSY_POLLS 50

/* Copies one intent that waits to the journal's end, so that the segment it
 * lies in can be given back.  Returns 0, -ERR_NOTFOUND where its outcome is in
 * the journal already, or what failed. */
static int carry(struct audit *a, uint16_t slot)
{
	size_t len = 0;
	uint64_t intent = 0;
	const uint8_t *body = batch_waiting_body(a->batch, slot, &len, &intent);
	uint8_t *bytes = malloc(journal_entry_bytes(len));
	struct journal_frame f = {
		.bytes = bytes,
		.len_bytes = len,
		.type = RECORD_CARRY,
		.slot = slot,
		.never_wait = true,
		.intent = intent,
	};
	uint64_t index;
	int err;

	if (!bytes)
		return -ERR_NOMEM;
	memcpy(bytes + sizeof(struct journal_entry_head), body, len);
	err = journal_append(a->journal, &f, &index);
	if (!err)
		batch_waiting_moved(a->batch, slot, index);
	free(bytes);
	return err;
}

static int give_back(struct audit *a)
{
	uint64_t first = journal_read_segment_first(a->journal);
	uint64_t keep = first;
	uint16_t slot = 0;
	uint64_t home;

	/* Where its outcome lies in what is still unread the intent stays as well:
	 * the next batch has both. */
	for (uint64_t from = 0; (home = batch_waiting_oldest(a->batch, from, &slot)) < first;) {
		int err = carry(a, slot);

		if (err && err != -ERR_NOTFOUND)
			return err;
		if (err && home < keep)
			keep = home;
		from = home + 1;
	}
	journal_release(a->journal, keep);
	return 0;
}

/* Where another program holds the store (a prune that is stopped, a long VACUUM) nothing
 * is lost while the journal has room: it is tried again and again.  When callers find no
 * room they wait, for one more try.  At the end nobody does: then it is left in the
 * journal, to the next start. */
static int begin(struct audit *a)
{
	auto_free char *shown = NULL;
	bool pressed = false;
	int err;

	while ((err = batch_begin(a->batch)) == -ERR_BUSY && !pressed && !atomic_load(&a->ending) &&
	       !journal_failed(a->journal)) {
		pressed = journal_pressed(a->journal);
		if (!shown && (shown = text_printable_str(a->db, 0)))
			log_error("what is decided waits in the journal: another program holds "
			          "the record locked (%s); fuser -v on it and on its .live folder "
			          "shows which",
			          shown);
	}
	return err;
}

/* Begins a batch and feeds it with what the journal has, as far as it goes. */
static int feed(struct audit *a)
{
	struct journal_entry e;
	uint64_t index;
	int err = begin(a);

	if (err)
		return err;
	while (!err && !batch_full(a->batch) && journal_read(a->journal, &index, &e))
		err = batch_entry(a->batch, index, &e);
	if (!err && journal_failed(a->journal))
		err = -ERR_RECORD;
	if (err)
		batch_rollback(a->batch);
	return err;
}

static int drain(struct audit *a)
{
	int err = feed(a);

	if (!err)
		err = batch_commit(a->batch);
	return err ? err : give_back(a);
}

/* The last batch's last rows. */
static int seal(struct audit *a)
{
	struct batch_totals totals;

	batch_totals(a->batch, &totals);
	a->closing.decisions = totals.decisions;
	a->closing.refused = totals.refused;
	a->closing.asked = totals.asked;
	a->closing.grants = totals.grants;
	return batch_close(a->batch, &a->closing);
}

/* One of the last batches. @sealed: set where it was the very last. */
static int finish(struct audit *a, bool *sealed)
{
	int err = feed(a);

	if (err)
		return err;
	/* What no worker has finished when the session ends. */
	*sealed = !journal_unread(a->journal) && batch_unknown_fits(a->batch);
	if (*sealed)
		err = batch_unknown(a->batch);
	if (!err && *sealed)
		err = seal(a);
	if (err)
		batch_rollback(a->batch);
	return err ? err : batch_commit(a->batch);
}

static int end_session(struct audit *a)
{
	struct anchor seen;
	bool sealed = false;
	int err = 0;

	while (!err && !sealed)
		err = finish(a, &sealed);
	if (!err)
		store_settle(a->store);
	if (!err)
		err = batch_anchor(a->batch, &seen);
	/* Before the journal goes: a store whose log is lost in between is still told
	 * from one that never had it.  Without it the one before stays, which is
	 * less to go by, and nothing false. */
	if (!err && head_write(a->db, &seen) != 0)
		log_detail("the record's head could not be written: %s", strerrordesc_np(errno));
	return err ? err : journal_remove(a->journal);
}

/* Waits until a batch is due. Returns whether the session goes on. */
static bool wait_until_due(struct audit *a)
{
	uint64_t since_ns = 0;
	unsigned idle = 0;

	while (!atomic_load(&a->ending) && !journal_failed(a->journal)) {
		uint64_t unread = journal_unread(a->journal);

		if (!unread) {
			since_ns = 0;
			idle++;
		} else if (!since_ns) {
			since_ns = clock_mono_ns();
		}
		if (unread >= DUE_ENTRIES || journal_pressed(a->journal) ||
		    (since_ns && clock_mono_ns() - since_ns >= DUE_NS))
			return true;
		journal_sleep(a->journal, idle > DROWSY_POLLS ? IDLE_MS : POLL_MS,
		              idle > DROWSY_POLLS);
	}
	return false;
}

static void *writer_main(void *arg)
{
	struct audit *a = arg;
	int err = store_calm(a->store, STORE_RUNNING);

	while (!err && wait_until_due(a))
		err = drain(a);
	if (!err)
		err = journal_failed(a->journal) ? -ERR_RECORD : end_session(a);
	a->write_err = err;
	if (err)
		audit_fail(a);
	return NULL;
}

int writer_start(struct audit *a)
{
	int err = thread_begin(&a->writer, NULL, writer_main, a);

	a->writer_runs = !err;
	return err;
}

int writer_finish(struct audit *a)
{
	if (!a->writer_runs)
		return 0;
	atomic_store(&a->ending, true);
	journal_wake(a->journal);
	pthread_join(a->writer, NULL);
	a->writer_runs = false;
	return a->write_err;
}
