/* Makes one recorded session without supervising anything: what a test of the
 * record needs.
 *
 * audit_session DB EVENTS [SEED [die|pause|- [AGO_S]]]
 * With "die" it kills itself in the middle of the last event, between intent
 * and outcome; with "pause" it prints "half" in the middle of its events and waits for
 * a line, and for another before it closes. AGO_S: it was made so many seconds ago.
 * Prints the session's id. */
#include "audit/audit.h"
#include "tests/lib/audit_work.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long ago_s;

/* In place of libc's: for the record it is then. */
int clock_gettime(clockid_t id, struct timespec *t)
{
	int err = (int)syscall(SYS_clock_gettime, id, t);

	if (err == 0 && id == CLOCK_REALTIME)
		t->tv_sec -= ago_s;
	return err;
}

static struct audit *open_session(const char *db)
{
	static const char *const argv[] = {"npm", "install", NULL};
	static const char text[] = "wary 1\ndefault allow\n";
	static const struct audit_source sources[] = {
		{"default.wary", "default.wary", text, sizeof text - 1},
		{"project.wary", "/home/ana/src/app/.wary/policy.wary", "wary 1\n", 7}};
	const struct audit_session s = {
		.argv = argv,
		.argc = 2,
		.cwd = "/home/ana/src/app",
		.user = "ana",
		.host = "host",
		.kernel = "6.18",
		.version = "0",
		.uid = 1000,
		.sources = sources,
		.sources_n = 2,
	};
	const char *why = NULL;
	struct audit *a = NULL;

	if (audit_open_begin(db, &a) != 0)
		return NULL;
	if (audit_open_finish(a, &s, &why) == 0)
		return a;
	fprintf(stderr, "audit_session: %s\n", why);
	audit_abandon(a);
	return NULL;
}

static bool one(struct audit *a, struct work *w, bool die)
{
	bool refused = false;
	const struct audit_event *e = work_next(w, &refused);
	struct audit_lost lost;
	struct receipt *r;

	if (refused && !die)
		return audit_note(a, e, -13) == 0;
	r = audit_intent(a, e);
	if (r && die)
		raise(SIGKILL);
	lost = (struct audit_lost){.known = w->n % 5 == 1, .size_before = w->n, .links_left = 1};
	return r && audit_outcome_lost(a, r, w->n % 5 ? 0 : -2, &lost) == 0;
}

static void wait_for_line(const char *where)
{
	puts(where);
	fflush(stdout);
	while (getchar() != '\n' && !feof(stdin))
		;
}

int main(int argc, char **argv)
{
	struct work w;
	unsigned long events = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	bool die = argc > 4 && strcmp(argv[4], "die") == 0;
	bool pauses = argc > 4 && strcmp(argv[4], "pause") == 0;
	struct audit *a;

	ago_s = argc > 5 ? strtol(argv[5], NULL, 10) : 0;
	a = argc > 2 ? open_session(argv[1]) : NULL;
	if (!a)
		return 1;
	puts(audit_session_id(a));
	fflush(stdout);
	work_begin(&w, argc > 3 ? strtoul(argv[3], NULL, 10) : 1);
	for (unsigned long i = 0; i < events; i++) {
		if (pauses && i == events / 2)
			wait_for_line("half");
		if (!one(a, &w, die && i + 1 == events))
			return 1;
	}
	if (pauses)
		wait_for_line("all");
	return audit_close(a, 0, "exited") == 0 ? 0 : 1;
}
