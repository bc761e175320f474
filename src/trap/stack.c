#include "trap/stack.h"

#include "base/clock.h"
#include "base/own.h"
#include "base/text.h"
#include "trap/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libunwind-ptrace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* From linux/errno.h, not seen by programs: run the same call again. */
#define RESTART_NO_INTERRUPT 513
#define KEPT_MAX 64
#define KEPT_NS (10u * 1000000000ull)
#define MAPS_MAX_BYTES ((size_t)1 << 20)
#define NAME_MAX_CHARS 120

struct kept {
	struct stack_key key;
	uint64_t taken_ns;
	char *text;
};

struct stacks {
	pthread_mutex_t lock;
	unw_addr_space_t space;
	struct kept kept[KEPT_MAX];
};

int stacks_new(struct stacks **out)
{
	struct stacks *s = calloc(1, sizeof *s);

	if (!s)
		return -ERR_NOMEM;
	s->space = unw_create_addr_space(&_UPT_accessors, 0);
	if (!s->space) {
		free(s);
		return -ERR_NOMEM;
	}
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
	unw_destroy_addr_space(s->space);
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

/* ---- naming addresses ------------------------------------------------- */

/* The line of /proc/TID/maps that holds @ip: file's last name and offset. */
static void name_module(struct buf *out, const char *maps, uint64_t ip)
{
	for (const char *line = maps; line && *line;) {
		uint64_t from, to, offset;
		int at = 0;
		const char *end = strchr(line, '\n');
		size_t len = end ? (size_t)(end - line) : strlen(line);

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &from, &to,
		           &offset, &at) == 3 &&
		    ip >= from && ip < to && (size_t)at <= len) {
			const char *name = memrchr(line + at, '/', len - (size_t)at);
			size_t rest;

			name = name ? name + 1 : line + at;
			rest = len - (size_t)(name - line);
			if (rest)
				text_printable(out, name, rest, NAME_MAX_CHARS);
			else
				buf_str(out, "(no file)");
			buf_fmt(out, "+0x%" PRIx64, ip - from + offset);
			return;
		}
		line = end ? end + 1 : NULL;
	}
	buf_fmt(out, "0x%" PRIx64, ip);
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
	unw_cursor_t cursor;
	void *upt = _UPT_create(tid);

	if (!upt)
		return NULL;
	read_maps(&maps, tid);
	pthread_mutex_lock(&s->lock); /* one address space object for all */
	if (unw_init_remote(&cursor, s->space, upt) == 0) {
		for (int i = 0; i < STACK_FRAMES_MAX; i++) {
			char name[256];
			unw_word_t ip = 0;
			unw_word_t offset = 0;

			if (unw_get_reg(&cursor, UNW_REG_IP, &ip) != 0 || ip == 0)
				break;
			buf_fmt(&out, "#%d  ", i);
			name_module(&out, buf_text(&maps) ? buf_text(&maps) : "", ip);
			if (unw_get_proc_name(&cursor, name, sizeof name, &offset) == 0) {
				buf_chr(&out, ' ');
				text_printable(&out, name, strlen(name), NAME_MAX_CHARS);
			}
			buf_chr(&out, '\n');
			if (unw_step(&cursor) <= 0)
				break;
		}
	}
	unw_flush_cache(s->space, 0, 0);
	pthread_mutex_unlock(&s->lock);
	_UPT_destroy(upt);
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
	int err = key_of(c, &key);

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
