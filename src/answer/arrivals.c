#include "answer/arrivals.h"

#include "answer/arrivals_read.h"
#include "base/clock.h"
#include "base/own.h"
#include "base/thread.h"
#include "base/uses.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

USES(epoll_ctl, epoll_wait, pidfd_open);
USED_BEFORE(epoll_create1, eventfd2);

/* A package's JSON may be 2048 deep, and the parser's stack with it. */
#define STACK_BYTES ((size_t)1 << 20)
/* Runs at once. */
#define RUNS_MAX 64
/* For all that one run left; a person may be waiting. */
#define READING_NS (UINT64_C(30) * 1000000000u)

struct run {
	uint32_t id; /* 0: free */
	pid_t pid;
	uid_t uid;
	int pidfd;
	char *manager, *program, *registry;
	struct touched touched;
};

struct arrivals {
	struct audit *audit;
	int epoll_fd, wake_fd;
	pthread_t thread;
	bool started;
	_Atomic bool seen;
	pthread_mutex_t lock; /* guards what follows */
	struct run runs[RUNS_MAX];
	struct run late; /* what is of no run, or of one that has ended */
	uint32_t last_id;
	bool stopping;
};

static void run_free(struct run *r)
{
	fd_drop(&r->pidfd);
	free(r->manager);
	free(r->program);
	free(r->registry);
	touched_free(&r->touched);
	*r = (struct run){.pidfd = -1};
}

static struct run *run_of(struct arrivals *a, uint32_t id)
{
	for (size_t i = 0; id && i < RUNS_MAX; i++)
		if (a->runs[i].id == id)
			return &a->runs[i];
	return NULL;
}

/* ---- the thread --------------------------------------------------------- */

/* What could not be kept has no row of its own: one for all of it. */
static int note_more(const struct arrivals *a, const struct run *r)
{
	const struct audit_event e = {
		.kind = AUDIT_LIMIT,
		.class = CLASS_INSTALL,
		.answer = ANSWER_ALLOW,
		.pid = r->pid,
		.tid = r->pid,
		.uid = r->uid,
		.program = r->program,
		.object = "installed packages",
		.object2 = "there was no room to remember all of them: some have no row",
	};

	return audit_note(a->audit, &e, -E2BIG);
}

/* Where the record fails the tree is ended by whoever looks at it. */
static void read_run(struct arrivals *a, struct run *r, uint64_t until_ns)
{
	const struct arrivals_from from = {
		.audit = a->audit,
		.pid = r->pid,
		.uid = r->uid,
		.manager = r->manager,
		.program = r->program,
		.registry = r->registry,
		.until_ns = until_ns,
	};
	int err = arrivals_read(&from, &r->touched);

	if (err == -ERR_NOMEM)
		r->touched.more = true;
	if (err != -ERR_RECORD && r->touched.more && note_more(a, r) != 0)
		return;
}

/* Takes a run out, so that what still comes is late, and looks at what it left. */
static void end_run(struct arrivals *a, uint32_t id, uint64_t until_ns)
{
	struct run taken = {.pidfd = -1};
	struct run *r;

	pthread_mutex_lock(&a->lock);
	r = run_of(a, id);
	if (r) {
		taken = *r;
		*r = (struct run){.pidfd = -1};
	}
	pthread_mutex_unlock(&a->lock);
	read_run(a, &taken, until_ns);
	run_free(&taken);
}

static void end_all(struct arrivals *a)
{
	uint64_t until_ns = clock_mono_ns() + READING_NS;

	for (size_t i = 0; i < RUNS_MAX; i++)
		if (a->runs[i].id)
			end_run(a, a->runs[i].id, until_ns);
	read_run(a, &a->late, until_ns);
}

static void *main_of(void *arg)
{
	struct arrivals *a = arg;
	bool stopping = false;

	while (!stopping) {
		struct epoll_event e;
		int n = epoll_wait(a->epoll_fd, &e, 1, -1);

		if (n < 0 && errno != EINTR)
			break;
		pthread_mutex_lock(&a->lock);
		stopping = a->stopping;
		pthread_mutex_unlock(&a->lock);
		if (n == 1 && e.data.u64 && !stopping)
			end_run(a, (uint32_t)e.data.u64, clock_mono_ns() + READING_NS);
	}
	end_all(a);
	return NULL;
}

int arrivals_start(struct arrivals *a)
{
	struct epoll_event want = {.events = EPOLLIN};
	pthread_attr_t attr;
	int err;

	if (epoll_ctl(a->epoll_fd, EPOLL_CTL_ADD, a->wake_fd, &want) != 0)
		return -ERR_SYS;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	err = thread_begin(&a->thread, &attr, main_of, a);
	pthread_attr_destroy(&attr);
	a->started = err == 0;
	return err;
}

void arrivals_finish(struct arrivals *a)
{
	static const uint64_t one = 1;

	if (!a || !a->started)
		return;
	pthread_mutex_lock(&a->lock);
	a->stopping = true;
	pthread_mutex_unlock(&a->lock);
	invariant(write(a->wake_fd, &one, sizeof one) == (ssize_t)sizeof one);
	pthread_join(a->thread, NULL);
	a->started = false;
}

/* ---- runs, told by workers ----------------------------------------------- */

static char *copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

static void fill(struct arrivals *a, struct run *r, const struct arrivals_run *from)
{
	struct epoll_event want = {.events = EPOLLIN};

	r->id = ++a->last_id;
	r->pid = from->pid;
	r->uid = from->uid;
	r->manager = copy_of(from->manager);
	r->program = copy_of(from->program);
	r->registry = copy_of(from->registry);
	/* Without a descriptor its end is not seen, but the session's is. */
	r->pidfd = (int)syscall(SYS_pidfd_open, from->pid, 0);
	want.data.u64 = r->id;
	if (r->pidfd >= 0 && epoll_ctl(a->epoll_fd, EPOLL_CTL_ADD, r->pidfd, &want) != 0)
		fd_drop(&r->pidfd);
}

uint32_t arrivals_begin(struct arrivals *a, const struct arrivals_run *run)
{
	struct run *r;
	uint32_t id;

	pthread_mutex_lock(&a->lock);
	a->seen = true;
	r = run_of(a, run->before);
	id = r ? r->id : ARRIVALS_LATE; /* where there is no room for another */
	if (r && r->pid == run->pid && run->program) {
		free(r->program);
		r->program = copy_of(run->program);
	} else {
		r = NULL;
		for (size_t i = 0; !r && i < RUNS_MAX; i++)
			r = a->runs[i].id ? NULL : &a->runs[i];
		if (r && a->last_id + 1 < ARRIVALS_LATE) {
			fill(a, r, run);
			id = r->id;
		}
	}
	pthread_mutex_unlock(&a->lock);
	return id;
}

void arrivals_touch(struct arrivals *a, uint32_t run, const char *path)
{
	struct site site;
	struct run *r;

	if (!site_of(path, &site))
		return;
	pthread_mutex_lock(&a->lock);
	r = run_of(a, run);
	/* What there is no room for is said in the set. */
	(void)!touched_add(r ? &r->touched : &a->late.touched, path);
	pthread_mutex_unlock(&a->lock);
}

bool arrivals_seen(const struct arrivals *a)
{
	return a->seen;
}

/* ---- life ---------------------------------------------------------------- */

int arrivals_new(struct audit *audit, struct arrivals **out)
{
	struct arrivals *a = calloc(1, sizeof *a);

	if (!a)
		return -ERR_NOMEM;
	a->audit = audit;
	a->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	a->wake_fd = eventfd(0, EFD_CLOEXEC);
	invariant(pthread_mutex_init(&a->lock, NULL) == 0);
	for (size_t i = 0; i < RUNS_MAX; i++)
		a->runs[i].pidfd = -1;
	a->late.pidfd = -1;
	if (a->epoll_fd < 0 || a->wake_fd < 0) {
		arrivals_free(a);
		return -ERR_NOMEM;
	}
	*out = a;
	return 0;
}

void arrivals_free(struct arrivals *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < RUNS_MAX; i++)
		run_free(&a->runs[i]);
	run_free(&a->late);
	fd_drop(&a->epoll_fd);
	fd_drop(&a->wake_fd);
	pthread_mutex_destroy(&a->lock);
	free(a);
}
