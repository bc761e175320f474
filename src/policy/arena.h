/* Memory that lives and dies together: a policy's values, or one parse.
 *
 * Invariant: while a jump is set (arena_guard), an allocation never returns
 * NULL: where memory or the bound is exhausted it jumps to the guard, whose
 * owner frees the arenas.  So parsing and compiling carry no check for memory
 * at each step and cannot go on with half a rule.  Without a guard an
 * allocation that fails returns NULL.
 */
#ifndef WARY_POLICY_ARENA_H
#define WARY_POLICY_ARENA_H

#include "base/err.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

/* More than any policy that a person wrote needs; bounds what a hostile or
 * broken text can make wary take. */
#define ARENA_MAX_BYTES ((size_t)256 << 20)

struct arena_chunk;
struct arena_piece;

struct arena {
	struct arena_chunk *chunks;
	struct arena_piece *pieces; /* large, or adopted */
	size_t free_bytes;          /* left in the newest chunk */
	char *next;
	size_t total_bytes;
	bool used_before; /* the newest chunk is not all zero any more */
	jmp_buf *guard;   /* receives ERR_NOMEM or ERR_BOUND; not owned */
};

/** arena_alloc: zeroed memory, aligned for pointers and 64-bit numbers. */
void *arena_alloc(struct arena *a, size_t len_bytes);

/** arena_bytes: a copy of bytes with a NUL behind. */
char *arena_bytes(struct arena *a, const void *bytes, size_t len_bytes);
char *arena_str(struct arena *a, const char *text);

/** arena_cat: two texts as one. */
char *arena_cat(struct arena *a, const char *first, const char *second);

/** arena_join: texts as one; a NULL ends them. */
char *arena_join(struct arena *a, const char *const *texts);

/** arena_fmt: formatted text. */
char *arena_fmt(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** arena_adopt: takes over memory of malloc(3), at once freed where that fails;
 * NULL is allowed.  Returns @mem, or NULL where it could not be kept. */
void *arena_adopt(struct arena *a, void *mem);

/** arena_release: gives memory back early where it is large; what it was
 * allocated with. */
void arena_release(struct arena *a, void *mem, size_t len_bytes);

void arena_free(struct arena *a);

/** arena_reset: gives up everything in it and keeps one chunk for what comes;
 * for what is needed one statement long. */
void arena_reset(struct arena *a);

/* A growing array in an arena: VEC(struct word) words; *vec_push(a, &words) = w; */
#define VEC(type)              \
	struct {               \
		type *v;       \
		size_t n, cap; \
	}

/** vec_room: @v with room for one more than @n elements; vec_reserve: for
 * @want in all. */
void *vec_room(struct arena *a, void *v, size_t n, size_t *cap, size_t elem_bytes);

void *vec_reserve(struct arena *a, void *v, size_t n, size_t *cap, size_t want, size_t elem_bytes);

#define vec_push(arena, vec)                                                              \
	((vec)->v = vec_room((arena), (vec)->v, (vec)->n, &(vec)->cap, sizeof *(vec)->v), \
	 &(vec)->v[(vec)->n++])

#endif
