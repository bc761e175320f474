/* What the record adds to a run: decisions with as much work to each that they come
 * at 80,000 a second, once with their records and once with these discarded. The
 * runs take turns. One caller leaves a processor to the writer, as a supervised
 * program does, which waits while wary works; as many callers as processors leave it
 * none. Prints name, value, unit (TSV). Arguments: seconds a run (10), rounds (3). */
#include "audit/audit_inside.h"
#include "audit/verify.h"
#include "tests/bench/session.h"
#include "tests/lib/audit_work.h"

#include <fcntl.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define RATE 80000ul
#define RATIO 1.05 /* what is allowed: so much less work is in a decision */
#define CALLERS_MAX 2
#define ROUNDS_MAX 25
#define SPINS 25
#define LOOK_EVERY 64 /* decisions between two looks at the backlog */

struct caller {
	struct audit *audit; /* NULL: records are discarded */
	unsigned long count;
	unsigned spins;
	uint64_t seed, backlog;
	double processor_s;
	bool failed;
};

struct figures {
	double seconds[2][ROUNDS_MAX]; /* discarded, recorded */
	double processor_s[2];         /* of the callers alone */
	double closing_ms;             /* the longest */
	uint64_t backlog, rows;
};

static double clock_s(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void line(unsigned callers, const char *name, double value, const char *unit)
{
	printf("audit beside work, callers %u, %s\t%.3f\t%s\n", callers, name, value, unit);
	fflush(stdout);
}

/* The work of a decision: a call of the kernel, and what a program reckons. */
static bool work(unsigned spins)
{
	uint8_t bytes[128] = {0};
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	for (unsigned i = 0; i < spins; i++)
		crypto_generichash(bytes, 32, bytes, sizeof bytes, NULL, 0);
	return close(fd) == 0;
}

static bool one(struct caller *c, struct work *w)
{
	bool refused = false;
	const struct audit_event *e = work_next(w, &refused);
	struct receipt *r = NULL;

	if (c->audit && refused)
		return audit_note(c->audit, e, -13) == 0 && work(c->spins);
	if (c->audit && !refused && !(r = audit_intent(c->audit, e)))
		return false;
	if (!work(c->spins))
		return false;
	return !r || audit_outcome(c->audit, r, w->n % 3 ? 0 : -2) == 0;
}

static void *caller_main(void *arg)
{
	struct caller *c = arg;
	struct work w;

	work_begin(&w, c->seed);
	for (unsigned long i = 0; i < c->count && !c->failed; i++) {
		c->failed = !one(c, &w);
		if (c->audit && i % LOOK_EVERY == 0) {
			uint64_t n = journal_unread(c->audit->journal);

			c->backlog = n > c->backlog ? n : c->backlog;
		}
	}
	c->processor_s = clock_s(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

/* @seconds: set to what the callers took, and the end of the session. */
static bool run(struct audit *a, unsigned callers, unsigned long count, unsigned spins,
                struct figures *f, double *seconds)
{
	struct caller all[CALLERS_MAX];
	pthread_t threads[CALLERS_MAX];
	double begin = clock_s(CLOCK_MONOTONIC);
	bool right = true;
	double end;

	for (unsigned i = 0; i < callers; i++) {
		all[i] = (struct caller){
			.audit = a, .count = count / callers, .spins = spins, .seed = i};
		if (pthread_create(&threads[i], NULL, caller_main, &all[i]) != 0)
			return false;
	}
	for (unsigned i = 0; i < callers; i++) {
		pthread_join(threads[i], NULL);
		right &= !all[i].failed;
		f->processor_s[a != NULL] += all[i].processor_s;
		f->backlog = all[i].backlog > f->backlog ? all[i].backlog : f->backlog;
	}
	end = clock_s(CLOCK_MONOTONIC);
	if (a && audit_close(a, 0, "exited") != 0)
		return false;
	*seconds = clock_s(CLOCK_MONOTONIC) - begin;
	if (a && (clock_s(CLOCK_MONOTONIC) - end) * 1e3 > f->closing_ms)
		f->closing_ms = (clock_s(CLOCK_MONOTONIC) - end) * 1e3;
	return right;
}

/* How often to hash so that a decision without its record takes what it may. */
static bool calibrate(unsigned callers, unsigned *spins)
{
	const double want = (double)callers / (double)RATE / RATIO;
	const unsigned long count = 40000;
	struct figures unused = {0};
	double without = 0;
	double with = 0;

	for (unsigned i = 0; i < 3; i++) {
		double a;
		double b;

		if (!run(NULL, callers, count, 0, &unused, &a) ||
		    !run(NULL, callers, count, SPINS, &unused, &b))
			return false;
		without = i && without < a ? without : a;
		with = i && with < b ? with : b;
	}
	without *= callers / (double)count;
	with *= callers / (double)count;
	*spins = want > without ? (unsigned)((want - without) / (with - without) * SPINS) : 0;
	return true;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, unsigned n)
{
	qsort(values, n, sizeof *values, by_value);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* That the record has all of it, and is whole. */
static bool check(const char *db, uint64_t rows)
{
	struct verify_options o = {.db = db};
	struct verify_result r;
	char *why = NULL;
	bool right = verify_store(&o, &r, &why) == 0 && !r.wrong && r.rows == rows;

	if (!right)
		fprintf(stderr, "beside: the record has %llu of %llu rows, %s\n",
		        (unsigned long long)r.rows, (unsigned long long)rows,
		        r.wrong ? "and is not whole" : "and is whole");
	free(why);
	return right;
}

static bool measure(const char *db, unsigned callers, unsigned long count, unsigned rounds)
{
	struct figures f = {0};
	double ratios[ROUNDS_MAX];
	unsigned spins;

	if (!calibrate(callers, &spins))
		return false;
	for (unsigned i = 0; i < rounds; i++) {
		struct audit *a;

		if (!run(NULL, callers, count, spins, &f, &f.seconds[0][i]) ||
		    !(a = bench_session(db)) ||
		    !run(a, callers, count, spins, &f, &f.seconds[1][i]))
			return false;
		f.rows += count / callers * callers;
		ratios[i] = f.seconds[1][i] / f.seconds[0][i];
	}
	line(callers, "discarded", (double)count / median(f.seconds[0], rounds), "per second");
	line(callers, "recorded", (double)count / median(f.seconds[1], rounds), "per second");
	line(callers, "recorded to discarded", median(ratios, rounds), "times");
	line(callers, "a decision's record, caller",
	     (f.processor_s[1] - f.processor_s[0]) / (double)f.rows * 1e6, "us");
	line(callers, "most that waited for the writer", (double)f.backlog, "entries");
	line(callers, "end of the session", f.closing_ms, "ms");
	return check(db, f.rows);
}

int main(int argc, char **argv)
{
	unsigned long seconds = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 3;
	char folder[] = "/var/tmp/wary-bench-XXXXXX";
	char command[64];
	bool right = mkdtemp(folder) && setenv("XDG_STATE_HOME", folder, 1) == 0;

	rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
	for (unsigned callers = 1; right && callers <= CALLERS_MAX; callers++) {
		char db[64];

		snprintf(db, sizeof db, "%s/%u.db", folder, callers);
		right = measure(db, callers, seconds * RATE, (unsigned)rounds);
	}
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	if (system(command) != 0)
		right = false;
	return right ? 0 : 1;
}
