/* trap/processes: rows of processes that only fork.  The record and the listener
 * are the test's own. */
#include "trap/processes.h"

#include "tests/unit/tap.h"
#include "tracee/lineage.h"
#include "trap/calm.h"
#include "trap/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROWS_MAX 64u
#define FEW_DESCRIPTORS 64u

struct row {
	pid_t pid, ppid;
	uid_t uid;
	char what[32];
};

static struct row rows[ROWS_MAX];
static _Atomic unsigned rows_n;
static bool stands; /* the notification */

/* Of the record and the listener: in place of wary's. */
int audit_note(struct audit *a, const struct audit_event *e, long result)
{
	unsigned n = atomic_fetch_add(&rows_n, 1);

	(void)a;
	(void)result;
	if (n < ROWS_MAX) {
		rows[n] = (struct row){.pid = e->pid, .ppid = e->ppid, .uid = e->uid};
		snprintf(rows[n].what, sizeof rows[n].what, "%s", e->object2);
	}
	return 0;
}

int notify_valid(int listener_fd, uint64_t id)
{
	(void)listener_fd;
	(void)id;
	return stands ? 0 : -ERR_GONE;
}

/* How many rows there are of a process; *last: the newest. */
static unsigned rows_of(pid_t pid, const char *what, struct row *last)
{
	unsigned n = 0;

	for (unsigned i = 0; i < atomic_load(&rows_n) && i < ROWS_MAX; i++)
		if (rows[i].pid == pid && strcmp(rows[i].what, what) == 0) {
			*last = rows[i];
			n++;
		}
	return n;
}

static pid_t child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_forked(struct processes *p)
{
	struct row row = {0};
	pid_t pid = child();

	stands = true;
	tap_is_int(processes_forked(p, pid, -1, 1), 0, "a process is told of");
	tap_is_int(rows_of(pid, "forked", &row), 1, "it has a row");
	tap_is_int(row.ppid, getpid(), "with its parent");
	tap_is_int((long)row.uid, (long)getuid(), "and its user");
	tap_is_int(processes_forked(p, pid, -1, 1), 0, "told of again");
	tap_is_int(rows_of(pid, "forked", &row), 1, "it has one still");
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT);
	stands = false; /* its call ended with it */
	tap_is_int(processes_forked(p, pid, -1, 1), 0, "told of when it has ended");
	tap_is_int(rows_of(pid, "forked", &row), 1, "it has one still: it is not reaped yet");
	waitpid(pid, NULL, 0);
}

static void test_gone(struct processes *p)
{
	struct row row = {0};
	pid_t pid = child();

	stands = false;
	tap_is_int(processes_forked(p, pid, -1, 1), 0, "a call that no longer stands");
	tap_is_int(rows_of(pid, "forked", &row), 0, "makes no row");
	end(pid);
}

static void test_no_descriptor(struct processes *p)
{
	struct rlimit kept;
	struct rlimit none;
	struct row row = {0};
	pid_t pid = child();

	stands = true;
	getrlimit(RLIMIT_NOFILE, &kept);
	none = kept;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	tap_ok(open("/dev/null", O_RDONLY | O_CLOEXEC) < 0, "there is no descriptor left");
	tap_is_int(processes_forked(p, pid, -1, 1), 0, "a process is told of");
	setrlimit(RLIMIT_NOFILE, &kept);
	tap_is_int(rows_of(pid, "forked", &row), 1, "it has a row all the same");
	tap_is_int(row.ppid, 0, "its parent is not known");
	tap_is_int((long)row.uid, (long)getuid(), "its user is");
	end(pid);
}

/* The times are the test's own. */
static void test_calm(void)
{
	struct calm c;
	uint64_t now = 1000000;
	uint64_t before = now;
	unsigned used = 0;

	calm_end(&c, now);
	tap_ok(!calm_use(&c, now + CALM_MS - 1), "calm for less than the first while: not used");
	for (; now < 1000000 + 60000; now++) {
		if (!calm_use(&c, now))
			continue;
		tap_ok(used == 0 || now - before >= CALM_MS, "the next time comes later");
		before = now;
		used++;
	}
	tap_is_int(used, 10, "a minute of calm is used ten times");
	tap_is_int(c.gap_ms, CALM_LONGEST_MS, "at last after the longest");
	calm_end(&c, now);
	tap_ok(!calm_use(&c, now + CALM_MS - 1) && calm_use(&c, now + CALM_MS),
	       "what happens makes it the first while again");
}

/* More at once than are watched: each has its row, and once it is said. */
static void test_full(struct lineage *l)
{
	const struct rlimit few = {FEW_DESCRIPTORS, FEW_DESCRIPTORS};
	struct processes *p = NULL;
	pid_t pids[FEW_DESCRIPTORS / 4 + 3];
	size_t n = sizeof pids / sizeof pids[0];
	struct row row = {0};
	unsigned forks = 0;
	unsigned said = 0;

	setrlimit(RLIMIT_NOFILE, &few);
	atomic_store(&rows_n, 0);
	stands = true;
	if (processes_start(NULL, l, getpid(), &p) != 0)
		abort();
	for (size_t i = 0; i < n; i++) {
		pids[i] = child();
		if (processes_forked(p, pids[i], -1, 1) != 0)
			abort();
	}
	for (size_t i = 0; i < n; i++) {
		forks += rows_of(pids[i], "forked", &row);
		said += rows_of(pids[i], "more than 16 at once: the end o", &row);
	}
	tap_is_int(forks, (long)n, "each of too many has its row");
	tap_is_int(said, 1, "that the end of some will be missing is on record, once");
	processes_stop(p);
	for (size_t i = 0; i < n; i++)
		end(pids[i]);
}

int main(void)
{
	struct lineage *l = NULL;
	struct processes *p = NULL;

	if (lineage_new(&l) != 0 || processes_start(NULL, l, getpid(), &p) != 0)
		return 1;
	test_forked(p);
	test_gone(p);
	test_no_descriptor(p);
	processes_stop(p);
	test_calm();
	test_full(l);
	lineage_free(l);
	return tap_done();
}
