#include "trap/processes.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/own.h"
#include "base/thread.h"
#include "base/uses.h"
#include "tracee/lineage.h"
#include "tracee/procfs.h"
#include "trap/calm.h"
#include "trap/notify.h"
#include "trap/used.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

USES(epoll_ctl, epoll_wait, ioctl_pidfd, pidfd_open);
USED_BEFORE(epoll_create1, eventfd2, prlimit64, uname);

#define BUCKETS 1024
/* Watched at once, and no more than a quarter of wary's descriptors; of what comes
 * beyond that no end is recorded, and the record says that there was such. */
#define WATCHED_MAX 2048
/* Of a chain of processes that only forked so many are placed. */
#define FORKS_MAX 64
#define EVENTS_AT_ONCE 64
/* A process is looked at for what it uses when it is so old, then after twice that time and
 * so on, after no more than the longest; so many at once under the lock. */
#define LOOK_FIRST_MS 100
#define LOOK_LONGEST_MS 10000
#define LOOKS_AT_ONCE 64
/* The end of a process that wary could not be told the status of. */
#define STATUS_UNKNOWN (-1)

struct process {
	struct process *next; /* in its bucket */
	pid_t pid, ppid;
	uid_t uid;
	int pidfd;
	char *program; /* NULL: it only forked */
	struct used used;
	uint64_t look_ms; /* when it is looked at next, by the monotonic clock */
	unsigned gap_ms;
};

struct processes {
	struct audit *audit;
	struct lineage *lineage;
	pid_t guardian;
	bool tells_status; /* the kernel does */
	int epoll_fd, wake_fd;
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	struct process *buckets[BUCKETS];
	size_t watched, watched_max;
	bool was_full;   /* is on record */
	uint64_t due_ms; /* of the first look; 0: none */
	bool stopping;
};

/* As in linux/pidfd.h of 6.15, which older headers lack. */
struct pidfd_ending {
	uint64_t mask, cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};
#define PIDFD_ASK _IOWR(0xff, 11, struct pidfd_ending)
#define PIDFD_HAS_EXIT 8u

static bool kernel_tells_status(void)
{
	struct utsname u;
	unsigned major = 0;
	unsigned minor = 0;

	return uname(&u) == 0 && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 15));
}

static struct process **place_of(struct processes *p, pid_t pid)
{
	struct process **at = &p->buckets[(unsigned)pid % BUCKETS];

	while (*at && (*at)->pid != pid)
		at = &(*at)->next;
	return at;
}

/* Whether it has ended: where the kernel tells the status, has been reaped. */
static bool has_ended(const struct processes *p, int pidfd)
{
	return file_ready(pidfd, p->tells_status ? 0 : POLLIN) > 0;
}

static int status_of(int pidfd)
{
	struct pidfd_ending e = {.mask = PIDFD_HAS_EXIT};

	if (ioctl(pidfd, PIDFD_ASK, &e) != 0 || !(e.mask & PIDFD_HAS_EXIT))
		return STATUS_UNKNOWN;
	return e.exit_code;
}

static int note_end(struct processes *p, const struct process *one)
{
	int status = status_of(one->pidfd);
	char word[32] = "ended";
	char used[USED_WORDS_MAX][USED_WORD_BYTES];
	const char *words[USED_WORDS_MAX];
	unsigned words_n = used_words(&one->used, used);
	long result = 0;
	struct audit_event e = {
		.kind = AUDIT_PROCESS,
		.class = CLASS_EXEC,
		.answer = ANSWER_ALLOW,
		.pid = one->pid,
		.tid = one->pid,
		.ppid = one->ppid,
		.uid = one->uid,
		.program = one->program,
		.object = one->program,
		.object2 = word,
		.reason = status,
		.argv = words_n ? words : NULL,
		.argc = words_n,
	};

	for (unsigned i = 0; i < words_n; i++)
		words[i] = used[i];
	if (status != STATUS_UNKNOWN && WIFSIGNALED(status)) {
		const char *name = sigabbrev_np(WTERMSIG(status));

		snprintf(word, sizeof word, "killed by %s%s", name ? "SIG" : "a signal",
		         name ? name : "");
		result = 128 + WTERMSIG(status);
	} else if (status != STATUS_UNKNOWN) {
		snprintf(word, sizeof word, "exited");
		result = WEXITSTATUS(status);
	}
	return audit_note(p->audit, &e, result);
}

static void forget(struct processes *p, struct process **at)
{
	struct process *one = *at;

	*at = one->next;
	fd_drop(&one->pidfd);
	free(one->program);
	free(one);
	p->watched--;
}

/* The process that has this number now, if it is known, also where it has ended and is
 * not reaped yet; one that had it before is brought to its end. */
static int find(struct processes *p, pid_t pid, struct process **out)
{
	struct process **at = place_of(p, pid);
	int err = 0;

	*out = NULL;
	if (!*at)
		return 0;
	/* Its number is its own until it is reaped, and only then is its status told. */
	if (file_ready((*at)->pidfd, POLLIN) == 0 || !has_ended(p, (*at)->pidfd)) {
		*out = *at;
		return 0;
	}
	err = note_end(p, *at);
	forget(p, at);
	return err;
}

static uint64_t now_ms(void)
{
	return clock_mono_ns() / 1000000;
}

/* The thread, if it sleeps for longer, is told. */
static void look_later(struct processes *p, struct process *one)
{
	static const uint64_t wake = 1;

	one->gap_ms = LOOK_FIRST_MS;
	one->look_ms = now_ms() + one->gap_ms;
	if (p->due_ms && p->due_ms <= one->look_ms)
		return;
	p->due_ms = one->look_ms;
	(void)!write(p->wake_fd, &wake, sizeof wake);
}

static int note_full(struct processes *p, const struct audit_event *first)
{
	char many[96];
	struct audit_event e = {
		.kind = AUDIT_LIMIT,
		.class = CLASS_EXEC,
		.answer = ANSWER_ALLOW,
		.pid = first->pid,
		.tid = first->pid,
		.uid = first->uid,
		.object = "processes",
		.object2 = many,
	};

	if (p->was_full)
		return 0;
	p->was_full = true;
	snprintf(many, sizeof many, "more than %zu at once: the end of some is not recorded",
	         p->watched_max);
	return audit_note(p->audit, &e, -EMFILE);
}

/* Takes over @pidfd. */
static int watch(struct processes *p, const struct audit_event *e, int *pidfd)
{
	struct epoll_event want = {.data.u64 = (uint64_t)e->pid};
	struct process **at = place_of(p, e->pid);
	struct process *one;

	if (p->watched >= p->watched_max)
		return note_full(p, e);
	one = calloc(1, sizeof *one);
	if (!one)
		return -ERR_NOMEM;
	/* Once where it has ended, and where the kernel tells the status then once more
	 * where it is reaped. */
	want.events = EPOLLIN | EPOLLET;
	*one = (struct process){.pid = e->pid, .ppid = e->ppid, .uid = e->uid, .pidfd = -1};
	one->program = e->program ? strdup(e->program) : NULL;
	if ((e->program && !one->program) ||
	    epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, *pidfd, &want) != 0) {
		free(one->program);
		free(one);
		return -ERR_NOMEM;
	}
	one->pidfd = fd_take(pidfd);
	one->next = *at;
	*at = one;
	p->watched++;
	look_later(p, one);
	return 0;
}

static int open_process(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* A process that only forked, whose child is to be placed below it. */
static int note_fork(struct processes *p, pid_t pid, pid_t ppid, uid_t uid, int *pidfd)
{
	struct audit_event e = {
		.kind = AUDIT_PROCESS,
		.class = CLASS_EXEC,
		.answer = ANSWER_ALLOW,
		.pid = pid,
		.tid = pid,
		.ppid = ppid,
		.uid = uid,
		.object2 = "forked",
	};
	int err = audit_note(p->audit, &e, 0);

	return err || *pidfd < 0 ? err : watch(p, &e, pidfd);
}

/* Rows of the ancestors that have none: from the nearest upwards they are
 * found, and from the highest downwards recorded. */
static int place_parents(struct processes *p, int child_fd, pid_t child, pid_t ppid, uid_t uid)
{
	struct {
		pid_t pid, ppid;
		int pidfd;
	} chain[FORKS_MAX];
	size_t n = 0;
	int err = 0;

	while (n < FORKS_MAX && ppid > 1 && ppid != p->guardian) {
		struct procfs_ids above;
		struct procfs_ids still;
		struct process *known = NULL;
		int fd;

		err = find(p, ppid, &known);
		if (err || known)
			break;
		fd = open_process(ppid);
		/* While the child still has it as its parent, the number was its own. */
		if (fd < 0 || procfs_ids_of(fd, ppid, &above) != 0 ||
		    procfs_ids_of(child_fd, child, &still) != 0 || still.ppid != ppid) {
			fd_drop(&fd);
			break;
		}
		chain[n].pid = ppid;
		chain[n].ppid = above.ppid;
		chain[n++].pidfd = fd;
		child_fd = fd;
		child = ppid;
		ppid = above.ppid;
	}
	while (n--) {
		if (!err)
			err = note_fork(p, chain[n].pid, chain[n].ppid, uid, &chain[n].pidfd);
		fd_drop(&chain[n].pidfd);
	}
	return err;
}

static int loaded(struct processes *p, const struct audit_event *image)
{
	auto_fd fd = open_process(image->pid);
	struct procfs_ids ids = {0};
	struct audit_event e = *image;
	struct process *known = NULL;
	char *program;
	int err;

	e.kind = AUDIT_PROCESS;
	e.class = CLASS_EXEC;
	e.answer = ANSWER_ALLOW;
	e.object2 = "started";
	/* It is stopped, and its number its own; a kill may take it all the same. */
	if (fd >= 0 && procfs_ids_of(fd, image->pid, &ids) == 0)
		e.ppid = ids.ppid;
	err = find(p, image->pid, &known);
	if (!err && !known && fd >= 0)
		err = place_parents(p, fd, image->pid, e.ppid, image->uid);
	if (!err)
		err = audit_note(p->audit, &e, 0);
	if (err || fd < 0)
		return err;
	if (!known)
		return watch(p, &e, &fd);
	program = e.program ? strdup(e.program) : NULL;
	if (e.program && !program)
		return -ERR_NOMEM;
	free(known->program);
	known->program = program;
	return 0;
}

static int forked(struct processes *p, pid_t pid, int listener_fd, uint64_t id)
{
	auto_fd fd = open_process(pid);
	struct procfs_ids ids = {0};
	struct process *known = NULL;
	char path[32];
	struct stat st;
	bool has_ids;
	int err = find(p, pid, &known);

	if (err || known)
		return err;
	snprintf(path, sizeof path, "/proc/%d", pid);
	/* Where no descriptor is left its parent stays unknown. */
	has_ids = fd >= 0 && procfs_ids_of(fd, pid, &ids) == 0;
	/* The number was its own for as long as it has waited for its answer: asked
	 * after reading (law 3). A kill may have taken it. */
	if (stat(path, &st) != 0 || notify_valid(listener_fd, id) != 0)
		return 0;
	err = has_ids ? place_parents(p, fd, pid, ids.ppid, st.st_uid) : 0;
	return err ? err : note_fork(p, pid, ids.ppid, st.st_uid, &fd);
}

int processes_forked(struct processes *p, pid_t pid, int listener_fd, uint64_t id)
{
	int err;

	pthread_mutex_lock(&p->lock);
	err = forked(p, pid, listener_fd, id);
	pthread_mutex_unlock(&p->lock);
	return err;
}

int processes_loaded(struct processes *p, const struct audit_event *image)
{
	int err;

	pthread_mutex_lock(&p->lock);
	err = loaded(p, image);
	pthread_mutex_unlock(&p->lock);
	return err;
}

/* Where the record fails the tree is ended by whoever looks at it. */
static void on_end(struct processes *p, pid_t pid)
{
	struct process **at = place_of(p, pid);

	if (!*at)
		return; /* its number has been seen again meanwhile */
	/* Its parent may be quicker. */
	used_look(&(*at)->used, pid, (*at)->pidfd);
	if (!has_ended(p, (*at)->pidfd))
		return; /* likewise, or it is not reaped yet */
	if (note_end(p, *at) != 0)
		p->stopping = true;
	forget(p, at);
}

static unsigned longer(unsigned gap_ms, unsigned most_ms)
{
	return gap_ms * 2 < most_ms ? gap_ms * 2 : most_ms;
}

/* Looks at those whose time it is. */
static void look_around(struct processes *p)
{
	uint64_t now = now_ms();
	uint64_t due = 0;
	unsigned looks = 0;

	if (!p->due_ms || p->due_ms > now)
		return;
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct process *one = p->buckets[i]; one; one = one->next) {
			if (one->look_ms <= now && looks++ < LOOKS_AT_ONCE) {
				used_look(&one->used, one->pid, one->pidfd);
				one->gap_ms = longer(one->gap_ms, LOOK_LONGEST_MS);
				one->look_ms = now + one->gap_ms;
			}
			if (!due || one->look_ms < due)
				due = one->look_ms;
		}
	}
	p->due_ms = due;
}

/* Until the next look, or the next time that calm is used. */
static int sleep_ms(const struct processes *p, uint64_t calm_ms)
{
	uint64_t now = now_ms();
	uint64_t next = p->due_ms && p->due_ms < calm_ms ? p->due_ms : calm_ms;

	return next > now ? (int)(next - now) : 0;
}

static void *main_of(void *arg)
{
	struct processes *p = arg;
	bool stopping = false;
	struct calm calm;
	int wait_ms = CALM_MS;

	calm_end(&calm, now_ms());
	while (!stopping) {
		struct epoll_event seen[EVENTS_AT_ONCE];
		int n = epoll_wait(p->epoll_fd, seen, EVENTS_AT_ONCE, wait_ms);
		uint64_t woken;

		if (n < 0 && errno != EINTR)
			break;
		if (n > 0)
			calm_end(&calm, now_ms());
		else if (calm_use(&calm, now_ms()))
			lineage_settle(p->lineage);
		pthread_mutex_lock(&p->lock);
		for (int i = 0; i < n; i++)
			if (seen[i].data.u64)
				on_end(p, (pid_t)seen[i].data.u64);
			else
				(void)!read(p->wake_fd, &woken, sizeof woken);
		look_around(p);
		wait_ms = sleep_ms(p, calm.at_ms);
		stopping = p->stopping;
		pthread_mutex_unlock(&p->lock);
	}
	return NULL;
}

static int begin_thread(struct processes *p)
{
	struct epoll_event want = {.events = EPOLLIN};

	p->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->epoll_fd < 0 || p->wake_fd < 0 ||
	    epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, p->wake_fd, &want) != 0)
		return -ERR_SYS;
	return thread_begin(&p->thread, NULL, main_of, p);
}

static void dispose(struct processes *p)
{
	fd_drop(&p->epoll_fd);
	fd_drop(&p->wake_fd);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

int processes_start(struct audit *a, struct lineage *l, pid_t guardian, struct processes **out)
{
	struct processes *p = calloc(1, sizeof *p);
	int err;

	if (!p)
		return -ERR_NOMEM;
	p->audit = a;
	p->lineage = l;
	p->guardian = guardian;
	p->watched_max = fd_share(WATCHED_MAX);
	p->tells_status = kernel_tells_status();
	p->epoll_fd = -1;
	p->wake_fd = -1;
	invariant(pthread_mutex_init(&p->lock, NULL) == 0);
	err = begin_thread(p);
	if (err)
		dispose(p);
	else
		*out = p;
	return err;
}

void processes_stop(struct processes *p)
{
	static const uint64_t one = 1;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	pthread_mutex_unlock(&p->lock);
	invariant(write(p->wake_fd, &one, sizeof one) == (ssize_t)sizeof one);
	pthread_join(p->thread, NULL);
	for (size_t i = 0; i < BUCKETS; i++) {
		while (p->buckets[i]) {
			if (has_ended(p, p->buckets[i]->pidfd) && note_end(p, p->buckets[i]) != 0)
				p->stopping = true; /* said by whoever closes the record */
			forget(p, &p->buckets[i]);
		}
	}
	dispose(p);
}
