#include "tracee/startup.h"

#include "base/own.h"
#include "base/uses.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

USES(process_vm_readv, process_vm_writev);

/* What most programs need; more is read where it was not enough. */
#define FIRST_BYTES ((size_t)32 << 10)
#define WORD sizeof(uint64_t)
#define STACK_ALIGN UINT64_C(16)

/* ---- reading ---------------------------------------------------------- */

/* Reads until the end of the stack is met: a read that comes back short. */
static int read_stack(struct startup *s)
{
	for (size_t want = FIRST_BYTES; want <= STARTUP_MAX_BYTES; want *= 4) {
		char *grown = realloc(s->bytes, want);
		struct iovec local = {.iov_base = grown, .iov_len = want};
		struct iovec remote = {
			.iov_base = (void *)(uintptr_t)s->sp,
			.iov_len = want,
		};
		ssize_t n;

		if (!grown)
			return -ERR_NOMEM;
		s->bytes = grown;
		s->cap_bytes = want;
		n = process_vm_readv(s->pid, &local, 1, &remote, 1, 0);
		if (n <= 0)
			return -ERR_GONE;
		if ((size_t)n < want) {
			s->len_bytes = (size_t)n;
			return 0;
		}
	}
	return -ERR_BOUND;
}

static uint64_t word_at(const struct startup *s, size_t i)
{
	uint64_t w;

	memcpy(&w, s->bytes + i * WORD, WORD);
	return w;
}

/* The string that a pointer of the program refers to, in the copy. */
static const char *text_at(const struct startup *s, uint64_t addr)
{
	uint64_t at = addr - s->sp;

	if (addr < s->sp || at >= s->len_bytes)
		return NULL;
	if (!memchr(s->bytes + at, '\0', s->len_bytes - (size_t)at))
		return NULL;
	return s->bytes + at;
}

/* Counts the pointers from word @i to the closing NULL. */
static bool count(const struct startup *s, size_t i, size_t *n)
{
	size_t words = s->len_bytes / WORD;

	for (*n = 0; i + *n < words; (*n)++)
		if (word_at(s, i + *n) == 0)
			return true;
	return false;
}

static const char **list_at(const struct startup *s, size_t i, size_t n)
{
	const char **list = calloc(n + 1, sizeof *list);

	for (size_t k = 0; list && k < n; k++) {
		list[k] = text_at(s, word_at(s, i + k));
		if (!list[k]) {
			free(list);
			return NULL;
		}
	}
	return list;
}

static int parse(struct startup *s)
{
	size_t words = s->len_bytes / WORD;
	size_t argc;
	size_t i = 1;

	if (words < 4 || !count(s, i, &argc) || argc != word_at(s, 0))
		return -ERR_FORMAT;
	s->argc = argc;
	s->argv = list_at(s, i, argc);
	i += argc + 1;
	if (!count(s, i, &s->envc))
		return -ERR_FORMAT;
	s->envp = list_at(s, i, s->envc);
	i += s->envc + 1;
	if (!s->argv || !s->envp)
		return -ERR_FORMAT;
	s->auxv = (const uint64_t *)(const void *)(s->bytes + i * WORD);
	for (s->auxv_words = 2;; s->auxv_words += 2) {
		if (i + s->auxv_words > words)
			return -ERR_FORMAT;
		if (s->auxv[s->auxv_words - 2] == AT_NULL)
			return 0;
	}
}

int startup_read(pid_t pid, struct startup *out)
{
	struct startup s = {.pid = pid};
	int err = regs_read(pid, &s.regs);

	s.sp = regs_sp(&s.regs);
	if (!err)
		err = read_stack(&s);
	if (!err)
		err = parse(&s);
	if (err) {
		startup_done(&s);
		return err;
	}
	*out = s;
	return 0;
}

/* ---- changing --------------------------------------------------------- */

void startup_remove(struct startup *s, bool (*gone)(void *ctx, const char *entry), void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->envc; i++) {
		if (!gone(ctx, s->envp[i]))
			s->envp[kept++] = s->envp[i];
	}
	s->removed_n += s->envc - kept;
	s->envc = kept;
	s->envp[kept] = NULL;
}

int startup_add(struct startup *s, const char *name, const char *value, size_t value_bytes)
{
	size_t name_bytes = strlen(name);
	size_t more;
	char *grown;

	if (__builtin_add_overflow(name_bytes + 2, value_bytes, &more) ||
	    more > STARTUP_ADD_MAX_BYTES - s->added_bytes)
		return -ERR_BOUND;
	grown = malloc(s->added_bytes + more);
	if (!grown)
		return -ERR_NOMEM;
	if (s->added) {
		memcpy(grown, s->added, s->added_bytes);
		explicit_bzero(s->added, s->added_bytes);
		free(s->added);
	}
	s->added = grown;
	grown += s->added_bytes;
	memcpy(grown, name, name_bytes);
	grown[name_bytes] = '=';
	memcpy(grown + name_bytes + 1, value, value_bytes);
	grown[more - 1] = '\0';
	s->added_bytes += more;
	s->added_n++;
	return 0;
}

/* ---- writing ---------------------------------------------------------- */

static int write_at(pid_t pid, const void *bytes, size_t len, uint64_t addr)
{
	struct iovec local = {.iov_base = (void *)bytes, .iov_len = len};
	struct iovec remote = {
		.iov_base = (void *)(uintptr_t)addr,
		.iov_len = len,
	};
	ssize_t n = process_vm_writev(pid, &local, 1, &remote, 1, 0);

	if (n < 0)
		return errno == EFAULT ? -ERR_FAULT : -ERR_GONE;
	return (size_t)n == len ? 0 : -ERR_FAULT;
}

/* Address in the program of a string in the copy. */
static uint64_t addr_of(const struct startup *s, const char *text)
{
	return s->sp + (uint64_t)(text - s->bytes);
}

/* Overwrites the variables that were removed: those of the old list that the
 * new one lacks.  Both are in the same order. */
static int wipe_removed(struct startup *s)
{
	static const char zeros[4096];
	size_t old_at = 1 + s->argc + 1;
	size_t kept = 0;

	for (size_t i = old_at; word_at(s, i) != 0; i++) {
		uint64_t addr = word_at(s, i);
		char *text = s->bytes + (addr - s->sp);
		size_t len = strlen(text);

		if (kept < s->envc && s->envp[kept] == text) {
			kept++;
			continue;
		}
		explicit_bzero(text, len);
		while (len) {
			size_t n = len < sizeof zeros ? len : sizeof zeros;
			int err = write_at(s->pid, zeros, n, addr);

			if (err)
				return err;
			addr += n;
			len -= n;
		}
	}
	return 0;
}

/* The new block: argc, argv, envp with what is added, auxv, added strings. */
static void fill(const struct startup *s, uint64_t *block, uint64_t base)
{
	size_t words = 1 + s->argc + 1 + s->added_n + s->envc + 1 + s->auxv_words;
	uint64_t text = base + words * WORD;
	const char *at = s->added;
	uint64_t *w = block;

	*w++ = s->argc;
	for (size_t i = 0; i < s->argc; i++)
		*w++ = addr_of(s, s->argv[i]);
	*w++ = 0;
	for (size_t i = 0; i < s->added_n; i++) {
		size_t len = strlen(at) + 1;

		*w++ = text;
		text += len;
		at += len;
	}
	for (size_t i = 0; i < s->envc; i++)
		*w++ = addr_of(s, s->envp[i]);
	*w++ = 0;
	memcpy(w, s->auxv, s->auxv_words * WORD);
	if (s->added_bytes)
		memcpy(w + s->auxv_words, s->added, s->added_bytes);
}

int startup_commit(struct startup *s)
{
	size_t words = 1 + s->argc + 1 + s->added_n + s->envc + 1 + s->auxv_words;
	size_t bytes = words * WORD + s->added_bytes;
	uint64_t old_end = s->sp + (uint64_t)((const char *)(s->auxv + s->auxv_words) - s->bytes);
	uint64_t base = (old_end - bytes) & ~(STACK_ALIGN - 1);
	char *block;
	int err;

	if (!s->removed_n && !s->added_n)
		return 0;
	block = malloc(bytes);
	if (!block)
		return -ERR_NOMEM;
	fill(s, (uint64_t *)(void *)block, base);
	err = wipe_removed(s);
	if (!err)
		err = write_at(s->pid, block, bytes, base);
	explicit_bzero(block, bytes);
	free(block);
	if (err)
		return err;
	regs_set_sp(&s->regs, base);
	return regs_write(s->pid, &s->regs);
}

void startup_done(struct startup *s)
{
	if (s->bytes && s->removed_n + s->added_n)
		explicit_bzero(s->bytes, s->cap_bytes);
	if (s->added)
		explicit_bzero(s->added, s->added_bytes);
	free(s->bytes);
	free(s->added);
	free(s->argv);
	free(s->envp);
	*s = (struct startup){0};
}
