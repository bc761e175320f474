#include "pool.h"

#include "base/file.h"
#include "base/own.h"
#include "base/thread.h"
#include "base/uses.h"
#include "trap/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

USES(chdir, eventfd2, getegid, geteuid, open_read, umask, unshare_fs);

#define STACK_BYTES ((size_t)192 << 10)
#define WORKERS_FIRST 3
/* How often the watcher looks at blocked callers (law 12). */
#define WATCH_MS 30
/* … and how many looks without a blocked caller before it sleeps. */
#define WATCH_CALM 30
/* A second receiver pays when calls queue up; it retires after so many of its
 * own looks in a row that found nothing waiting. */
#define CALM_CALLS 16
/* It looks only after every so many calls: a look is a system call. */
#define LOOK_CALLS 8
#define SLOTS_MAX 2

struct pool_thread {
	struct worker worker;
	struct pool *pool;
	pthread_t thread;
	bool has_slot;
	unsigned calm, calls;
};

struct pool {
	struct supervisor *sup;
	const struct pool_ops *ops;
	pthread_t watcher;
	bool watched; /* there is one */
	int wake_fd;  /* eventfd: something for the watcher */
	sem_t slots;
	_Atomic int slots_n;    /* slots that exist */
	_Atomic int parked_n;   /* workers that wait for a slot */
	_Atomic int blocking_n; /* workers between block begin and end */
	_Atomic int threads_n;
	_Atomic bool ended;          /* the listener has hung up */
	_Atomic bool watcher_asleep; /* it sleeps until it is woken */
	struct pool_thread *threads[POOL_WORKERS_MAX];
};

static int cancel_signal(void)
{
	return SIGRTMIN + 2;
}

static void wake_watcher(struct pool *p)
{
	uint64_t one = 1;

	if (write(p->wake_fd, &one, sizeof one) < 0)
		return; /* full: it is awake already */
}

static void take_slot(struct pool_thread *t)
{
	if (t->has_slot)
		return;
	atomic_fetch_add(&t->pool->parked_n, 1);
	while (sem_wait(&t->pool->slots) != 0)
		continue;
	atomic_fetch_sub(&t->pool->parked_n, 1);
	t->has_slot = true;
	t->calm = 0;
}

static void give_slot(struct pool_thread *t)
{
	t->has_slot = false;
	sem_post(&t->pool->slots);
}

static bool is_ready(const struct pool *p, int event)
{
	int events = file_ready(p->sup->listener_fd, POLLIN);

	return events > 0 && (events & event);
}

/* One slot more while callers wait beside the one that is served; one less when
 * they no longer do.  Only ever by the worker that holds one. */
static void adapt_slots(struct pool_thread *t)
{
	struct pool *p = t->pool;
	int n = atomic_load(&p->slots_n);

	if (is_ready(p, POLLIN)) {
		t->calm = 0;
		if (n < SLOTS_MAX && atomic_load(&p->parked_n) > 0 &&
		    atomic_compare_exchange_strong(&p->slots_n, &n, n + 1))
			sem_post(&p->slots);
		return;
	}
	if (n > 1 && ++t->calm >= CALM_CALLS &&
	    atomic_compare_exchange_strong(&p->slots_n, &n, n - 1)) {
		t->has_slot = false; /* the slot ceases to be */
		t->calm = 0;
	}
}

void worker_look(struct worker *w)
{
	struct pool_thread *t = (struct pool_thread *)w;

	if (t->has_slot && ++t->calls % LOOK_CALLS == 0)
		adapt_slots(t);
}

static void prepare_thread(struct pool_thread *t)
{
	sigset_t mask;

	/* A file system context of its own: umask and cwd are worn. */
	invariant(unshare(CLONE_FS) == 0);
	invariant(chdir("/") == 0);
	thread_mask(&mask);
	sigdelset(&mask, cancel_signal());
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	t->worker.umask_now = umask(022);
	umask(t->worker.umask_now);
	t->worker.fsuid_now = geteuid();
	t->worker.fsgid_now = getegid();
}

static void *worker_main(void *arg)
{
	struct pool_thread *t = arg;
	struct pool *p = t->pool;
	struct seccomp_notif n;

	prepare_thread(t);
	while (!atomic_load(&p->ended)) {
		int err;

		take_slot(t);
		if (atomic_load(&p->ended))
			break;
		err = notify_receive(p->sup->listener_fd, &n);
		if (err == -EINTR)
			continue;
		if (err) { /* ENOENT: the caller died first, or all are gone */
			if (is_ready(p, POLLHUP))
				break;
			continue;
		}
		p->ops->serve(&t->worker, &n);
	}
	/* Whoever is still parked must see the end as well. */
	atomic_store(&p->ended, true);
	t->has_slot = false;
	sem_post(&p->slots);
	wake_watcher(p);
	p->ops->done(&t->worker);
	fd_drop(&t->worker.proc_self_fd_dir);
	return NULL;
}

static int spawn(struct pool *p)
{
	struct pool_thread *t;
	pthread_attr_t attr;
	int i = atomic_load(&p->threads_n);
	int err;

	if (i >= POOL_WORKERS_MAX)
		return -ERR_BUSY;
	t = calloc(1, sizeof *t);
	if (!t)
		return -ERR_NOMEM;
	t->pool = p;
	t->worker.sup = p->sup;
	t->worker.index = i;
	t->worker.proc_self_fd_dir = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (t->worker.proc_self_fd_dir < 0) {
		free(t);
		return -ERR_SYS;
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	err = pthread_create(&t->thread, &attr, worker_main, t);
	pthread_attr_destroy(&attr);
	if (err) {
		fd_drop(&t->worker.proc_self_fd_dir);
		free(t);
		return -ERR_SYS;
	}
	p->threads[i] = t;
	atomic_store(&p->threads_n, i + 1);
	return 0;
}

static uint64_t mask_after(const char *text, const char *label)
{
	const char *s = strstr(text, label);

	return s ? strtoull(s + strlen(label), NULL, 16) : 0;
}

/* Whether a signal is pending for the caller that it neither blocks nor
 * ignores.  The answer holds only if the notification is valid afterwards. */
static bool signal_pending(pid_t tid)
{
	char path[64];
	char text[4096];
	ssize_t n;
	uint64_t pending;
	auto_fd fd = -1;

	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof text - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	pending = mask_after(text, "\nSigPnd:") | mask_after(text, "\nShdPnd:");
	pending &= ~mask_after(text, "\nSigBlk:") & ~mask_after(text, "\nSigIgn:");
	return pending != 0;
}

/* A blocked worker's caller has gone, or has a signal to attend to: ends the
 * worker's system call.  Repeated at each look, since the first signal may
 * come just before it blocks. */
static void look_at(struct pool_thread *t)
{
	uint64_t id = atomic_load(&t->worker.blocking_id);
	int listener_fd = t->pool->sup->listener_fd;
	bool interrupted;

	if (!id)
		return;
	interrupted = signal_pending(atomic_load(&t->worker.blocking_tid));
	if (notify_valid(listener_fd, id) == 0) {
		if (!interrupted || atomic_load(&t->worker.patient))
			return;
		atomic_store(&t->worker.interrupted, true);
	}
	atomic_store(&t->worker.cancelled, true);
	if (atomic_load(&t->worker.blocking_id) == id)
		pthread_kill(t->thread, cancel_signal());
}

static void ensure_parked(struct pool *p)
{
	while (atomic_load(&p->parked_n) == 0 &&
	       atomic_load(&p->blocking_n) >= atomic_load(&p->threads_n) - 1)
		if (spawn(p) != 0)
			return; /* at the cap, or no memory: begin refuses then */
}

static void *watcher_main(void *arg)
{
	struct pool *p = arg;
	unsigned calm = 0;

	while (!atomic_load(&p->ended)) {
		struct pollfd fd = {.fd = p->wake_fd, .events = POLLIN};
		uint64_t count;

		calm = atomic_load(&p->blocking_n) ? 0 : calm + 1;
		/* Waking it costs more than its looks do, so it goes on looking
		 * for a while after the last call that could block. */
		atomic_store(&p->watcher_asleep, calm > WATCH_CALM);
		if (calm > WATCH_CALM && atomic_load(&p->blocking_n) == 0)
			(void)poll(&fd, 1, -1);
		else
			(void)poll(&fd, 1, WATCH_MS);
		if (fd.revents && read(p->wake_fd, &count, sizeof count) > 0)
			calm = 0;
		ensure_parked(p);
		for (int i = 0; i < atomic_load(&p->threads_n); i++)
			look_at(p->threads[i]);
	}
	return NULL;
}

static void on_cancel(int sig)
{
	(void)sig; /* only ends a system call */
}

int worker_block_begin(struct worker *w, uint64_t id, pid_t tid)
{
	struct pool_thread *t = (struct pool_thread *)w;
	struct pool *p = t->pool;
	int blocking = atomic_fetch_add(&p->blocking_n, 1) + 1;

	/* One thread must be left to serve the others. */
	if (blocking >= POOL_WORKERS_MAX) {
		atomic_fetch_sub(&p->blocking_n, 1);
		return -ERR_BUSY;
	}
	atomic_store(&w->cancelled, false);
	atomic_store(&w->interrupted, false);
	atomic_store(&w->blocking_tid, tid);
	atomic_store(&w->blocking_id, id);
	if (t->has_slot)
		give_slot(t);
	if (atomic_load(&p->watcher_asleep) || atomic_load(&p->parked_n) == 0)
		wake_watcher(p);
	return 0;
}

void worker_block_end(struct worker *w)
{
	struct pool_thread *t = (struct pool_thread *)w;

	atomic_store(&w->blocking_id, 0);
	atomic_fetch_sub(&t->pool->blocking_n, 1);
}

static int start_threads(struct pool *p)
{
	for (int i = 0; i < WORKERS_FIRST; i++) {
		int err = spawn(p);

		if (err)
			return err;
	}
	/* Without the watcher nobody would interrupt a blocked worker. */
	if (thread_begin(&p->watcher, NULL, watcher_main, p) != 0)
		return -ERR_SYS;
	p->watched = true;
	return 0;
}

int pool_start(struct supervisor *s, const struct pool_ops *ops, struct pool **out)
{
	struct sigaction act = {.sa_handler = on_cancel};
	/* Each exec stop would wake the main thread, only to find nothing to do: the worker
	 * that traces is waiting for it (wait(2), SA_NOCLDSTOP in sigaction(2)). */
	struct sigaction no_stops = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
	struct pool *p = calloc(1, sizeof *p);
	int err;

	if (!p)
		return -ERR_NOMEM;
	p->sup = s;
	p->ops = ops;
	p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->wake_fd < 0 || sem_init(&p->slots, 0, 1) != 0 ||
	    sigaction(cancel_signal(), &act, NULL) != 0 ||
	    sigaction(SIGCHLD, &no_stops, NULL) != 0) {
		fd_drop(&p->wake_fd);
		free(p);
		return -ERR_SYS;
	}
	atomic_store(&p->slots_n, 1);
	err = start_threads(p);
	if (err) {
		pool_stop(p);
		return err;
	}
	*out = p;
	return 0;
}

void pool_stop(struct pool *p)
{
	if (!p)
		return;
	atomic_store(&p->ended, true);
	wake_watcher(p);
	if (p->watched)
		pthread_join(p->watcher, NULL);
	for (int i = 0; i < atomic_load(&p->threads_n); i++) {
		struct pool_thread *t = p->threads[i];

		/* Kernels before 6.11 do not end RECV at the hang-up, and a
		 * signal may come just before it: so again, until it ends. */
		while (pthread_tryjoin_np(t->thread, NULL) != 0) {
			const struct timespec pause = {.tv_nsec = 200000};

			sem_post(&p->slots);
			pthread_kill(t->thread, cancel_signal());
			nanosleep(&pause, NULL);
		}
		free(t);
	}
	sem_destroy(&p->slots);
	fd_drop(&p->wake_fd);
	free(p);
}
