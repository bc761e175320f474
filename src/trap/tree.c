#include "trap/tree.h"

#include "base/buf.h"
#include "base/own.h"
#include "base/uses.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

USES(getdents64, kill, open_read, wait4);

#define ROUND_PAUSE_US 500
/* /proc/PID/task/TID/children, with names as readdir gives them. */
#define PATH_BYTES 320

struct list {
	pid_t *pids;
	size_t n, cap;
	bool partial; /* something of it could not be looked at */
};

/* What has ended needs no look; anything else that failed (no descriptor, no
 * memory) says nothing of what is there. */
static void missed(struct list *l, int error)
{
	if (error != ENOENT && error != ESRCH)
		l->partial = true;
}

static bool list_add(struct list *l, pid_t pid)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 64;
		pid_t *more = realloc(l->pids, cap * sizeof *more);

		if (!more)
			return false;
		l->pids = more;
		l->cap = cap;
	}
	l->pids[l->n++] = pid;
	return true;
}

/* Adds the children of one thread: "12 345 " in /proc. */
static void add_children(struct list *l, pid_t pid, const char *tid)
{
	char path[PATH_BYTES];
	auto_buf text = BUF_INIT;
	char *at, *end;

	(void)snprintf(path, sizeof path, "/proc/%d/task/%s/children", pid, tid);
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = fd < 0 ? -ERR_SYS : buf_read_file(&text, fd);

	if (err != 0)
		missed(l, err == -ERR_SYS ? errno : ENOMEM);
	if (err != 0 || !text.data)
		return;
	for (at = text.data;; at = end) {
		long child = strtol(at, &end, 10);

		if (end == at || child <= 0)
			return;
		if (!list_add(l, (pid_t)child)) {
			missed(l, ENOMEM);
			return;
		}
	}
}

static void add_children_of_all_threads(struct list *l, pid_t pid)
{
	char path[64];
	DIR *tasks;
	struct dirent *e;

	(void)snprintf(path, sizeof path, "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks) {
		missed(l, errno);
		return;
	}
	while ((e = readdir(tasks)))
		if (e->d_name[0] != '.')
			add_children(l, pid, e->d_name);
	closedir(tasks);
}

size_t tree_each(pid_t root, void (*each)(void *ctx, pid_t pid), void *ctx, bool *whole)
{
	struct list l = {0};
	size_t n;

	add_children_of_all_threads(&l, root);
	for (size_t i = 0; i < l.n; i++) {
		each(ctx, l.pids[i]);
		add_children_of_all_threads(&l, l.pids[i]);
	}
	n = l.n;
	if (whole)
		*whole = !l.partial;
	free(l.pids);
	return n;
}

static void end_one(void *ctx, pid_t pid)
{
	size_t *left = ctx;

	/* Outside the domain: a child of wary's that is not of the tree. */
	if (kill(pid, SIGKILL) != 0 && errno == EPERM)
		return;
	++*left;
	(void)waitpid(pid, NULL, WNOHANG | __WALL); /* where it is a child */
}

void tree_end(bool scoped)
{
	size_t left;
	bool whole;

	do {
		if (scoped)
			(void)kill(-1, SIGKILL);
		left = 0;
		(void)tree_each(getpid(), end_one, &left, &whole);
		/* What is left is dying, or was forked meanwhile; or the machine
		 * has no descriptors or memory now, and nobody knows. */
		if (left > 0 || !whole)
			(void)usleep(ROUND_PAUSE_US);
	} while (left > 0 || !whole);
}
