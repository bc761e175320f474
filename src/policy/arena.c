#include "policy/arena.h"

#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 << 10)
#define ALIGN_BYTES _Alignof(max_align_t)

/* Adopted memory is a chunk whose bytes lie elsewhere. */
struct arena_chunk {
	struct arena_chunk *older;
	void *adopted;
	size_t len_bytes;
	_Alignas(max_align_t) char bytes[];
};

static void *give_up(struct arena *a, int err)
{
	if (a->guard)
		longjmp(*a->guard, err);
	return NULL;
}

static bool chunk_new(struct arena *a, size_t len_bytes)
{
	/* Zeroed by the kernel where it is large, page by page as it is used. */
	struct arena_chunk *c = calloc(1, sizeof *c + len_bytes);

	if (!c)
		return false;
	c->older = a->chunks;
	c->adopted = NULL;
	c->len_bytes = len_bytes;
	a->chunks = c;
	a->total_bytes += len_bytes;
	return true;
}

/* A chunk of its own, behind the newest, whose rest is still being used. */
static void *large(struct arena *a, size_t len)
{
	struct arena_chunk *newest = a->chunks;
	struct arena_chunk *c;

	if (!chunk_new(a, len))
		return give_up(a, ERR_NOMEM);
	c = a->chunks;
	if (newest) {
		a->chunks = newest;
		c->older = newest->older;
		newest->older = c;
	}
	return c->bytes;
}

void *arena_alloc(struct arena *a, size_t len_bytes)
{
	size_t len;
	void *mem;

	if (__builtin_add_overflow(len_bytes, ALIGN_BYTES - 1, &len) ||
	    len > ARENA_MAX_BYTES - a->total_bytes)
		return give_up(a, ERR_BOUND);
	len &= ~(ALIGN_BYTES - 1);
	if (len > CHUNK_BYTES / 4)
		return large(a, len);
	if (len > a->free_bytes) {
		if (CHUNK_BYTES > ARENA_MAX_BYTES - a->total_bytes)
			return give_up(a, ERR_BOUND);
		if (!chunk_new(a, CHUNK_BYTES))
			return give_up(a, ERR_NOMEM);
		a->next = a->chunks->bytes;
		a->free_bytes = CHUNK_BYTES;
		a->used_before = false;
	}
	mem = a->next;
	a->next += len;
	a->free_bytes -= len;
	return a->used_before ? memset(mem, 0, len) : mem;
}

char *arena_bytes(struct arena *a, const void *bytes, size_t len_bytes)
{
	char *s = arena_alloc(a, len_bytes + 1);

	if (s && len_bytes)
		memcpy(s, bytes, len_bytes);
	return s;
}

char *arena_str(struct arena *a, const char *text)
{
	return arena_bytes(a, text, strlen(text));
}

char *arena_fmt(struct arena *a, const char *fmt, ...)
{
	char stack[512];
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(stack, sizeof stack, fmt, ap);
	va_end(ap);
	if (n < 0)
		return give_up(a, ERR_NOMEM);
	if ((size_t)n < sizeof stack)
		return arena_bytes(a, stack, (size_t)n);
	s = arena_alloc(a, (size_t)n + 1);
	if (!s)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return s;
}

void *arena_adopt(struct arena *a, void *mem)
{
	struct arena_chunk *c;

	if (!mem)
		return NULL;
	c = malloc(sizeof *c);
	if (!c) {
		free(mem);
		return give_up(a, ERR_NOMEM);
	}
	c->adopted = mem;
	c->len_bytes = SIZE_MAX; /* never kept */
	/* Behind the newest chunk, whose rest is still being used. */
	if (a->chunks) {
		c->older = a->chunks->older;
		a->chunks->older = c;
	} else {
		c->older = NULL;
		a->chunks = c;
	}
	return mem;
}

void arena_free(struct arena *a)
{
	struct arena_chunk *c = a->chunks;

	while (c) {
		struct arena_chunk *older = c->older;

		free(c->adopted);
		free(c);
		c = older;
	}
	*a = (struct arena){.guard = a->guard};
}

void arena_reset(struct arena *a)
{
	struct arena_chunk *keep = a->chunks;
	struct arena rest = {.guard = a->guard};

	if (!keep || keep->len_bytes != CHUNK_BYTES) {
		arena_free(a);
		return;
	}
	rest.chunks = keep->older;
	arena_free(&rest);
	keep->older = NULL;
	a->next = keep->bytes;
	a->free_bytes = keep->len_bytes;
	a->total_bytes = keep->len_bytes;
	a->used_before = true;
}

void *vec_reserve(struct arena *a, void *v, size_t n, size_t *cap, size_t want, size_t elem_bytes)
{
	size_t len;
	void *grown;

	if (want <= *cap)
		return v;
	if (__builtin_mul_overflow(want, elem_bytes, &len))
		return give_up(a, ERR_BOUND);
	grown = arena_alloc(a, len);
	if (!grown)
		return NULL;
	if (n)
		memcpy(grown, v, n * elem_bytes);
	*cap = want;
	return grown;
}

void *vec_room(struct arena *a, void *v, size_t n, size_t *cap, size_t elem_bytes)
{
	if (n < *cap)
		return v;
	return vec_reserve(a, v, n, cap, *cap ? *cap * 2 : 8, elem_bytes);
}
