/* audit/reach: no row of an actor is in a batch that would be passed over, whoever it is; and
 * batches are passed over. */
#include "audit/audit.h"
#include "audit/reach.h"
#include "base/buf.h"
#include "tests/unit/scratch.h"
#include "tests/unit/session.h"
#include "tests/unit/tap.h"

#include <sqlite3.h>
#include <stdlib.h>

#define EVENTS 15000 /* more than three batches can have */

static char folder[] = "/tmp/wary-unit-XXXXXX";

/* Pids: 1 is there all the time, 2 at the beginning, 3 at the end, 4 at both, 5 in the other
 * session only, 6 in both sessions, at their beginnings. */
static bool note(struct audit *a, pid_t pid, const char *program)
{
	const struct audit_event e = {
		.kind = AUDIT_DECISION,
		.class = CLASS_READ,
		.answer = ANSWER_ALLOW,
		.rule_text = "allow read /usr/**",
		.pid = pid,
		.tid = pid,
		.program = program,
		.syscall = "openat",
		.object = "/usr/lib/node_modules/npm/lib/cli.js",
	};

	return audit_note(a, &e, 0) == 0;
}

static bool one(struct audit *a, struct audit *b, unsigned n)
{
	bool first = n < 100;
	bool last = n >= EVENTS - 100;
	bool right = note(a, 1, "/bin/sh");

	if (first)
		right &= note(a, 2, "/bin/cat") && note(a, 6, "/bin/sh") && note(b, 6, "/bin/sh");
	if (last)
		right &= note(a, 3, "/bin/cat");
	if (first || last)
		right &= note(a, 4, "/bin/ls");
	return right && (n % 50 || note(b, 5, "/bin/ls"));
}

static bool make(const char *db)
{
	struct audit *a = session_open(db);
	struct audit *b = session_open(db);
	bool right = a && b;

	for (unsigned n = 0; right && n < EVENTS; n++)
		right = one(a, b, n);
	return right && audit_close(a, 0, "exited") == 0 && audit_close(b, 0, "exited") == 0;
}

static int64_t number(struct store *s, const char *before, const char *condition)
{
	struct buf sql = BUF_INIT;
	sqlite3_stmt *stmt = NULL;
	int64_t n = -1;

	buf_fmt(&sql, "%s WHERE %s", before, condition);
	if (sqlite3_prepare_v2(store_db(s), buf_text(&sql), -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		n = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	buf_free(&sql);
	return n;
}

/* The batches that have rows of the actors, by looking at every row. */
#define BATCHES_WITH                                                                        \
	"SELECT DISTINCT c.id FROM checkpoint c JOIN event e ON e.id BETWEEN c.first_event" \
	" AND c.first_event + c.events - 1 JOIN actor w ON w.id = e.actor"

static void check(struct store *s, const char *condition)
{
	struct reach *r = NULL;
	struct buf sql = BUF_INIT;
	sqlite3_stmt *stmt = NULL;
	int64_t last = number(s, "SELECT max(id) FROM checkpoint", "1");
	int64_t reached = 0;
	int64_t with = 0;
	bool all = true;

	tap_is_int(reach_find(s, condition, &r), 0, "where rows of %s can be", condition);
	buf_fmt(&sql, BATCHES_WITH " WHERE %s", condition);
	if (r && sqlite3_prepare_v2(store_db(s), buf_text(&sql), -1, &stmt, NULL) == SQLITE_OK)
		for (; sqlite3_step(stmt) == SQLITE_ROW; with++)
			all &= reach_has(r, (uint64_t)sqlite3_column_int64(stmt, 0));
	tap_ok(r && all, "they are there, in %d batches", (int)with);
	for (int64_t id = 1; r && id <= last; id++)
		reached += reach_has(r, (uint64_t)id);
	/* Where rows may still follow in batches that have none: up to 8,192 events, and those
	 * of two sessions. */
	tap_ok(reached >= with && (with == last || reached < last), "%d of %d batches are read",
	       (int)reached, (int)last);
	tap_ok(r && reach_has(r, (uint64_t)last + 1), "and one that comes meanwhile");
	sqlite3_finalize(stmt);
	buf_free(&sql);
	reach_free(r);
}

static void check_store(struct store *s)
{
	static const char *const conditions[] = {
		"w.pid = 1", "w.pid = 2",
		"w.pid = 3", "w.pid = 4",
		"w.pid = 5", "w.pid IN (2, 5)",
		"w.pid = 6", "w.pid IN (2, 3, 6)",
		"w.pid = 7", "w.program IN (SELECT id FROM string WHERE text LIKE '%cat')"};
	int64_t anew = number(s, "SELECT count(*) FROM checkpoint", "kind & 8");

	tap_ok(anew >= 2, "a long session begins anew: %d times", (int)anew);
	for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++)
		check(s, conditions[i]);
	tap_is_int(number(s, "SELECT count(*) FROM actor", "pid = 2"), 1,
	           "an actor has one row where it was gone");
	tap_ok(number(s, "SELECT count(*) FROM actor", "pid = 1") == anew + 1,
	       "and one more each time where it was not");
}

int main(void)
{
	struct buf db = BUF_INIT;
	struct store *s = NULL;
	char *why = NULL;

	if (!mkdtemp(folder) || setenv("XDG_STATE_HOME", folder, 1) != 0)
		return 1;
	buf_fmt(&db, "%s/s.db", folder);
	tap_ok(make(buf_text(&db)), "two sessions at once");
	tap_is_int(store_open(buf_text(&db), STORE_READ, &s, &why), 0, "their store");
	if (s)
		check_store(s);
	store_close(s);
	free(why);
	buf_free(&db);
	tap_is_int(scratch_remove(folder), 0, "the folder goes");
	return tap_done();
}
