/* audit: what a session puts on record is in the store when it has ended. */
#include "audit/audit.h"
#include "audit/columns.h"
#include "audit/store.h"
#include "base/buf.h"
#include "tests/unit/session.h"
#include "tests/unit/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/wary-unit-XXXXXX";

static struct audit_event event_of(const char *object)
{
	return (struct audit_event){
		.kind = AUDIT_DECISION,
		.class = CLASS_READ,
		.answer = ANSWER_ALLOW,
		.rule_file = "default.wary",
		.rule_line = 12,
		.rule_text = "allow read /usr/**",
		.pid = 100,
		.tid = 101,
		.ppid = 99,
		.uid = 1000,
		.program = "/usr/bin/node",
		.syscall = "openat",
		.object = object,
		.flags = 0x80000,
	};
}

static char *ask_store(const char *db, const char *sql)
{
	struct store *s = NULL;
	char *why = NULL;
	sqlite3_stmt *stmt = NULL;
	struct buf out = BUF_INIT;

	if (store_open(db, STORE_READ, &s, &why) != 0)
		return why;
	if (sqlite3_prepare_v2(store_db(s), sql, -1, &stmt, NULL) != SQLITE_OK)
		buf_str(&out, store_why(s));
	while (stmt && sqlite3_step(stmt) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(stmt); i++) {
			const char *text = (const char *)sqlite3_column_text(stmt, i);

			buf_fmt(&out, "%s%s", out.len_bytes ? "|" : "", text ? text : "NULL");
		}
	sqlite3_finalize(stmt);
	store_close(s);
	return buf_take(&out);
}

static void check(const char *db, const char *sql, const char *want, const char *what)
{
	char *got = ask_store(db, sql);

	tap_is_str(got, want, "%s", what);
	free(got);
}

static void check_ordinary(const char *db)
{
	static const char *const argv[] = {"sh", "-c", "echo 'x'", "", NULL};
	struct audit *a = session_open(db);
	struct audit_event e = event_of("/usr/lib/node_modules/npm/lib/cli.js");
	struct audit_event deny = event_of("/home/ana/.ssh/id_ed25519");
	struct audit_event exec = event_of("/bin/sh");
	struct receipt *first;
	struct receipt *second;
	struct audit_totals totals;

	if (!a)
		return;
	first = audit_intent(a, &e);
	e.object = "/usr/lib/node_modules/npm/lib/\xff.js";
	second = audit_intent(a, &e);
	tap_ok(first && second && first != second, "intents give receipts of their own");
	deny.answer = ANSWER_DENY;
	tap_is_int(audit_note(a, &deny, -13), 0, "a denial is noted");
	exec.class = CLASS_EXEC;
	exec.argv = argv;
	exec.argc = 4;
	exec.cwd = "/home/ana/src";
	tap_is_int(audit_note(a, &exec, 0), 0, "an exec is noted");
	tap_is_int(audit_outcome(a, second, -2), 0, "outcomes may come in another order");
	tap_is_int(audit_outcome(a, first, 3), 0, "and all are taken");
	audit_totals(a, &totals);
	tap_ok(totals.decisions == 4 && totals.refused == 1 && !totals.dropped, "totals");
	tap_is_int(audit_close(a, 0, "exited"), 0, "the session closes");
	check(db, "SELECT count(*), min(seq), max(seq) FROM decisions", "4|1|4",
	      "every decision is one row");
	check(db,
	      "SELECT object, result, pid, tid, program, rule_line FROM decisions"
	      " WHERE result = 3",
	      "/usr/lib/node_modules/npm/lib/cli.js|3|100|101|/usr/bin/node|12", "its fields");
	check(db, "SELECT argv, cwd FROM decisions WHERE class = 'exec'",
	      "sh -c $'echo \\'x\\'' ''|/home/ana/src", "argv is quoted");
	check(db, "SELECT typeof(text), hex(text) FROM string WHERE hex(text) LIKE 'FF%'",
	      "blob|FF2E6A73", "what is not UTF-8 is a BLOB");
	check(db, "SELECT command, decisions, refused, status, reason, open FROM sessions",
	      "npm install 'a b'|4|1|0|exited|0", "the session");
	check(db, "SELECT count(*), sum(kind) FROM checkpoint", "2|3", "two checkpoints");
}

static void check_many(const char *db)
{
	struct audit *a = session_open(db);
	char object[64];
	bool all = true;

	if (!a)
		return;
	for (unsigned i = 0; i < 50000 && all; i++) {
		struct audit_event e = event_of(object);
		struct receipt *r;

		snprintf(object, sizeof object, "/srv/project/folder%u/file%u", i % 100, i % 500);
		r = audit_intent(a, &e);
		all = r && audit_outcome(a, r, 0) == 0;
	}
	tap_ok(all, "50,000 decisions are taken");
	tap_is_int(audit_close(a, 256, "exited"), 0, "the session closes");
	check(db, "SELECT decisions FROM sessions WHERE status = 256", "50000",
	      "and all are counted");
	check(db,
	      "SELECT count(DISTINCT object) FROM decisions d, sessions s"
	      " WHERE s.session = d.session AND status = 256",
	      "500", "with their objects");
	check(db, "SELECT count(*) FROM string WHERE text LIKE 'file%'", "500", "each name once");
}

int main(void)
{
	struct buf db = BUF_INIT;
	char command[128];

	if (!mkdtemp(folder) || setenv("XDG_STATE_HOME", folder, 1) != 0)
		return 1;
	buf_fmt(&db, "%s/wary/wary.db", folder);
	check_ordinary(buf_text(&db));
	check_many(buf_text(&db));
	snprintf(command, sizeof command, "rm -r '%s'", folder);
	if (system(command) != 0)
		tap_note("not removed");
	buf_free(&db);
	return tap_done();
}
