/* The record fails closed: whatever takes its ground away, the next decision is
 * refused and the session told, and nothing crashes or hangs. */
#include "audit/audit.h"
#include "audit/folder.h"
#include "audit/journal.h"
#include "audit/store.h"
#include "base/buf.h"
#include "tests/lib/audit_work.h"
#include "tests/unit/tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* More than the journal and a log could take in any way. */
#define EVENTS_MAX 1000000

static char folder[] = "/tmp/wary-fail-XXXXXX";
static char db[64];

static struct audit *open_session(const char *path)
{
	static const char *const argv[] = {"test", NULL};
	const struct audit_session s = {.argv = argv, .argc = 1, .cwd = "/"};
	const char *why = NULL;
	struct audit *a = NULL;

	if (audit_open_begin(path, &a) != 0)
		return NULL;
	if (audit_open_finish(a, &s, &why) == 0)
		return a;
	tap_note("%s", why);
	audit_abandon(a);
	return NULL;
}

static bool one(struct audit *a, struct work *w)
{
	bool refused = false;
	const struct audit_event *e = work_next(w, &refused);
	struct receipt *r = audit_intent(a, e);

	return r && audit_outcome(a, r, 0) == 0;
}

/* Until one is refused. */
static bool is_refused(struct audit *a)
{
	struct work w;

	work_begin(&w, 1);
	for (unsigned i = 0; i < EVENTS_MAX; i++)
		if (!one(a, &w))
			return true;
	return false;
}

static void check_failed(struct audit *a, const char *what)
{
	struct pollfd p = {.fd = audit_failed_fd(a), .events = POLLIN};
	struct work w;

	tap_ok(is_refused(a), "%s: a decision is refused", what);
	tap_ok(audit_failed(a), "the session knows");
	tap_is_int(poll(&p, 1, 10000), 1, "whoever waits for it is woken");
	work_begin(&w, 2);
	tap_ok(!one(a, &w), "all that follow are refused too");
	tap_ok(audit_close(a, 0, "failed") != 0, "closing says so");
}

/* The path of the only journal. */
static bool journal_path(char *out, size_t size)
{
	struct buf live = BUF_INIT;
	const struct dirent *d;
	DIR *dir;
	bool found = false;

	folder_journals(&live, db);
	dir = opendir(buf_text(&live));
	while (dir && !found && (d = readdir(dir))) {
		found = *d->d_name != '.';
		snprintf(out, size, "%s/%s", live.data, d->d_name);
	}
	if (dir)
		closedir(dir);
	buf_free(&live);
	return found;
}

/* A mapping whose file has become shorter raises SIGBUS, as a disk does that
 * has no page to give. */
static void check_bus(void)
{
	struct audit *a = open_session(db);
	char path[512];

	if (!a || !journal_path(path, sizeof path) || truncate(path, 4096) != 0) {
		tap_ok(false, "a journal to cut");
		return;
	}
	check_failed(a, "the journal cut under its mapping");
	tap_ok(unlink(path) == 0, "its rest is removed");
}

/* Another program that holds the store; NULL where it cannot. */
static sqlite3 *lock_store(void)
{
	sqlite3 *other = NULL;

	if (sqlite3_open(db, &other) == SQLITE_OK &&
	    sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK)
		return other;
	sqlite3_close(other);
	return NULL;
}

static void unlock_store(sqlite3 *other)
{
	if (sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL) != SQLITE_OK)
		tap_note("%s", sqlite3_errmsg(other));
	sqlite3_close(other);
}

/* Somebody else writes into the journal, over what was not yet read. */
static void check_scribble(void)
{
	struct audit *a = open_session(db);
	sqlite3 *other = lock_store();
	char path[512];
	char noise[4096];
	struct work w;
	int fd;

	memset(noise, 0x5a, sizeof noise);
	work_begin(&w, 5);
	for (unsigned i = 0; a && i < 100; i++)
		if (!one(a, &w))
			return;
	fd = a && other && journal_path(path, sizeof path) ? open(path, O_WRONLY | O_CLOEXEC) : -1;
	if (fd < 0 || pwrite(fd, noise, sizeof noise, 4096 + 32) != (ssize_t)sizeof noise) {
		tap_ok(false, "a journal to write into");
		return;
	}
	close(fd);
	unlock_store(other);
	check_failed(a, "the journal overwritten");
	tap_ok(unlink(path) == 0, "its rest is removed");
}

static void check_limit(void)
{
	struct rlimit old;
	struct rlimit now;
	struct audit *a = open_session(db);

	getrlimit(RLIMIT_FSIZE, &old);
	now = old;
	now.rlim_cur = 8 << 20;
	if (!a || setrlimit(RLIMIT_FSIZE, &now) != 0) {
		tap_ok(false, "a limit on files");
		return;
	}
	check_failed(a, "no file may grow any more");
	setrlimit(RLIMIT_FSIZE, &old);
}

/* A pool that a hostile tree fills: every intent waits for its outcome. */
static void check_pool(void)
{
	struct audit *a = open_session(db);
	struct work w;
	unsigned taken = 0;
	bool refused = false;

	work_begin(&w, 3);
	while (a && taken < 10000 && audit_intent(a, work_next(&w, &refused)))
		taken++;
	tap_is_int(taken, JOURNAL_SLOTS, "so many decisions may wait for their outcome at once");
	tap_ok(a && audit_failed(a), "one more is refused");
	tap_ok(a && audit_close(a, 0, "failed") != 0, "closing says so");
}

static void *blocked_main(void *arg)
{
	struct work w;
	unsigned *done = arg;
	struct audit *a = *(struct audit **)(void *)(done + 2);

	work_begin(&w, 4);
	while (*done < 100000 && one(a, &w))
		++*done;
	return NULL;
}

/* While another program holds the store the callers wait, and lose nothing. */
static void check_locked(void)
{
	struct {
		unsigned done, unused;
		struct audit *audit;
	} lane = {0, 0, open_session(db)};
	struct audit_totals totals;
	sqlite3 *other = lock_store();
	pthread_t thread;

	if (!lane.audit || !other || pthread_create(&thread, NULL, blocked_main, &lane) != 0) {
		tap_ok(false, "a store to lock");
		return;
	}
	/* Until the journal is full: nobody gets any further. */
	for (unsigned seen = 1; seen != lane.done || seen < 1000;) {
		seen = *(volatile unsigned *)&lane.done;
		poll(NULL, 0, 200);
	}
	tap_ok(lane.done < 100000, "callers wait while the store is locked");
	unlock_store(other);
	pthread_join(thread, NULL);
	tap_is_int(lane.done, 100000, "and go on when it is free");
	audit_totals(lane.audit, &totals);
	tap_ok(totals.decisions == 100000 && !totals.dropped, "nothing was dropped");
	tap_is_int(audit_close(lane.audit, 0, "exited"), 0, "the session closes");
}

int main(void)
{
	char command[128];

	signal(SIGXFSZ, SIG_IGN); /* as wary does */
	if (!mkdtemp(folder) || setenv("XDG_STATE_HOME", folder, 1) != 0)
		return 1;
	snprintf(db, sizeof db, "%s/wary.db", folder);
	check_bus();
	check_scribble();
	check_pool();
	check_locked();
	check_limit();
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	if (system(command) != 0)
		tap_note("not removed: %s", folder);
	return tap_done();
}
