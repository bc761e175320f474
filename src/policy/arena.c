#include "policy/arena.h"

#include "base/buf.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 << 10)
/* What is larger has a piece of memory of its own, which can be given back. */
#define SMALL_MAX_BYTES (CHUNK_BYTES / 4)
/* Enough for pointers and 64-bit numbers; nothing here needs more. */
#define ALIGN_BYTES ((size_t)8)

struct arena_chunk {
	struct arena_chunk *older;
	char bytes[] __attribute__((aligned(ALIGN_BYTES)));
};

/* One large piece, or adopted memory, whose bytes lie elsewhere. */
struct arena_piece {
	struct arena_piece *newer, *older;
	void *adopted;
	size_t len_bytes;
	char bytes[];
};

/* Large pieces begin on a cache line, behind a pointer to what holds them. */
#define LINE_BYTES ((size_t)64)

static void *give_up(struct arena *a, int err)
{
	if (a->guard)
		longjmp(*a->guard, err);
	return NULL;
}

static struct arena_piece *piece_new(struct arena *a, size_t len_bytes)
{
	/* Zeroed by the kernel where it is large, page by page as it is used. */
	struct arena_piece *p = calloc(1, sizeof *p + len_bytes);

	if (!p)
		return NULL;
	p->len_bytes = len_bytes;
	p->older = a->pieces;
	if (p->older)
		p->older->newer = p;
	a->pieces = p;
	a->total_bytes += len_bytes;
	return p;
}

static void piece_free(struct arena *a, struct arena_piece *p)
{
	if (p->older)
		p->older->newer = p->newer;
	if (p->newer)
		p->newer->older = p->older;
	else
		a->pieces = p->older;
	a->total_bytes -= p->len_bytes;
	free(p->adopted);
	free(p);
}

static void *line_of(struct arena_piece *p)
{
	size_t at = (size_t)(p->bytes + sizeof p + LINE_BYTES - 1) & ~(LINE_BYTES - 1);
	char *mem = p->bytes + (at - (size_t)p->bytes);

	memcpy(mem - sizeof p, &p, sizeof p);
	return mem;
}

void arena_release(struct arena *a, void *mem, size_t len_bytes)
{
	struct arena_piece *p;

	if (!mem || len_bytes <= SMALL_MAX_BYTES)
		return;
	memcpy(&p, (char *)mem - sizeof p, sizeof p);
	piece_free(a, p);
}

static bool chunk_new(struct arena *a)
{
	struct arena_chunk *c = calloc(1, sizeof *c + CHUNK_BYTES);

	if (!c)
		return false;
	c->older = a->chunks;
	a->chunks = c;
	a->next = c->bytes;
	a->free_bytes = CHUNK_BYTES;
	a->used_before = false;
	a->total_bytes += CHUNK_BYTES;
	return true;
}

static void *alloc_large(struct arena *a, size_t len)
{
	struct arena_piece *p = piece_new(a, len + sizeof p + LINE_BYTES);

	return p ? line_of(p) : give_up(a, ERR_NOMEM);
}

void *arena_alloc(struct arena *a, size_t len_bytes)
{
	size_t len;
	void *mem;

	if (__builtin_add_overflow(len_bytes, ALIGN_BYTES - 1, &len) ||
	    len > ARENA_MAX_BYTES - a->total_bytes)
		return give_up(a, ERR_BOUND);
	len &= ~(ALIGN_BYTES - 1);
	if (len > SMALL_MAX_BYTES)
		return alloc_large(a, len);
	if (len > a->free_bytes) {
		if (CHUNK_BYTES > ARENA_MAX_BYTES - a->total_bytes)
			return give_up(a, ERR_BOUND);
		if (!chunk_new(a))
			return give_up(a, ERR_NOMEM);
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

char *arena_cat(struct arena *a, const char *first, const char *second)
{
	size_t n = strlen(first);
	size_t m = strlen(second);
	char *s = arena_alloc(a, n + m + 1);

	if (s) {
		memcpy(s, first, n);
		memcpy(s + n, second, m);
	}
	return s;
}

char *arena_join(struct arena *a, const char *const *texts)
{
	size_t len = 0;
	size_t at = 0;
	char *s;

	for (size_t i = 0; texts[i]; i++)
		len += strlen(texts[i]);
	s = arena_alloc(a, len + 1);
	for (size_t i = 0; s && texts[i]; i++) {
		size_t n = strlen(texts[i]);

		memcpy(s + at, texts[i], n);
		at += n;
	}
	return s;
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
	struct arena_piece *p;

	if (!mem)
		return NULL;
	p = piece_new(a, 0);
	if (!p) {
		free(mem);
		return give_up(a, ERR_NOMEM);
	}
	p->adopted = mem;
	return mem;
}

static void chunks_free(struct arena_chunk *c)
{
	while (c) {
		struct arena_chunk *older = c->older;

		free(c);
		c = older;
	}
}

void arena_free(struct arena *a)
{
	while (a->pieces)
		piece_free(a, a->pieces);
	chunks_free(a->chunks);
	*a = (struct arena){.guard = a->guard};
}

void arena_reset(struct arena *a)
{
	struct arena_chunk *keep = a->chunks;

	while (a->pieces)
		piece_free(a, a->pieces);
	if (!keep)
		return;
	chunks_free(keep->older);
	keep->older = NULL;
	a->next = keep->bytes;
	a->free_bytes = CHUNK_BYTES;
	a->total_bytes = CHUNK_BYTES;
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
	arena_release(a, v, *cap * elem_bytes);
	*cap = want;
	return grown;
}

void *vec_room(struct arena *a, void *v, size_t n, size_t *cap, size_t elem_bytes)
{
	if (n < *cap)
		return v;
	return vec_reserve(a, v, n, cap, *cap ? *cap * 2 : 8, elem_bytes);
}
