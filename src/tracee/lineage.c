#include "tracee/lineage.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/own.h"
#include "base/uses.h"
#include "tracee/lineage_entry.h"
#include "tracee/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

USES(pidfd_open, prlimit64, readlinkat);

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

#define BUCKETS 1024u
/* Earlier images of one process that its children may still be of. */
#define HISTORY 4
/* Images whose children may be met after their parent has left. */
#define ORPHANS 1024
/* Descriptors are kept for at most so many processes and threads, and for no
 * more than a quarter of what wary may have; beyond that a process is told by
 * its start time and a thread by /proc. */
#define PIDFDS_MAX 2048
/* So many processes and threads that have ended may stay known. */
#define FEW 16
/* How far up a parent is looked for that was itself not seen yet. */
#define CLIMB_MAX 16

struct proc {
	struct proc *next;
	pid_t tgid;
	uint64_t start_ticks;
	int pidfd; /* of the process; -1: none was to be had */
	const struct lineage_entry *now;
	const struct lineage_entry *earlier[HISTORY];
	unsigned earlier_n; /* how many were ever pushed */
	bool told;          /* it had an exec stop, or lineage_of_first has told of it */
};

/* A thread that is not the leader. */
struct thread {
	struct thread *next;
	pid_t tid, tgid;
	int pidfd; /* of the thread; -1: asked of /proc */
};

struct lineage {
	pthread_mutex_t lock;
	struct proc *procs[BUCKETS];
	struct thread *threads[BUCKETS];
	size_t procs_n, threads_n, pidfds_n, pidfds_max;
	size_t sweep_at; /* how many of both start a sweep */
	const struct lineage_entry *orphans[ORPHANS];
	unsigned orphans_n; /* how many were ever remembered */
	const struct lineage_entry *unknown;
};

static unsigned bucket(pid_t id)
{
	return (unsigned)id % BUCKETS;
}

/* ---- is a number still the same process ------------------------------- */

static int pidfd_of(pid_t id, unsigned flags)
{
	return (int)syscall(SYS_pidfd_open, id, flags);
}

/* A worker at an exec stop is signalled as well: its notification is over. */
static bool still_running(int pidfd)
{
	return file_ready(pidfd, POLLIN) == 0;
}

static bool proc_alive(const struct proc *p)
{
	uint64_t ticks;

	if (p->pidfd >= 0)
		return still_running(p->pidfd);
	return procfs_start(p->tgid, &ticks) == 0 && ticks == p->start_ticks;
}

static bool thread_alive(const struct thread *t)
{
	if (t->pidfd >= 0)
		return still_running(t->pidfd);
	return procfs_has_thread(t->tgid, t->tid);
}

/* ---- the tables; the lock is held ------------------------------------- */

static void close_pidfd(struct lineage *l, int *pidfd)
{
	if (*pidfd >= 0)
		l->pidfds_n--;
	fd_drop(pidfd);
}

static void proc_free(struct lineage *l, struct proc *p)
{
	entry_put(p->now);
	for (unsigned i = 0; i < HISTORY; i++)
		entry_put(p->earlier[i]);
	close_pidfd(l, &p->pidfd);
	free(p);
	l->procs_n--;
}

static void thread_free(struct lineage *l, struct thread *t)
{
	close_pidfd(l, &t->pidfd);
	free(t);
	l->threads_n--;
}

/* Without asking whether it still is. */
static struct proc *proc_entered(struct lineage *l, pid_t tgid)
{
	struct proc *p = l->procs[bucket(tgid)];

	while (p && p->tgid != tgid)
		p = p->next;
	return p;
}

static struct proc *proc_find(struct lineage *l, pid_t tgid)
{
	struct proc **at = &l->procs[bucket(tgid)];

	for (; *at; at = &(*at)->next) {
		struct proc *p = *at;

		if (p->tgid != tgid)
			continue;
		if (proc_alive(p))
			return p;
		*at = p->next;
		proc_free(l, p);
		return NULL;
	}
	return NULL;
}

static struct thread *thread_find(struct lineage *l, pid_t tid)
{
	struct thread **at = &l->threads[bucket(tid)];

	for (; *at; at = &(*at)->next) {
		struct thread *t = *at;

		if (t->tid != tid)
			continue;
		if (thread_alive(t))
			return t;
		*at = t->next;
		thread_free(l, t);
		return NULL;
	}
	return NULL;
}

static void sweep(struct lineage *l)
{
	for (unsigned b = 0; b < BUCKETS; b++) {
		for (struct proc **at = &l->procs[b]; *at;) {
			struct proc *p = *at;

			if (proc_alive(p)) {
				at = &p->next;
				continue;
			}
			*at = p->next;
			proc_free(l, p);
		}
		for (struct thread **at = &l->threads[b]; *at;) {
			struct thread *t = *at;

			if (thread_alive(t)) {
				at = &t->next;
				continue;
			}
			*at = t->next;
			thread_free(l, t);
		}
	}
	l->sweep_at = 2 * (l->procs_n + l->threads_n) + 256;
}

static void sweep_if_due(struct lineage *l)
{
	if (l->procs_n + l->threads_n >= l->sweep_at)
		sweep(l);
}

/* The process that a number names, if it was seen: of a leader, or of a thread
 * that was seen as well. */
static struct proc *proc_of_tid(struct lineage *l, pid_t tid)
{
	struct proc *p = proc_find(l, tid);
	const struct thread *t = p ? NULL : thread_find(l, tid);

	if (!t)
		return p;
	/* It was entered below a process that was there, and while it is there
	 * itself that number is nobody else's: a process has its number until its
	 * last thread has left. */
	return t->pidfd >= 0 ? proc_entered(l, t->tgid) : proc_find(l, t->tgid);
}

/* Takes @pidfd, unless there are too many: then the start time must do. */
static int keep_pidfd(struct lineage *l, int *pidfd)
{
	if (*pidfd < 0 || l->pidfds_n >= l->pidfds_max)
		return -1;
	l->pidfds_n++;
	return fd_take(pidfd);
}

static struct proc *proc_add(struct lineage *l, pid_t tgid, uint64_t ticks, int *pidfd,
                             const struct lineage_entry *now)
{
	struct proc *p;

	sweep_if_due(l);
	p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->tgid = tgid;
	p->start_ticks = ticks;
	p->pidfd = keep_pidfd(l, pidfd);
	p->now = entry_get(now);
	p->next = l->procs[bucket(tgid)];
	l->procs[bucket(tgid)] = p;
	l->procs_n++;
	return p;
}

static void thread_add(struct lineage *l, pid_t tid, pid_t tgid, int *pidfd)
{
	struct thread *t = calloc(1, sizeof *t);

	if (!t)
		return; /* it is looked up anew the next time */
	t->tid = tid;
	t->tgid = tgid;
	t->pidfd = keep_pidfd(l, pidfd);
	t->next = l->threads[bucket(tid)];
	l->threads[bucket(tid)] = t;
	l->threads_n++;
}

/* ---- whose child an unseen process is --------------------------------- */

struct unseen {
	pid_t tid;
	struct procfs_ids ids;
	uint64_t start_ticks;   /* 0: not read */
	int thread_fd, proc_fd; /* owned */
	struct lineage_print print;
};

/* Reads when it started; false where it has left meanwhile. */
static bool know_start(struct unseen *u)
{
	return u->start_ticks != 0 || (procfs_start(u->ids.tgid, &u->start_ticks) == 0 &&
	                               (u->proc_fd < 0 || still_running(u->proc_fd)));
}

static const struct lineage_entry *proc_image(const struct proc *p, struct unseen *child)
{
	const struct lineage_print *print = &child->print;

	if (entry_same_print(&p->now->print, print))
		return p->now;
	for (unsigned i = 0; i < HISTORY; i++)
		if (p->earlier[i] && entry_same_print(&p->earlier[i]->print, print))
			return p->earlier[i];
	/* Born after the last exec: of that image, whatever its addresses. */
	if (p->now->exec_ticks && know_start(child) && child->start_ticks > p->now->exec_ticks)
		return p->now;
	return NULL;
}

static const struct lineage_entry *orphan_image(const struct lineage *l,
                                                const struct lineage_print *print)
{
	const struct lineage_entry *found = NULL;

	for (unsigned i = 0; i < ORPHANS; i++) {
		const struct lineage_entry *e = l->orphans[i];

		if (!e || !entry_same_print(&e->print, print))
			continue;
		if (found)
			return NULL; /* two claim it: neither is certain */
		found = e;
	}
	return found;
}

static void unseen_done(struct unseen *u)
{
	fd_drop(&u->thread_fd);
	fd_drop(&u->proc_fd);
}

/* Everything that /proc says of @tid, on descriptors that pin the numbers.
 * Returns 0 or -ERR_GONE. */
static int unseen_read(pid_t tid, struct unseen *u)
{
	uint64_t auxv[64];
	size_t n = sizeof auxv / sizeof auxv[0];

	*u = (struct unseen){.tid = tid, .thread_fd = -1};
	u->proc_fd = pidfd_of(tid, 0); /* fails for who is not a leader */
	if (u->proc_fd < 0)
		u->thread_fd = pidfd_of(tid, PIDFD_THREAD);
	if (procfs_ids_of(u->proc_fd, tid, &u->ids) != 0)
		return -ERR_GONE;
	if (u->ids.tgid != tid) {
		fd_drop(&u->proc_fd);
		u->proc_fd = pidfd_of(u->ids.tgid, 0);
	}
	/* Without a descriptor the start time tells it. */
	if (u->proc_fd < 0 && !know_start(u))
		return -ERR_GONE;
	if (procfs_auxv(u->ids.tgid, auxv, &n) == 0)
		lineage_print_of(auxv, n, &u->print);
	/* What was read belongs together only if the numbers did not move. */
	if (u->proc_fd >= 0 && !still_running(u->proc_fd))
		return -ERR_GONE;
	if (tid != u->ids.tgid && !procfs_has_thread(u->ids.tgid, tid))
		return -ERR_GONE;
	return 0;
}

static const struct lineage_entry *lookup(struct lineage *l, pid_t tid, unsigned climb, pid_t *tgid,
                                          bool *first);

/* With a reference; never NULL. */
static const struct lineage_entry *inherited(struct lineage *l, struct unseen *u, unsigned climb)
{
	const struct lineage_entry *found = NULL;
	struct procfs_ids again;
	const struct proc *parent;

	if (climb < CLIMB_MAX && u->ids.ppid > 1)
		entry_put(lookup(l, u->ids.ppid, climb + 1, NULL, NULL));
	pthread_mutex_lock(&l->lock);
	parent = proc_find(l, u->ids.ppid);
	if (parent)
		found = proc_image(parent, u);
	/* Still its child: then the number was the parent's all the while. */
	if (found &&
	    (procfs_ids_of(u->proc_fd, u->ids.tgid, &again) != 0 || again.ppid != u->ids.ppid))
		found = NULL;
	if (!found)
		found = orphan_image(l, &u->print);
	found = entry_get(found ? found : l->unknown);
	pthread_mutex_unlock(&l->lock);
	return found;
}

/* Whether this is the first time that it is asked. */
static bool tell(struct proc *p)
{
	return !p->told && (p->told = true);
}

/* Enters what was found, unless another thread was quicker. */
static const struct lineage_entry *enter(struct lineage *l, struct unseen *u,
                                         const struct lineage_entry *found, bool *first)
{
	const struct lineage_entry *e = NULL;
	struct proc *p;

	pthread_mutex_lock(&l->lock);
	/* First of all, since it frees: a process that only makes threads, each of
	 * which lives for a moment, adds no process ever. */
	sweep_if_due(l);
	p = proc_find(l, u->ids.tgid);
	if (!p && found)
		p = proc_add(l, u->ids.tgid, u->start_ticks, &u->proc_fd, found);
	if (p && u->tid != p->tgid && !thread_find(l, u->tid))
		thread_add(l, u->tid, p->tgid, &u->thread_fd);
	if (p)
		e = entry_get(p->now);
	if (p && first)
		*first = tell(p);
	pthread_mutex_unlock(&l->lock);
	return e;
}

static bool seen(struct lineage *l, pid_t tgid)
{
	bool is;

	pthread_mutex_lock(&l->lock);
	is = proc_find(l, tgid) != NULL;
	pthread_mutex_unlock(&l->lock);
	return is;
}

static const struct lineage_entry *lookup(struct lineage *l, pid_t tid, unsigned climb, pid_t *tgid,
                                          bool *first)
{
	const struct lineage_entry *found = NULL;
	const struct lineage_entry *e = NULL;
	struct proc *p;
	struct unseen u;

	pthread_mutex_lock(&l->lock);
	p = proc_of_tid(l, tid);
	if (p)
		e = entry_get(p->now);
	if (tgid)
		*tgid = p ? p->tgid : 0;
	if (first)
		*first = p && tell(p);
	pthread_mutex_unlock(&l->lock);
	if (e)
		return e;
	if (unseen_read(tid, &u) == 0) {
		if (!seen(l, u.ids.tgid))
			found = inherited(l, &u, climb);
		e = enter(l, &u, found, first);
		entry_put(found);
		if (tgid)
			*tgid = u.ids.tgid;
	}
	unseen_done(&u);
	return e;
}

/* ---- public ----------------------------------------------------------- */

int lineage_new(struct lineage **out)
{
	struct lineage *l = calloc(1, sizeof *l);

	if (!l)
		return -ERR_NOMEM;
	l->pidfds_max = fd_share(PIDFDS_MAX);
	l->unknown = entry_new(NULL, NULL);
	if (!l->unknown) {
		free(l);
		return -ERR_NOMEM;
	}
	l->sweep_at = 256;
	pthread_mutex_init(&l->lock, NULL);
	*out = l;
	return 0;
}

void lineage_free(struct lineage *l)
{
	if (!l)
		return;
	for (unsigned b = 0; b < BUCKETS; b++) {
		while (l->procs[b]) {
			struct proc *p = l->procs[b];

			l->procs[b] = p->next;
			proc_free(l, p);
		}
		while (l->threads[b]) {
			struct thread *t = l->threads[b];

			l->threads[b] = t->next;
			thread_free(l, t);
		}
	}
	for (unsigned i = 0; i < ORPHANS; i++)
		entry_put(l->orphans[i]);
	entry_put(l->unknown);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

void lineage_settle(struct lineage *l)
{
	pthread_mutex_lock(&l->lock);
	if (l->procs_n + l->threads_n > FEW)
		sweep(l);
	pthread_mutex_unlock(&l->lock);
}

/* The clock of start times, rounded up: a child counts as born later only if
 * it certainly was. */
static uint64_t ticks_now(void)
{
	uint64_t per_tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);

	return clock_ns(CLOCK_BOOTTIME) / per_tick_ns + 1;
}

/* What a process runs from now on.  Takes the reference of @e. */
static int set_now(struct lineage *l, pid_t tgid, struct lineage_entry *e)
{
	struct proc *p;

	e->exec_ticks = ticks_now();
	pthread_mutex_lock(&l->lock);
	p = proc_find(l, tgid);
	if (!p) {
		auto_fd pidfd = pidfd_of(tgid, 0);
		uint64_t ticks = 0;

		if (procfs_start(tgid, &ticks) == 0)
			p = proc_add(l, tgid, ticks, &pidfd, e);
	} else {
		const struct lineage_entry **slot = &p->earlier[p->earlier_n++ % HISTORY];

		entry_put(*slot);
		*slot = p->now;
		p->now = entry_get(e);
	}
	if (p) {
		const struct lineage_entry **slot = &l->orphans[l->orphans_n++ % ORPHANS];

		p->told = true;
		entry_put(*slot);
		*slot = entry_get(e);
	}
	pthread_mutex_unlock(&l->lock);
	entry_put(e);
	return p ? 0 : -ERR_NOMEM;
}

int lineage_seed(struct lineage *l, pid_t tgid)
{
	struct facts_program wary = {.fixed = true, .argv_whole = true};
	struct lineage_exec exec = {.program = &wary};
	struct lineage_entry none = {.known = true};
	struct lineage_entry *e;
	char self[4096];
	ssize_t n = readlinkat(AT_FDCWD, "/proc/self/exe", self, sizeof self - 1);
	uint64_t auxv[64];
	size_t words = sizeof auxv / sizeof auxv[0];

	if (n > 0) {
		self[n] = '\0';
		wary.path = self;
	}
	if (procfs_auxv(tgid, auxv, &words) == 0)
		lineage_print_of(auxv, words, &exec.print);
	e = entry_new(&none, &exec);
	if (!e)
		return -ERR_NOMEM;
	e->tgid = tgid;
	return set_now(l, tgid, e);
}

int lineage_exec(struct lineage *l, pid_t tgid, const struct lineage_exec *exec)
{
	const struct lineage_entry *before = lookup(l, tgid, 0, NULL, NULL);
	struct lineage_entry *e = entry_new(before, exec);

	entry_put(before);
	if (!e)
		return -ERR_NOMEM;
	e->tgid = tgid;
	return set_now(l, tgid, e);
}

const struct lineage_entry *lineage_of_first(struct lineage *l, pid_t tid, pid_t *tgid, bool *first)
{
	return lookup(l, tid, 0, tgid, first);
}

void lineage_put(struct lineage *l, const struct lineage_entry *e)
{
	(void)l;
	entry_put(e);
}

void lineage_facts(const struct lineage_entry *e, struct facts *out)
{
	if (!e) {
		memset(&out->by, 0, sizeof out->by);
		out->under = NULL;
		out->under_known = false;
		return;
	}
	out->by = e->program;
	out->under = e->under;
	out->under_known = e->known;
}
