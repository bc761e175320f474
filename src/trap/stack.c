#include "trap/stack.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/own.h"
#include "base/uses.h"
#include "trap/notify.h"
#include "trap/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

USES(open_read, ptrace_stop, wait4);

/* From linux/errno.h, not seen by programs: run the same call again. */
#define RESTART_NO_INTERRUPT 513
#define KEPT_MAX 64
#define KEPT_NS (10u * 1000000000ull)
#define MAPS_MAX_BYTES ((size_t)1 << 20)

struct kept {
	struct stack_key key;
	uint64_t taken_ns;
	char *text;
};

struct stacks {
	pthread_mutex_t lock;
	struct unwind *walker; /* NULL: none is taken */
	struct kept kept[KEPT_MAX];
};

int stacks_new(bool wanted, bool (*fixed)(const void *ctx, const char *path), const void *ctx,
               struct stacks **out)
{
	struct stacks *s = calloc(1, sizeof *s);
	const char *why = NULL;

	if (!s)
		return -ERR_NOMEM;
	/* It informs a person, and decides nothing. */
	if (wanted && unwind_new(fixed, ctx, &s->walker, &why) != 0)
		log_notice("questions come without call stacks: %s", why);
	pthread_mutex_init(&s->lock, NULL);
	*out = s;
	return 0;
}

void stacks_free(struct stacks *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < KEPT_MAX; i++)
		free(s->kept[i].text);
	unwind_free(s->walker);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* The stack pointer at the trap, from /proc/TID/syscall (proc(5)): number, six
 * arguments, stack pointer, program counter. */
static int key_of(const struct call *c, struct stack_key *key)
{
	char path[64];
	char text[512];
	uint64_t sp = 0;
	ssize_t n;
	auto_fd fd = -1;

	snprintf(path, sizeof path, "/proc/%d/syscall", (int)c->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -ERR_PERM;
	n = read(fd, text, sizeof text - 1);
	if (n <= 0)
		return -ERR_GONE;
	text[n] = '\0';
	if (sscanf(text, "%*d %*x %*x %*x %*x %*x %*x %" SCNx64, &sp) != 1)
		return -ERR_GONE;
	*key = (struct stack_key){.tid = c->tid, .nr = c->nr, .ip = c->ip, .sp = sp};
	memcpy(key->args, c->args, sizeof key->args);
	return 0;
}

static bool same_key(const struct stack_key *a, const struct stack_key *b)
{
	return a->tid == b->tid && a->nr == b->nr && a->ip == b->ip && a->sp == b->sp &&
	       memcmp(a->args, b->args, sizeof a->args) == 0;
}

char *stacks_find(struct stacks *s, const struct call *c)
{
	struct stack_key key;
	char *text = NULL;

	if (key_of(c, &key) != 0)
		return NULL;
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < KEPT_MAX && !text; i++) {
		struct kept *k = &s->kept[i];

		if (k->text && same_key(&k->key, &key) && clock_mono_ns() - k->taken_ns < KEPT_NS)
			text = ptr_take(k->text);
	}
	pthread_mutex_unlock(&s->lock);
	return text;
}

static void keep(struct stacks *s, const struct stack_key *key, char *text)
{
	struct kept *oldest = &s->kept[0];

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < KEPT_MAX; i++) {
		struct kept *k = &s->kept[i];

		if (!k->text) {
			oldest = k;
			break;
		}
		if (k->taken_ns < oldest->taken_ns)
			oldest = k;
	}
	free(oldest->text);
	*oldest = (struct kept){.key = *key, .taken_ns = clock_mono_ns(), .text = text};
	pthread_mutex_unlock(&s->lock);
}

static void read_maps(struct buf *maps, pid_t tid)
{
	char path[64];
	auto_fd fd = -1;

	snprintf(path, sizeof path, "/proc/%d/maps", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || buf_read_file(maps, fd) != 0)
		buf_reset(maps);
}

/* @tid is stopped, and traced by this thread. */
static char *walk(struct stacks *s, pid_t tid)
{
	struct buf out = BUF_INIT;
	auto_buf maps = {.max_bytes = MAPS_MAX_BYTES};

	read_maps(&maps, tid);
	pthread_mutex_lock(&s->lock); /* one walker for all */
	unwind_walk(s->walker, tid, buf_text(&maps) ? buf_text(&maps) : "", STACK_FRAMES_MAX, &out);
	pthread_mutex_unlock(&s->lock);
	return buf_take(&out);
}

/* Waits until the seized caller stands still.  False: it has ended. */
static bool wait_stop(pid_t tid, int *signal)
{
	for (;;) {
		int status;
		pid_t got = waitpid(tid, &status, __WALL | __WNOTHREAD);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || !WIFSTOPPED(status))
			return false;
		/* A signal that came first is handed on when it is let go. */
		*signal = status >> 16 ? 0 : WSTOPSIG(status);
		return true;
	}
}

int stacks_take(struct stacks *s, int listener_fd, const struct call *c)
{
	struct stack_key key;
	char *text;
	int signal = 0;
	int err = s->walker ? key_of(c, &key) : -ERR_UNSUPPORTED;

	if (err)
		return err;
	if (ptrace(PTRACE_SEIZE, c->tid, NULL, (void *)PTRACE_O_EXITKILL) != 0)
		return -ERR_PERM;
	/* Whatever becomes of it, the tracee must be stopped to be let go. */
	(void)ptrace(PTRACE_INTERRUPT, c->tid, NULL, NULL);
	if (notify_valid(listener_fd, c->id) == 0)
		notify_send(listener_fd, c->id, -RESTART_NO_INTERRUPT);
	if (!wait_stop(c->tid, &signal))
		return 0;
	text = walk(s, c->tid);
	(void)ptrace(PTRACE_DETACH, c->tid, NULL, (void *)(long)signal);
	if (text)
		keep(s, &key, text);
	return 0;
}
