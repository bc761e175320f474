#include "tracee/argv.h"

#include "base/own.h"
#include "base/uses.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

USES(process_vm_readv);

#define PAGE_BYTES ((uint64_t)4096)
/* So many strings are fetched at once, this much of each at first. */
#define BATCH 64
#define FIRST_BYTES 128
#define POINTERS_MAX (ARGV_MAX_BYTES / sizeof(uint64_t))

static size_t to_page_end(uint64_t addr, size_t want)
{
	uint64_t left = PAGE_BYTES - (addr & (PAGE_BYTES - 1));

	return want < left ? want : (size_t)left;
}

/* Reads as much as is mapped, at most to the page's end.  0: nothing is. */
static size_t read_some(const struct tracee_mem *m, uint64_t addr, void *out, size_t want)
{
	struct iovec local = {.iov_base = out, .iov_len = to_page_end(addr, want)};
	struct iovec remote = {
		.iov_base = (void *)(uintptr_t)addr,
		.iov_len = local.iov_len,
	};
	ssize_t n = process_vm_readv(m->tid, &local, 1, &remote, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

/* The pointers up to NULL, into @out (as bytes). */
static int read_pointers(const struct tracee_mem *m, uint64_t addr, struct buf *out)
{
	uint64_t words[PAGE_BYTES / sizeof(uint64_t)];

	if (addr % sizeof(uint64_t))
		return -EFAULT; /* the kernel would take it; no program does it */
	for (;;) {
		size_t n = read_some(m, addr, words, sizeof words) / sizeof words[0];

		if (n == 0)
			return -EFAULT;
		for (size_t i = 0; i < n; i++) {
			if (words[i] == 0) {
				buf_add(out, words, i * sizeof words[0]);
				return out->failed ? -E2BIG : 0;
			}
		}
		buf_add(out, words, n * sizeof words[0]);
		if (out->failed)
			return -E2BIG;
		addr += n * sizeof words[0];
	}
}

/* The rest of a string from @addr on, with its NUL. */
static int read_rest(const struct tracee_mem *m, uint64_t addr, size_t have, struct buf *out)
{
	char chunk[PAGE_BYTES];

	for (;;) {
		size_t n = read_some(m, addr, chunk, sizeof chunk);
		const char *nul;

		if (n == 0)
			return -EFAULT;
		nul = memchr(chunk, '\0', n);
		if (nul)
			n = (size_t)(nul - chunk) + 1;
		buf_add(out, chunk, n);
		have += n;
		if (out->failed || have > ARGV_STRING_MAX_BYTES)
			return -E2BIG;
		if (nul)
			return 0;
		addr += n;
	}
}

/* Up to BATCH strings: the beginnings of all at once, then what is left. */
static int read_batch(const struct tracee_mem *m, const uint64_t *addrs, size_t count,
                      struct buf *out)
{
	char bytes[BATCH * FIRST_BYTES];
	struct iovec remote[BATCH];
	struct iovec local = {.iov_base = bytes, .iov_len = 0};
	const char *at = bytes;
	ssize_t got;

	for (size_t i = 0; i < count; i++) {
		remote[i].iov_base = (void *)(uintptr_t)addrs[i];
		remote[i].iov_len = to_page_end(addrs[i], FIRST_BYTES);
		local.iov_len += remote[i].iov_len;
	}
	got = process_vm_readv(m->tid, &local, 1, remote, count, 0);
	if (got < 0)
		got = 0;
	for (size_t i = 0; i < count; i++) {
		size_t len = remote[i].iov_len;
		const char *nul;
		int err;

		if ((size_t)(at - bytes) + len > (size_t)got)
			return -EFAULT;
		nul = memchr(at, '\0', len);
		buf_add(out, at, nul ? (size_t)(nul - at) + 1 : len);
		at += len;
		if (nul)
			continue;
		err = read_rest(m, addrs[i] + len, len, out);
		if (err)
			return err;
	}
	return out->failed ? -E2BIG : 0;
}

int argv_make(struct buf *b, size_t n, struct argv *out)
{
	const char **items = calloc(n + 1, sizeof *items);
	char *memory;
	char *at;
	size_t bytes = b->len_bytes;

	memory = items ? buf_take(b) : NULL;
	if (!memory) {
		free(items);
		return -ERR_NOMEM;
	}
	at = memory;
	for (size_t i = 0; i < n; i++) {
		items[i] = at;
		at += strlen(at) + 1;
	}
	*out = (struct argv){
		.items = items,
		.n = n,
		.memory = memory,
		.memory_bytes = bytes,
	};
	return 0;
}

int argv_read(const struct tracee_mem *m, struct tracee_addr a, struct argv *out)
{
	auto_buf pointers = {.max_bytes = POINTERS_MAX * sizeof(uint64_t)};
	auto_buf strings = {.max_bytes = ARGV_MAX_BYTES};
	const uint64_t *addrs;
	size_t n;
	int err = a.value ? read_pointers(m, a.value, &pointers) : 0;

	if (err)
		return err;
	addrs = (const uint64_t *)(const void *)pointers.data;
	n = pointers.len_bytes / sizeof *addrs;
	for (size_t i = 0; i < n; i += BATCH) {
		err = read_batch(m, addrs + i, n - i < BATCH ? n - i : BATCH, &strings);
		if (err)
			return err;
	}
	return argv_make(&strings, n, out);
}

const char *argv_find(const struct argv *v, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < v->n; i++)
		if (strncmp(v->items[i], name, len) == 0 && v->items[i][len] == '=')
			return v->items[i] + len + 1;
	return NULL;
}

void argv_free(struct argv *v)
{
	free(v->items);
	free(v->memory);
	*v = (struct argv)ARGV_INIT;
}
