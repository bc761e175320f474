/* How far the record reaches: sessions without an end, and anchors. */
#include "audit/folder.h"
#include "audit/verify_inside.h"

#include "audit/head.h"
#include "base/clock.h"
#include "base/own.h"
#include "base/text.h"
#include "base/uses.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

USES(flock, open_read);

/* What has become of a session that has no closing record. */
enum end { END_RUNS, END_DIED, END_LOST, END_BEFORE_BOOT, END_ELSEWHERE };

/* A power cut takes rows that were not yet on the disk, and leaves what says
 * that they were there: no sign of a change, if it was before this start. */
static bool before_boot(uint64_t wall_us)
{
	return wall_us < (clock_wall_ns() - clock_ns(CLOCK_BOOTTIME)) / 1000;
}

/* Whether a session that had no end at the moment that is verified has one by now, or
 * has even been removed: its journal went with it. */
static bool ended_since(const struct verify *v, const struct verify_session *s)
{
	struct store *now = NULL;
	struct store_session session;
	auto_free char *why = NULL;
	sqlite3_stmt *stmt = NULL;
	bool there = false;
	bool ended = false;

	if (store_open(v->options->db, STORE_READ, &now, &why) != 0)
		return false;
	if (store_session_find(now, s->uuid, &session, &there) == 0 && there)
		ended = session.closed;
	else if (sqlite3_prepare_v2(store_db(now), "SELECT 1 FROM tombstone WHERE uuid = ?", -1,
	                            &stmt, NULL) == SQLITE_OK &&
	         sqlite3_bind_blob(stmt, 1, s->uuid, sizeof s->uuid, SQLITE_STATIC) == SQLITE_OK)
		ended = sqlite3_step(stmt) == SQLITE_ROW;
	sqlite3_finalize(stmt);
	store_close(now);
	return ended;
}

static enum end end_of(struct verify *v, const struct verify_session *s)
{
	auto_buf path = BUF_INIT;
	auto_fd folder = -1;
	auto_fd fd = -1;
	bool missing;

	folder_journals(&path, v->options->db);
	folder = open(buf_text(&path) ? path.data : "", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return END_ELSEWHERE;
	buf_reset(&path);
	text_hex(&path, s->uuid, sizeof s->uuid);
	fd = openat(folder, buf_text(&path) ? path.data : "", O_RDONLY | O_CLOEXEC);
	missing = fd < 0 && errno == ENOENT;
	if (missing && ended_since(v, s))
		return END_RUNS;
	if (missing)
		return before_boot(s->opened_us) ? END_BEFORE_BOOT : END_LOST;
	if (fd < 0)
		return END_DIED;
	return flock(fd, LOCK_SH | LOCK_NB) == 0 ? END_DIED : END_RUNS;
}

static void check_end(struct verify *v, const struct verify_session *s)
{
	static const char *const says[] = {
		[END_RUNS] = "is still running: this is what it has recorded so far",
		[END_DIED] = "died and is not recovered yet: its last decisions are still in its "
			     "journal",
		[END_BEFORE_BOOT] = "has no end: a power cut or somebody took its last rows",
		[END_ELSEWHERE] = "has no closing record: whether more followed cannot be told "
				  "from this copy",
	};
	enum end end = end_of(v, s);

	if (end == END_LOST)
		verify_wrong(v,
		             "the end of session %s is missing: it has neither a closing record "
		             "nor a journal",
		             s->name);
	else
		verify_note(v, "session %s %s", s->name, says[end]);
}

void verify_anchors_begin(struct verify *v)
{
	const struct verify_options *o = v->options;
	struct anchor head;
	uint64_t seen_us = 0;
	bool has_head = head_read(o->db, &head, &seen_us) == 0;

	v->anchors = calloc(o->anchors_n + 1, sizeof *v->anchors);
	if (!v->anchors) {
		v->err = -ERR_NOMEM;
		return;
	}
	for (size_t i = 0; i < o->anchors_n; i++)
		v->anchors[v->anchors_n++] = (struct verify_anchor){.anchor = o->anchors[i]};
	if (has_head)
		v->anchors[v->anchors_n++] =
			(struct verify_anchor){.anchor = head, .is_head = true, .seen_us = seen_us};
}

void verify_anchors_at(struct verify *v, uint64_t checkpoint, const struct chain_hash *hash)
{
	for (size_t i = 0; i < v->anchors_n; i++) {
		struct verify_anchor *a = &v->anchors[i];

		if (a->anchor.checkpoint != checkpoint)
			continue;
		a->seen = true;
		if (memcmp(&a->anchor.hash, hash, sizeof *hash) != 0)
			verify_wrong(v,
			             "checkpoint %llu is not the one that %s: this is another "
			             "history",
			             (unsigned long long)checkpoint,
			             a->is_head ? "this machine saw here" : "the anchor is of");
	}
}

static void check_anchors(struct verify *v)
{
	for (size_t i = 0; i < v->anchors_n; i++) {
		const struct verify_anchor *a = &v->anchors[i];

		if (!a->seen && a->is_head && before_boot(a->seen_us))
			verify_note(v,
			            "checkpoint %llu, which this machine saw here before it was "
			            "restarted, is missing: a power cut or somebody took the end",
			            (unsigned long long)a->anchor.checkpoint);
		else if (!a->seen)
			verify_wrong(v,
			             "checkpoint %llu, which %s, is missing: the end was cut off, "
			             "or an older copy put back",
			             (unsigned long long)a->anchor.checkpoint,
			             a->is_head ? "this machine saw here" : "the anchor is of");
	}
}

void verify_ends(struct verify *v)
{
	for (size_t i = 0; i < v->sessions_n; i++)
		if (!v->sessions[i].closed && verify_wants(v, v->sessions[i].id))
			check_end(v, &v->sessions[i]);
	check_anchors(v);
}
