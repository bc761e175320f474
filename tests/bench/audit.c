/* What the record costs: to begin and end a session, for each decision, on
 * the disk, to verify; with BENCH_ROWS a store of so many rows (a few seconds and
 * 50 MB a million).  One line a measure: name, value, unit (TSV). */
#include "audit/audit.h"
#include "audit/keys.h"
#include "audit/read.h"
#include "audit/store.h"
#include "audit/verify.h"
#include "tests/bench/session.h"
#include "tests/lib/audit_work.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SESSIONS 21
#define DECISIONS 400000
#define THREADS 4
#define SUSTAINED_S 3

static double us(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void line(const char *name, double value, const char *unit)
{
	printf("%s\t%.3f\t%s\n", name, value, unit);
	fflush(stdout);
}

static bool one(struct audit *a, struct work *w)
{
	bool refused = false;
	const struct audit_event *e = work_next(w, &refused);
	struct receipt *r;

	if (refused)
		return audit_note(a, e, -13) == 0;
	r = audit_intent(a, e);
	return r && audit_outcome(a, r, w->n % 3 ? 0 : -2) == 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool measure_sessions(const char *db)
{
	double begin[SESSIONS];
	double end[SESSIONS];

	for (unsigned i = 0; i < SESSIONS; i++) {
		double at = us(CLOCK_MONOTONIC);
		struct audit *a = bench_session(db);
		struct work w;

		if (!a)
			return false;
		begin[i] = us(CLOCK_MONOTONIC) - at;
		work_begin(&w, i);
		for (unsigned k = 0; k < 12; k++)
			if (!one(a, &w))
				return false;
		at = us(CLOCK_MONOTONIC);
		if (audit_close(a, 0, "exited") != 0)
			return false;
		end[i] = us(CLOCK_MONOTONIC) - at;
	}
	qsort(begin, SESSIONS, sizeof *begin, by_value);
	qsort(end, SESSIONS, sizeof *end, by_value);
	line("audit session begins", begin[SESSIONS / 2] / 1e3, "ms");
	line("audit session ends", end[SESSIONS / 2] / 1e3, "ms");
	return true;
}

/* One thread that does nothing else; the work of making the event is measured
 * apart and taken off. */
static bool measure_decisions(const char *db)
{
	struct audit *a = bench_session(db);
	double process = us(CLOCK_PROCESS_CPUTIME_ID);
	double at = us(CLOCK_THREAD_CPUTIME_ID);
	double apart;
	double own;
	struct work w;
	bool refused;

	work_begin(&w, 1);
	for (unsigned i = 0; i < DECISIONS; i++)
		work_next(&w, &refused);
	apart = us(CLOCK_THREAD_CPUTIME_ID) - at;
	process += apart;
	work_begin(&w, 1);
	at = us(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned i = 0; a && i < DECISIONS; i++)
		if (!one(a, &w))
			return false;
	own = us(CLOCK_THREAD_CPUTIME_ID) - at;
	if (!a || audit_close(a, 0, "exited") != 0)
		return false;
	line("audit intent and outcome", (own - apart) / DECISIONS, "us");
	line("audit writer", (us(CLOCK_PROCESS_CPUTIME_ID) - process - own) / DECISIONS,
	     "us per decision");
	return true;
}

static double size_of(const char *db)
{
	sqlite3 *s = NULL;
	struct stat st;

	if (sqlite3_open(db, &s) != SQLITE_OK ||
	    sqlite3_exec(s, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL) != SQLITE_OK)
		fprintf(stderr, "audit: %s\n", sqlite3_errmsg(s));
	sqlite3_close(s);
	return stat(db, &st) == 0 ? (double)st.st_size : 0;
}

struct lane {
	struct audit *audit;
	uint64_t seed, done;
	double end_us;
	bool failed;
};

static void *lane_main(void *arg)
{
	struct lane *l = arg;
	struct work w;

	work_begin(&w, l->seed);
	while (us(CLOCK_MONOTONIC) < l->end_us && !l->failed) {
		for (unsigned i = 0; i < 64 && !l->failed; i++, l->done++)
			l->failed = !one(l->audit, &w);
	}
	return NULL;
}

/* As fast as the writer takes them: what is written counts, not what waits. */
static bool measure_sustained(const char *db)
{
	struct lane lanes[THREADS];
	pthread_t threads[THREADS];
	struct audit *a = bench_session(db);
	double begin = us(CLOCK_MONOTONIC);
	uint64_t done = 0;
	bool right = a != NULL;

	for (unsigned i = 0; right && i < THREADS; i++) {
		lanes[i] = (struct lane){a, i, 0, begin + SUSTAINED_S * 1e6, false};
		right = pthread_create(&threads[i], NULL, lane_main, &lanes[i]) == 0;
	}
	for (unsigned i = 0; right && i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		done += lanes[i].done;
		right = !lanes[i].failed;
	}
	right = right && audit_close(a, 0, "exited") == 0;
	line("audit decisions sustained", (double)done / (us(CLOCK_MONOTONIC) - begin) * 1e6,
	     "per second");
	return right;
}

static bool measure_verify(const char *db)
{
	struct verify_options o = {.db = db};
	struct verify_result r;
	char *why = NULL;
	double at = us(CLOCK_THREAD_CPUTIME_ID);
	bool right = verify_store(&o, &r, &why) == 0 && !r.wrong;

	line("audit verify", (double)r.rows / (us(CLOCK_THREAD_CPUTIME_ID) - at) * 1e6,
	     "rows per second and core");
	free(why);
	return right;
}

/* ---- a large store: BENCH_ROWS ------------------------------------------------- */

#define ROWS_OF_SESSION 1000000ul

static bool make_rows(const char *db, unsigned long rows)
{
	for (unsigned long done = 0; done < rows; done += ROWS_OF_SESSION) {
		struct audit *a = bench_session(db);
		struct work w;
		bool right = a != NULL;

		work_begin(&w, done + 1);
		for (unsigned long i = 0; right && i < ROWS_OF_SESSION && done + i < rows; i++)
			right = one(a, &w);
		if (!right || audit_close(a, 0, "exited") != 0)
			return false;
	}
	return true;
}

/* To open the store, and to get the first @most rows that fit. */
static bool measure_filter(const char *db, const char *name, struct read_filter f, unsigned most)
{
	double at = us(CLOCK_MONOTONIC);
	struct store *s = NULL;
	struct reader *r = NULL;
	struct read_event e;
	char *why = NULL;
	bool there = true;
	char text[96];
	unsigned n = 0;
	int err = store_open(db, STORE_READ, &s, &why);

	if (!err)
		err = read_open(s, &f, &r);
	while (!err && there && n < most) {
		err = read_next(r, &e, &there);
		n += !err && there;
	}
	snprintf(text, sizeof text, "audit large store, %s", name);
	line(text, (us(CLOCK_MONOTONIC) - at) / 1e3, "ms");
	read_close(r);
	store_close(s);
	free(why);
	return !err;
}

static bool measure_large(const char *db, unsigned long rows)
{
	static const struct {
		const char *name;
		struct read_filter filter;
		unsigned most;
	} filters[] = {
		{"opened", {0}, 0},
		{"class that it has not", {.classes = 1u << CLASS_INSTALL}, 1000},
		{"kind that it has not", {.kinds = 1u << AUDIT_QUESTION}, 1000},
		{"100 of a class", {.classes = 1u << CLASS_CONNECT}, 100},
		{"100 refused", {.refused = true}, 100},
		{"last 100 of a class", {.classes = 1u << CLASS_DELETE, .last = 100}, 100},
		{"one id", {.where = "(e.id = 4711)"}, 1},
		{"a process or two",
	         {.where = "e.actor IN (SELECT id FROM actor WHERE pid BETWEEN 5000 AND 5015)",
	          .actors = "w.pid BETWEEN 5000 AND 5015"},
	         100000},
	};
	double at = us(CLOCK_MONOTONIC);
	bool right = make_rows(db, rows);

	line("audit large store, rows written", (double)rows / (us(CLOCK_MONOTONIC) - at) * 1e6,
	     "per second");
	line("audit large store, disk", size_of(db) / (double)rows, "bytes per decision");
	for (size_t i = 0; right && i < sizeof filters / sizeof filters[0]; i++)
		right = measure_filter(db, filters[i].name, filters[i].filter, filters[i].most);
	return right && measure_verify(db);
}

int main(void)
{
	char folder[] = "/var/tmp/wary-bench-XXXXXX";
	char db[64];
	char other[64];
	char large[64];
	char command[128];
	const char *rows = getenv("BENCH_ROWS");
	double empty;
	bool right;

	if (!mkdtemp(folder) || setenv("XDG_STATE_HOME", folder, 1) != 0)
		return 1;
	snprintf(db, sizeof db, "%s/a.db", folder);
	snprintf(other, sizeof other, "%s/b.db", folder);
	snprintf(large, sizeof large, "%s/c.db", folder);
	right = measure_sessions(db);
	empty = size_of(db);
	right = right && measure_decisions(db);
	line("audit disk", (size_of(db) - empty) / DECISIONS, "bytes per decision");
	right = right && measure_verify(db) && measure_sustained(other);
	if (right && rows)
		right = measure_large(large, strtoul(rows, NULL, 10));
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	if (system(command) != 0)
		right = false;
	return right ? 0 : 1;
}
