#include "ask/freeze.h"

#include "base/own.h"
#include "base/uses.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/major.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

USES(getdents64, open_read, pidfd_open, pidfd_send_signal);

/* More processes than any machine that a person answers questions on. */
#define PROCESSES_MAX 200000
/* Deeper chains of parents are taken for a loop of the snapshot's own. */
#define DEPTH_MAX 10000
/* Rounds until no new process is found, and looks until all stand still. */
#define ROUNDS_MAX 100
#define LOOKS_MAX 500
#define LOOK_NS 1000000

struct process {
	pid_t pid, ppid, pgrp;
	char state;
	dev_t tty;      /* its controlling terminal */
	uint64_t start; /* field 22 of /proc/PID/stat: tells a reused number */
	int depth;      /* below the guardian; 0: not in the tree; -1: unknown */
};

struct snapshot {
	struct process *each; /* by pid */
	size_t n, cap;
};

struct freeze {
	pid_t guardian, bystanders;
	struct snapshot stopped; /* by us; parents before children */
	struct snapshot beside;  /* the bystanders that ran; some are stopped by us */
};

/* ---- a snapshot of /proc ---------------------------------------------- */

static bool read_process(int proc_fd, const char *name, struct process *out)
{
	char path[64];
	char text[1024];
	auto_fd fd = -1;
	const char *rest;
	ssize_t len;
	int ppid;
	int pgrp;
	unsigned tty;

	snprintf(path, sizeof path, "%s/stat", name);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, text, sizeof text - 1);
	if (len <= 0)
		return false;
	text[len] = '\0';
	/* The name in brackets is the program's own choice: go by the last one. */
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest + 1,
	                    " %c %d %d %*d %u %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
	                    "%*d %*d %" SCNu64,
	                    &out->state, &ppid, &pgrp, &tty, &out->start) != 5)
		return false;
	out->pid = (pid_t)strtol(name, NULL, 10);
	out->ppid = ppid;
	out->pgrp = pgrp;
	out->tty = makedev(tty >> 8 & 0xfff, (tty & 0xff) | (tty >> 12 & 0xfff00));
	out->depth = -1;
	return true;
}

static bool add(struct snapshot *s, const struct process *p)
{
	if (s->n == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 256;
		struct process *each;

		if (cap > PROCESSES_MAX)
			return false;
		each = reallocarray(s->each, cap, sizeof *each);
		if (!each)
			return false;
		s->each = each;
		s->cap = cap;
	}
	s->each[s->n++] = *p;
	return true;
}

static int by_pid(const void *a, const void *b)
{
	const struct process *x = a;
	const struct process *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct process *find(const struct snapshot *s, pid_t pid)
{
	struct process key = {.pid = pid};

	return s->n ? bsearch(&key, s->each, s->n, sizeof key, by_pid) : NULL;
}

/* How far below the guardian; -1 where a parent is missing: it ended between
 * two lines of the snapshot, and its children have another by now. */
static int depth_of(const struct snapshot *s, const struct process *p, pid_t guardian)
{
	int depth = 0;

	if (p->pid == guardian)
		return 0;
	while (p->ppid != guardian) {
		if (p->ppid <= 1)
			return 0;
		p = find(s, p->ppid);
		if (!p || ++depth > DEPTH_MAX)
			return -1;
	}
	return depth + 1;
}

/* Returns 0, -ERR_NOMEM, -ERR_SYS. */
static int snapshot_take(struct snapshot *s, pid_t guardian)
{
	DIR *dir = opendir("/proc");
	bool whole = true;

	s->n = 0;
	if (!dir)
		return -ERR_SYS;
	for (;;) {
		struct dirent *entry = readdir(dir);
		struct process p;

		if (!entry)
			break;
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		if (read_process(dirfd(dir), entry->d_name, &p))
			whole = whole && add(s, &p);
	}
	closedir(dir);
	if (!whole)
		return -ERR_NOMEM;
	if (s->n)
		qsort(s->each, s->n, sizeof *s->each, by_pid);
	for (size_t i = 0; i < s->n; i++)
		s->each[i].depth = depth_of(s, &s->each[i], guardian);
	return 0;
}

static bool is_over(const struct process *p)
{
	return p->state == 'Z' || p->state == 'X';
}

static bool is_stopped(const struct process *p)
{
	return p->state == 'T';
}

/* ---- signals ------------------------------------------------------------ */

/* To this very process: its number may have been given to another since. */
static void signal_process(const struct process *p, int sig)
{
	struct process now;
	char name[32];
	auto_fd pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	auto_fd proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (pidfd < 0 || proc_fd < 0)
		return;
	snprintf(name, sizeof name, "%d", (int)p->pid);
	if (read_process(proc_fd, name, &now) && now.start == p->start)
		(void)syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0);
}

static int by_depth(const void *a, const void *b)
{
	const struct process *x = a;
	const struct process *y = b;

	return (x->depth > y->depth) - (x->depth < y->depth);
}

static bool is_listed(const struct snapshot *s, const struct process *p)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->each[i].pid == p->pid && s->each[i].start == p->start)
			return true;
	return false;
}

/* ---- freezing ----------------------------------------------------------- */

static int remember_bystanders(struct freeze *f, const struct snapshot *now)
{
	for (size_t i = 0; f->bystanders && i < now->n; i++) {
		const struct process *p = &now->each[i];

		if (p->pgrp == f->bystanders && p->depth <= 0 && !is_stopped(p) && !is_over(p) &&
		    !add(&f->beside, p))
			return -ERR_NOMEM;
	}
	return 0;
}

/* Whether a process has the terminal open, by whatever name: only then can it write
 * over the box. What cannot be looked at cannot be stopped either. */
static bool has_terminal(const struct process *p)
{
	char path[32];
	struct dirent *e;
	DIR *dir;
	bool has = false;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)p->pid);
	dir = opendir(path);
	while (dir && !has && (e = readdir(dir))) {
		struct stat st;

		has = e->d_name[0] != '.' && fstatat(dirfd(dir), e->d_name, &st, 0) == 0 &&
		      S_ISCHR(st.st_mode) &&
		      (st.st_rdev == p->tty || st.st_rdev == makedev(TTYAUX_MAJOR, 0));
	}
	if (dir)
		closedir(dir);
	return has;
}

/* Wary, the guardian, and whoever started wary: a shell would take a stop of one of
 * those for the job's, and the terminal for itself. */
static bool is_above(const struct snapshot *s, pid_t guardian, pid_t pid)
{
	const struct process *p = find(s, guardian);

	for (int depth = 0; p && depth < DEPTH_MAX; depth++) {
		if (p->pid == pid)
			return true;
		p = find(s, p->ppid);
	}
	return false;
}

/* What the tree has written into a pipe before it was stopped goes on to the terminal
 * by a process beside wary (wary … | tee log), which would write it over the box: text
 * that the tree chose, where a person reads what is asked. So those that have the
 * terminal open stand still as well.  A process that ignores that nothing is lost: it
 * is continued at the end. */
static int stop_beside(struct freeze *f, struct snapshot *now, size_t *news)
{
	int err = snapshot_take(now, f->guardian);

	*news = 0;
	for (size_t i = 0; !err && f->bystanders && i < now->n; i++) {
		const struct process *p = &now->each[i];

		if (p->pgrp != f->bystanders || p->depth > 0 || is_stopped(p) || is_over(p) ||
		    p->pid == getpid() || is_above(now, f->guardian, p->pid) || !has_terminal(p))
			continue;
		++*news;
		if (!is_listed(&f->beside, p) && !add(&f->beside, p))
			return -ERR_NOMEM;
		signal_process(p, SIGSTOP);
	}
	return err;
}

/* A stop takes a moment; one that cannot be stopped (another user's) is left alone. */
static int still_beside(struct freeze *f, struct snapshot *now)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};
	size_t news = 1;
	int err = 0;

	for (int round = 0; !err && news && round < ROUNDS_MAX; round++) {
		err = stop_beside(f, now, &news);
		if (news)
			nanosleep(&pause, NULL);
	}
	return err;
}

/* Where the guardian has ended its tree has other parents, and would be taken for
 * bystanders. */
static int snapshot_of_tree(struct snapshot *s, pid_t guardian)
{
	int err = snapshot_take(s, guardian);
	const struct process *p = err ? NULL : find(s, guardian);

	return err ? err : !p || is_over(p) ? -ERR_GONE : 0;
}

/* Stops whom it finds running and did not stop before, parents first.
 * *news: how many; chains that could not be told count as news. */
static int stop_round(struct freeze *f, struct snapshot *now, size_t *news)
{
	int err = snapshot_of_tree(now, f->guardian);

	*news = 0;
	if (err)
		return err;
	if (now->n)
		qsort(now->each, now->n, sizeof *now->each, by_depth);
	for (size_t i = 0; i < now->n; i++) {
		const struct process *p = &now->each[i];

		if (p->depth == 0 || is_over(p))
			continue;
		if (p->depth < 0) {
			++*news;
			continue;
		}
		if (is_listed(&f->stopped, p) || is_stopped(p))
			continue;
		++*news;
		if (!add(&f->stopped, p))
			return -ERR_NOMEM;
		signal_process(p, SIGSTOP);
	}
	return 0;
}

/* A stop takes effect before the next instruction, but for a task that runs on
 * another CPU: waits until none does. Returns 0, -ERR_BUSY, or why nobody knows. */
static int stand_still(struct freeze *f, struct snapshot *now)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};

	for (int look = 0; look < LOOKS_MAX; look++) {
		bool running = false;
		int err = snapshot_of_tree(now, f->guardian);

		if (err)
			return err;
		for (size_t i = 0; i < now->n; i++)
			running = running || (now->each[i].depth > 0 && now->each[i].state == 'R');
		if (!running)
			return 0;
		nanosleep(&pause, NULL);
	}
	return -ERR_BUSY;
}

static int freeze_all(struct freeze *f, struct snapshot *now)
{
	int err = snapshot_take(now, f->guardian);
	size_t news = 1;

	if (!err)
		err = remember_bystanders(f, now);
	for (int round = 0; !err && news; round++) {
		err = stop_round(f, now, &news);
		if (!err && news && round >= ROUNDS_MAX)
			err = -ERR_BUSY;
	}
	if (!err)
		err = stand_still(f, now);
	return err ? err : still_beside(f, now);
}

int freeze_begin(pid_t guardian, pid_t bystanders, struct freeze **out)
{
	struct freeze *f = calloc(1, sizeof *f);
	struct snapshot now = {0};
	int err;

	if (!f)
		return -ERR_NOMEM;
	f->guardian = guardian;
	f->bystanders = bystanders;
	err = freeze_all(f, &now);
	free(now.each);
	if (err) {
		freeze_end(f);
		return err;
	}
	*out = f;
	return 0;
}

static void continue_bystanders(struct freeze *f)
{
	struct snapshot now = {0};

	if (f->beside.n && snapshot_take(&now, f->guardian) == 0)
		for (size_t i = 0; i < f->beside.n; i++) {
			const struct process *p = find(&now, f->beside.each[i].pid);

			if (p && p->start == f->beside.each[i].start && is_stopped(p))
				signal_process(p, SIGCONT);
		}
	free(now.each);
}

static void leave(struct freeze *f, int signal_nr)
{
	if (!f)
		return;
	if (f->stopped.n)
		qsort(f->stopped.each, f->stopped.n, sizeof *f->stopped.each, by_depth);
	for (size_t i = f->stopped.n; i--;)
		signal_process(&f->stopped.each[i], signal_nr);
	continue_bystanders(f);
	free(f->stopped.each);
	free(f->beside.each);
	free(f);
}

void freeze_end(struct freeze *f)
{
	leave(f, SIGCONT);
}

void freeze_kill(struct freeze *f)
{
	leave(f, SIGKILL);
}

void freeze_undo(pid_t guardian, pid_t bystanders)
{
	struct snapshot now = {0};

	if (snapshot_take(&now, guardian) == 0 && now.n) {
		qsort(now.each, now.n, sizeof *now.each, by_depth);
		for (size_t i = now.n; i--;)
			/* One that waits for wary has its stop still before it. */
			if ((now.each[i].depth != 0 && !is_over(&now.each[i])) ||
			    (now.each[i].pgrp == bystanders && is_stopped(&now.each[i])))
				signal_process(&now.each[i], SIGCONT);
	}
	free(now.each);
}

bool freeze_tree_has(pid_t guardian, pid_t pid)
{
	struct snapshot now = {0};
	const struct process *p;
	bool has = true;

	if (snapshot_take(&now, guardian) == 0) {
		p = find(&now, pid);
		has = !p || p->depth != 0;
	}
	free(now.each);
	return has;
}

bool freeze_tree_has_group(pid_t guardian, pid_t pgrp)
{
	struct snapshot now = {0};
	bool has = false;

	if (snapshot_take(&now, guardian) == 0)
		for (size_t i = 0; i < now.n; i++)
			has = has || (now.each[i].depth > 0 && now.each[i].pgrp == pgrp);
	free(now.each);
	return has;
}
