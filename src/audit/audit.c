#include "audit/audit_inside.h"

#include "audit/record.h"
#include "base/buf.h"
#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Entries up to this size are made on the stack. */
#define FRAME_BYTES 4096

const char *audit_session_id(const struct audit *a)
{
	return a->name;
}

void audit_fail(struct audit *a)
{
	static const uint64_t one = 1;

	if (atomic_exchange(&a->failed, true))
		return;
	if (a->journal)
		journal_fail(a->journal);
	while (write(a->failed_fd, &one, sizeof one) < 0 && errno == EINTR)
		;
}

bool audit_failed(const struct audit *a)
{
	return atomic_load(&a->failed);
}

int audit_failed_fd(const struct audit *a)
{
	return a->failed_fd;
}

void audit_set_sync(struct audit *a)
{
	a->sync = true;
}

void audit_set_redactor(struct audit *a,
                        bool (*redact)(void *ctx, const char *text, size_t len_bytes,
                                       struct buf *out),
                        void *ctx)
{
	a->redact = redact;
	a->redact_ctx = ctx;
}

void audit_totals(const struct audit *a, struct audit_totals *out)
{
	*out = (struct audit_totals){
		.decisions = atomic_load(&a->decisions),
		.refused = atomic_load(&a->refused),
		.asked = atomic_load(&a->asked),
		.grants = atomic_load(&a->grants),
	};
}

static void count(struct audit *a, const struct audit_event *e)
{
	bool decision = e->kind == AUDIT_DECISION;

	if (decision)
		atomic_fetch_add_explicit(&a->decisions, 1, memory_order_relaxed);
	if (decision && e->answer != ANSWER_ALLOW)
		atomic_fetch_add_explicit(&a->refused, 1, memory_order_relaxed);
	if (e->kind == AUDIT_QUESTION)
		atomic_fetch_add_explicit(&a->asked, 1, memory_order_relaxed);
	if (e->kind == AUDIT_GRANT)
		atomic_fetch_add_explicit(&a->grants, 1, memory_order_relaxed);
}

/* Copies of what the redactor changed. */
struct redacted {
	struct buf object, object2, cwd, argv;
};

static void redacted_free(struct redacted *r)
{
	buf_free(&r->object);
	buf_free(&r->object2);
	buf_free(&r->cwd);
	buf_free(&r->argv);
}

void audit_redact(struct audit *a, const char **text, struct buf *out)
{
	if (a->redact && *text && a->redact(a->redact_ctx, *text, strlen(*text), out))
		*text = buf_text(out);
}

void audit_quote_argv(struct audit *a, const char *const *argv, size_t argc, struct buf *out)
{
	struct buf one = BUF_INIT;

	for (size_t i = 0; i < argc; i++) {
		const char *arg = argv[i];

		buf_reset(&one);
		audit_redact(a, &arg, &one);
		if (!arg)
			out->failed = true;
		if (i)
			buf_chr(out, ' ');
		if (arg)
			record_quote(out, arg, strlen(arg));
	}
	buf_free(&one);
}

/* The event's pieces as they may be recorded; @room keeps what was made. */
static int pieces(struct audit *a, const struct audit_event *e, struct redacted *room,
                  struct record *out)
{
	struct audit_event shown = *e;
	const char *argv = NULL;
	int err;

	audit_redact(a, &shown.object, &room->object);
	audit_redact(a, &shown.object2, &room->object2);
	audit_redact(a, &shown.cwd, &room->cwd);
	if (e->argv) {
		audit_quote_argv(a, e->argv, e->argc, &room->argv);
		argv = buf_text(&room->argv);
	}
	if (room->object.failed || room->object2.failed || room->cwd.failed || room->argv.failed)
		return -ERR_NOMEM;
	err = record_from_event(out, &shown, argv);
	out->head.mono_ns = clock_mono_ns();
	return err;
}

/* Whether this event's entry waits for the disk under --audit-sync. */
static bool is_weighty(const struct audit_event *e)
{
	return e->answer != ANSWER_ALLOW || e->by_human || e->kind == AUDIT_GRANT ||
	       e->kind == AUDIT_PACKAGE || e->kind == AUDIT_QUESTION || e->class == CLASS_INSTALL ||
	       e->class == CLASS_SECRET;
}

static int append(struct audit *a, struct journal_frame *f, const struct record *r, uint64_t *index)
{
	_Alignas(8) uint8_t room[FRAME_BYTES];
	size_t need;
	uint8_t *large = NULL;
	int err;

	f->len_bytes = record_size(r);
	need = journal_entry_bytes(f->len_bytes);
	f->bytes = need > sizeof room ? large = malloc(need) : room;
	if (!f->bytes)
		return -ERR_NOMEM;
	record_encode(r, f->bytes + sizeof(struct journal_entry_head));
	err = journal_append(a->journal, f, index);
	free(large);
	f->bytes = NULL;
	return err;
}

static int put(struct audit *a, const struct audit_event *e, struct journal_frame *f,
               int64_t result, uint64_t *index)
{
	struct redacted room = {BUF_INIT, BUF_INIT, BUF_INIT, BUF_INIT};
	struct record r;
	int err;

	if (audit_failed(a))
		return -ERR_RECORD;
	err = pieces(a, e, &room, &r);
	r.head.result = result;
	if (!err)
		err = append(a, f, &r, index);
	if (!err && a->sync && is_weighty(e))
		err = journal_sync(a->journal);
	redacted_free(&room);
	if (err) {
		audit_fail(a);
		return -ERR_RECORD;
	}
	count(a, e);
	return 0;
}

struct receipt *audit_intent(struct audit *a, const struct audit_event *e)
{
	struct journal_frame f = {.type = RECORD_INTENT};
	uint64_t index;
	struct receipt *r;

	if (put(a, e, &f, 0, &index) != 0)
		return NULL;
	r = &a->receipts[f.slot];
	r->intent = index;
	r->slot = f.slot;
	return r;
}

int audit_outcome(struct audit *a, struct receipt *r, long result)
{
	static const struct audit_lost nothing;

	return audit_outcome_lost(a, r, result, &nothing);
}

int audit_outcome_lost(struct audit *a, struct receipt *r, long result,
                       const struct audit_lost *lost)
{
	struct {
		struct journal_entry_head head;
		struct record_outcome body;
		uint8_t tag[JOURNAL_TAG_BYTES];
	} entry = {
		.body = {r->intent, clock_mono_ns(), result, lost->size_before, lost->links_left}};
	struct journal_frame f = {
		.bytes = (uint8_t *)&entry,
		.len_bytes = lost->known ? sizeof entry.body : RECORD_OUTCOME_BYTES,
		.type = RECORD_OUTCOME,
		.slot = r->slot,
	};
	uint64_t index;

	if (audit_failed(a))
		return -ERR_RECORD;
	if (journal_append(a->journal, &f, &index) != 0) {
		audit_fail(a);
		return -ERR_RECORD;
	}
	return 0;
}

int audit_note(struct audit *a, const struct audit_event *e, long result)
{
	struct journal_frame f = {.type = RECORD_NOTE};
	uint64_t index;

	return put(a, e, &f, result, &index);
}
