/* answer/arrivals: what managers left is on record, also where there are many, or
 * where they hide it. */
#include "answer/arrivals.h"
#include "answer/arrivals_read.h"

#include "audit/audit.h"
#include "audit/columns.h"
#include "audit/store.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/own.h"
#include "package/said.h"
#include "package/touched.h"
#include "tests/unit/scratch.h"
#include "tests/unit/session.h"
#include "tests/unit/tap.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As many as have a place of their own (arrivals.c). */
#define RUNS 64

static char folder[] = "/tmp/wary-unit-XXXXXX";

static void write_in(const char *path, const char *name, const char *text)
{
	char file[400];
	FILE *f;

	snprintf(file, sizeof file, "%s/%s", path, name);
	f = fopen(file, "we");
	invariant(f != NULL && fputs(text, f) >= 0);
	invariant(fclose(f) == 0);
}

/* A package "node_modules/NAME" in a project; its path. */
static const char *package(const char *project, const char *name)
{
	static char path[256];
	char text[300];

	snprintf(path, sizeof path, "%s/%s", folder, project);
	(void)mkdir(path, 0755);
	snprintf(path, sizeof path, "%s/%s/node_modules", folder, project);
	(void)mkdir(path, 0755);
	snprintf(path, sizeof path, "%s/%s/node_modules/%s", folder, project, name);
	(void)mkdir(path, 0755);
	snprintf(text, sizeof text, "{\"name\":\"%s\",\"version\":\"1\"}", name);
	write_in(path, "package.json", text);
	return path;
}

/* Puts a link in place of a project's node_modules. */
static void hide(const char *project)
{
	char from[256];
	char to[256];

	snprintf(from, sizeof from, "%s/%s/node_modules", folder, project);
	snprintf(to, sizeof to, "%s/%s/apart", folder, project);
	tap_is_int(rename(from, to), 0, "node_modules is moved");
	tap_is_int(symlink("apart", from), 0, "and a link is there");
}

/* Sets that are full: what is met after that has a row all the same. */
static void overflow(struct arrivals *a)
{
	struct arrivals_run run = {.pid = getpid(), .manager = "npm"};
	uint32_t id = arrivals_begin(a, &run);
	char path[300];

	snprintf(path, sizeof path, "%s/three/node_modules/whole/node_modules", folder);
	(void)package("three", "whole");
	tap_is_int(mkdir(path, 0755), 0, "a package with its own node_modules");
	arrivals_touch(a, id, package("three", "whole"));
	arrivals_touch(a, id, package("three", "other"));
	for (unsigned i = 0; i < TOUCHED_MAX; i++) {
		snprintf(path, sizeof path, "%s/three/node_modules/.passing-%u", folder, i);
		arrivals_touch(a, id, path);
	}
}

/* Distributions that claim as many names as may be, and something of nobody. */
static void claim(struct arrivals *a)
{
	struct arrivals_run run = {.pid = getpid(), .manager = "pip"};
	uint32_t id = arrivals_begin(a, &run);
	char path[300];

	snprintf(path, sizeof path, "%s/site-packages", folder);
	(void)mkdir(path, 0755);
	for (unsigned i = 0; i <= TOUCHED_MAX / SAID_NAMES_MAX; i++) {
		auto_buf record = BUF_INIT;

		snprintf(path, sizeof path, "%s/site-packages/d%u-1.dist-info", folder, i);
		(void)mkdir(path, 0755);
		arrivals_touch(a, id, path);
		for (unsigned k = 0; k < SAID_NAMES_MAX; k++)
			buf_fmt(&record, "d%u_%u,,\n", i, k);
		write_in(path, "RECORD", buf_text(&record));
		write_in(path, "METADATA", "Name: d\nVersion: 1\n");
	}
	snprintf(path, sizeof path, "%s/site-packages", folder);
	write_in(path, "nobodys.py", "x");
	snprintf(path, sizeof path, "%s/site-packages/nobodys.py", folder);
	arrivals_touch(a, id, path);
}

static void fill(struct arrivals *a)
{
	struct arrivals_run run = {.pid = getpid(), .manager = "npm"};
	uint32_t first = 0;
	uint32_t id = 0;
	bool all = true;

	for (unsigned i = 2; i < RUNS; i++) {
		id = arrivals_begin(a, &run);
		first = first ? first : id;
		all = all && id && id != ARRIVALS_LATE;
	}
	tap_ok(all, "so many runs have a number of their own");
	arrivals_touch(a, first, package("one", "first"));
	arrivals_touch(a, id, package("one", "last"));
	id = arrivals_begin(a, &run);
	tap_ok(id == ARRIVALS_LATE, "one more is late");
	arrivals_touch(a, id, package("one", "beyond"));
	arrivals_touch(a, id, package("two", "hidden"));
	hide("two");
	run.pid = getppid();
	run.before = first;
	tap_ok(arrivals_begin(a, &run) == first, "one below another is of that one");
}

/* Some that take longer than there is time for, before two that need none. */
static void greedy(struct audit *a)
{
	const struct arrivals_from from = {
		.audit = a,
		.pid = getpid(),
		.manager = "npm",
		.until_ns = clock_mono_ns() + UINT64_C(4) * 1000000000u,
	};
	struct touched set = {0};
	const char *path;
	char file[300];
	int err = 0;

	for (unsigned i = 0; i < 3; i++) {
		snprintf(file, sizeof file, "huge-%u", i);
		path = package("greedy", file);
		write_in(path, "huge", "x");
		snprintf(file, sizeof file, "%s/huge", path);
		err = err ? err : truncate(file, (1 << 30) - (1 << 20));
		err = err ? err : touched_add(&set, path);
	}
	err = err ? err : touched_add(&set, package("greedy", "small-1"));
	err = err ? err : touched_add(&set, package("greedy", "small-2"));
	tap_is_int(err, 0, "huge packages and small ones");
	tap_is_int(arrivals_read(&from, &set), 0, "they are read");
	touched_free(&set);
}

/* What lets root read all that it owns, for the calling thread. */
static void set_reads_all(bool on)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[2];
	const uint32_t mask = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH;

	invariant(syscall(SYS_capget, &head, sets) == 0);
	sets[0].effective =
		on ? sets[0].effective | (mask & sets[0].permitted) : sets[0].effective & ~mask;
	invariant(syscall(SYS_capset, &head, sets) == 0);
}

/* A package brings others, in a folder that nobody may look into. */
static void closed(struct audit *a)
{
	const struct arrivals_from from = {.audit = a, .pid = getpid(), .manager = "npm"};
	char inner[300];

	snprintf(inner, sizeof inner, "%s/node_modules", package("closed", "outer"));
	tap_is_int(mkdir(inner, 0755), 0, "a package with an empty node_modules");
	for (unsigned i = 0; i < 2; i++) {
		struct touched set = {0};
		int err = chmod(inner, i == 0 ? 0755 : 0);

		err = err ? err : touched_add(&set, package("closed", "outer"));
		set_reads_all(false);
		err = err ? err : arrivals_read(&from, &set);
		set_reads_all(true);
		tap_is_int(err, 0, "it is read");
		tap_is_int(set.more, i == 1, "what cannot be looked into is said to be left out");
		touched_free(&set);
	}
	(void)chmod(inner, 0755);
}

/* How many packages of a name there are, and how many of them with a hash. */
static void count(struct store *s, const char *like, const char *expected)
{
	sqlite3_stmt *stmt = NULL;
	auto_buf out = BUF_INIT;

	if (sqlite3_prepare_v2(store_db(s),
	                       "SELECT count(*), count(sha256) FROM packages WHERE object LIKE ?1",
	                       -1, &stmt, NULL) != SQLITE_OK)
		buf_str(&out, store_why(s));
	sqlite3_bind_text(stmt, 1, like, -1, SQLITE_STATIC);
	while (stmt && sqlite3_step(stmt) == SQLITE_ROW)
		buf_fmt(&out, "%d rows, %d hashed", sqlite3_column_int(stmt, 0),
		        sqlite3_column_int(stmt, 1));
	sqlite3_finalize(stmt);
	tap_is_str(buf_text(&out), expected, "%s", like);
}

static void check(const char *db)
{
	struct store *s = NULL;
	char *why = NULL;
	sqlite3_stmt *stmt = NULL;
	auto_buf out = BUF_INIT;

	tap_is_int(store_open(db, STORE_READ, &s, &why), 0, "the record is read");
	if (sqlite3_prepare_v2(store_db(s),
	                       "SELECT object || ' ' || reason FROM packages"
	                       " WHERE object <> 'pip:d' AND cwd NOT LIKE '%/greedy/%' AND cwd NOT "
	                       "LIKE '%/closed/%' ORDER BY object",
	                       -1, &stmt, NULL) != SQLITE_OK)
		buf_str(&out, store_why(s));
	while (stmt && sqlite3_step(stmt) == SQLITE_ROW)
		buf_fmt(&out, "%s;", (const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	count(s, "npm:small-%", "2 rows, 2 hashed");
	store_close(s);
	free(why);
	tap_is_str(buf_text(&out),
	           "npm:beyond 2;npm:first 2;npm:hidden 4;npm:last 2;"
	           "npm:other 2;npm:whole 2;pip:nobodys.py 4;",
	           "each is there, and none said to be removed");
}

int main(void)
{
	struct arrivals *arrivals = NULL;
	char db[64];
	struct audit *a;

	if (!mkdtemp(folder) || setenv("XDG_STATE_HOME", folder, 1) != 0) {
		tap_ok(false, "a folder can be made");
		return tap_done();
	}
	snprintf(db, sizeof db, "%s/wary/wary.db", folder);
	a = session_open(db);
	tap_is_int(a ? arrivals_new(a, &arrivals) : -1, 0, "arrivals are made");
	if (arrivals) {
		tap_is_int(arrivals_start(arrivals), 0, "their thread starts");
		overflow(arrivals);
		claim(arrivals);
		fill(arrivals);
		greedy(a);
		closed(a);
		arrivals_finish(arrivals);
		tap_is_int(audit_close(a, 0, "exited"), 0, "the session ends");
		arrivals_free(arrivals);
		check(db);
	}
	tap_is_int(scratch_remove(folder), 0, "nothing is left");
	return tap_done();
}
