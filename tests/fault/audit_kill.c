/* The record against kill -9: a session is killed at random moments, again and
 * again; after the next start everything that had an effect is on record, with
 * the outcome that was reported or none, and the store verifies. */
#include "audit/audit.h"
#include "audit/keys.h"
#include "audit/recover.h"
#include "audit/store.h"
#include "audit/verify.h"
#include "tests/lib/audit_intact.h"
#include "tests/lib/audit_work.h"
#include "tests/unit/tap.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KILLS 1000
#define SECONDS_MAX 20
#define KILLS_MIN 20
#define THREADS 3
#define EVENTS_MAX 60000
#define HELD_MAX 60 /* calls of a lane under way at once */

/* What the session did, in memory that outlives it. */
enum mark { MARK_NONE, MARK_EFFECT, MARK_REPORTED };

struct world {
	_Atomic uint8_t marks[THREADS][EVENTS_MAX];
	_Atomic bool opened;
	_Atomic bool failed;
};

struct lane {
	struct world *world;
	struct audit *audit;
	unsigned number;
};

static int64_t result_of(unsigned i)
{
	return i % 7 ? (int64_t)(i % 5) : -2;
}

/* Of every third that was done. */
static struct audit_lost lost_of(unsigned i)
{
	return (struct audit_lost){
		.known = i % 3 == 0 && result_of(i) >= 0,
		.size_before = (uint64_t)i << 33,
		.links_left = i % 2,
	};
}

static struct receipt *begin_event(struct lane *l, unsigned i)
{
	char object[64];
	struct audit_event e = {
		.kind = AUDIT_DECISION,
		.class = CLASS_WRITE,
		.answer = ANSWER_ALLOW,
		.rule_file = "t.wary",
		.rule_line = 1,
		.pid = 100,
		.tid = 100 + (pid_t)l->number,
		.program = "/usr/bin/test",
		.syscall = "openat",
		.object = object,
	};
	struct receipt *r;

	snprintf(object, sizeof object, "/lane/%u/%u", l->number, i);
	r = audit_intent(l->audit, &e);
	if (r)
		atomic_store(&l->world->marks[l->number][i], MARK_EFFECT);
	return r;
}

static bool end_event(struct lane *l, struct receipt *r, unsigned i)
{
	struct audit_lost lost = lost_of(i);

	if (!r || audit_outcome_lost(l->audit, r, result_of(i), &lost) != 0)
		return false;
	atomic_store(&l->world->marks[l->number][i], MARK_REPORTED);
	return true;
}

/* One lane takes a call after the other; the others have some under way at all
 * times, as workers that wait do, so that outcomes are far from their intents. */
static void *lane_main(void *arg)
{
	static const unsigned held_by_lane[THREADS] = {0, 5, HELD_MAX};
	struct lane *l = arg;
	unsigned held = held_by_lane[l->number];
	struct receipt *ring[HELD_MAX + 1];
	bool went = true;

	for (unsigned i = 0; went && i < EVENTS_MAX; i++) {
		ring[i % (held + 1)] = begin_event(l, i);
		went = ring[i % (held + 1)] != NULL;
		if (went && i >= held)
			went = end_event(l, ring[(i - held) % (held + 1)], i - held);
	}
	if (!went)
		atomic_store(&l->world->failed, true);
	return NULL;
}

static _Noreturn void session(const char *db, struct world *w)
{
	static const char *const argv[] = {"test", NULL};
	const struct audit_session s = {.argv = argv, .argc = 1, .cwd = "/"};
	struct lane lanes[THREADS];
	pthread_t threads[THREADS];
	const char *why = NULL;
	struct audit *a = NULL;

	if (audit_open_begin(db, &a) != 0 || audit_open_finish(a, &s, &why) != 0) {
		printf("# %s\n", why ? why : "cannot begin");
		fflush(stdout);
		atomic_store(&w->failed, true);
		_exit(1);
	}
	atomic_store(&w->opened, true);
	for (unsigned i = 0; i < THREADS; i++) {
		lanes[i] = (struct lane){w, a, i};
		if (pthread_create(&threads[i], NULL, lane_main, &lanes[i]) != 0)
			_exit(1);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	_exit(audit_close(a, 0, "exited") == 0 ? 0 : 1);
}

static bool size_right(sqlite3_stmt *stmt, unsigned i)
{
	struct audit_lost lost = lost_of(i);

	if (!lost.known)
		return sqlite3_column_type(stmt, 2) == SQLITE_NULL &&
		       sqlite3_column_type(stmt, 3) == SQLITE_NULL;
	return sqlite3_column_type(stmt, 2) == SQLITE_INTEGER &&
	       sqlite3_column_int64(stmt, 2) == (int64_t)lost.size_before &&
	       sqlite3_column_int64(stmt, 3) == (int64_t)lost.links_left;
}

/* One row: -1 where it is false, else what was seen is counted. */
static bool row_right(sqlite3_stmt *stmt, struct world *w, uint8_t (*seen)[EVENTS_MAX])
{
	const char *object = (const char *)sqlite3_column_text(stmt, 0);
	bool known = sqlite3_column_type(stmt, 1) != SQLITE_NULL;
	unsigned lane = 0;
	unsigned i = 0;

	if (!object || sscanf(object, "/lane/%u/%u", &lane, &i) != 2 || lane >= THREADS ||
	    i >= EVENTS_MAX || seen[lane][i]++)
		return false;
	if (known)
		return sqlite3_column_int64(stmt, 1) == result_of(i) && size_right(stmt, i);
	return sqlite3_column_type(stmt, 2) == SQLITE_NULL &&
	       atomic_load(&w->marks[lane][i]) != MARK_REPORTED;
}

/* Every row of the last session against what was done. */
static unsigned compare(const char *db, struct world *w)
{
	uint8_t(*seen)[EVENTS_MAX] = calloc(THREADS, sizeof *seen);
	struct store *s = NULL;
	char *why = NULL;
	sqlite3_stmt *stmt = NULL;
	unsigned wrong = 0;

	if (!seen || store_open(db, STORE_READ, &s, &why) != 0) {
		tap_note("%s", why ? why : "cannot open");
		free(why);
		free(seen);
		return 1;
	}
	if (sqlite3_prepare_v2(
		    store_db(s),
		    "SELECT object, result, size_before, links_left FROM decisions"
		    " WHERE session = (SELECT name FROM session ORDER BY id DESC LIMIT 1)",
		    -1, &stmt, NULL) != SQLITE_OK)
		wrong++;
	while (stmt && sqlite3_step(stmt) == SQLITE_ROW)
		wrong += !row_right(stmt, w, seen);
	sqlite3_finalize(stmt);
	for (unsigned i = 0; i < THREADS * EVENTS_MAX; i++)
		if (atomic_load(&w->marks[i % THREADS][i / THREADS]) &&
		    !seen[i % THREADS][i / THREADS])
			wrong++;
	store_close(s);
	free(seen);
	return wrong;
}

/* None of them may have come so far as to make it. */
static bool absent_or_intact(const char *db)
{
	return access(db, F_OK) != 0 || intact(db);
}

static bool has_ended(pid_t pid)
{
	siginfo_t info = {.si_pid = 0};

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid;
}

/* Recovers; a reader of /proc may hold the dead one's memory, and with it the
 * lock of its journal, a moment longer. */
static bool recovered(const char *db)
{
	const struct timespec tick = {0, 1000000};
	char *why = NULL;
	char live[160];

	snprintf(live, sizeof live, "%s.live", db);
	for (unsigned tries = 0; tries < 60000; tries++) {
		if (recover_store(db, &why) != 0) {
			tap_note("%s", why ? why : "not recovered");
			free(why);
			return false;
		}
		if (rmdir(live) == 0 || errno == ENOENT)
			return true;
		nanosleep(&tick, NULL);
	}
	tap_note("a journal stays");
	return false;
}

static bool one_kill(const char *db, struct world *w, unsigned delay_us, unsigned *wrong)
{
	struct timespec t = {0, (long)delay_us * 1000};
	const struct timespec tick = {0, 100000};
	int status = 0;
	pid_t pid;

	memset(w, 0, sizeof *w);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		session(db, w);
	/* Most are killed at work, some while they begin. */
	while (delay_us % 8 && !atomic_load(&w->opened) && !has_ended(pid))
		nanosleep(&tick, NULL);
	nanosleep(&t, NULL);
	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid || atomic_load(&w->failed))
		return false;
	if (!atomic_load(&w->opened))
		return true; /* nothing was done; the next one recovers */
	if (!recovered(db))
		return false;
	*wrong += compare(db, w);
	return true;
}

int main(void)
{
	char folder[] = "/tmp/wary-kill-XXXXXX";
	char db[128];
	char command[128];
	struct work dice;
	unsigned kills = 0;
	unsigned wrong = 0;
	bool went = true;
	bool clean = true;
	time_t end = time(NULL) + SECONDS_MAX;
	struct world *w =
		mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (w == MAP_FAILED || !mkdtemp(folder) || setenv("XDG_STATE_HOME", folder, 1) != 0)
		return 1;
	work_begin(&dice, (uint64_t)getpid());
	for (; kills < KILLS && went && !wrong && clean; kills++) {
		/* A store of its own for some: a large one is slow to verify. */
		snprintf(db, sizeof db, "%s/%u.db", folder, kills / 20);
		if (kills >= KILLS_MIN && time(NULL) >= end)
			break;
		went = one_kill(db, w, (unsigned)(work_random(&dice) % 25000), &wrong);
		if (kills % 10 == 9)
			clean = absent_or_intact(db);
	}
	tap_note("%u kills", kills);
	tap_ok(went && kills >= KILLS_MIN, "sessions are recovered after a kill");
	tap_is_int(wrong, 0, "what had an effect is on record, and nothing false");
	tap_ok(clean, "the stores verify");
	snprintf(command, sizeof command, "rm -r '%s'", folder);
	if (system(command) != 0)
		tap_note("not removed: %s", folder);
	return tap_done();
}
