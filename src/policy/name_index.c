#include "policy/name_index.h"

void name_index_begin(struct name_index *ix, struct arena *a)
{
	*ix = (struct name_index){.arena = a};
	*vec_push(a, &ix->globs) = (struct name_glob){0};
}

/* The beginning of a glob up to its first wildcard, without escapes. */
static char *literal_beginning(struct name_index *ix, const char *glob)
{
	const char *star = glob_find(glob, '*');
	size_t len = star ? (size_t)(star - glob) : strlen(glob);
	char *plain = glob_plain(ix->arena, (struct slice){glob, len});

	if (strlen(plain) > NAME_PREFIX_MAX)
		plain[NAME_PREFIX_MAX] = '\0';
	return plain;
}

/* The list of a literal name. */
static uint32_t *exact_at(struct name_index *ix, const char *name)
{
	struct slice whole = slice_of(name);
	char bytes[512];
	const char *plain = bytes;
	size_t n;

	if (!glob_plain_in(whole, bytes, sizeof bytes, &n)) {
		plain = glob_plain(ix->arena, whole);
		n = strlen(plain);
	}
	if (plain == bytes && n > TEXT_INLINE_BYTES && !text_map_get(&ix->exact, bytes, n))
		plain = arena_bytes(ix->arena, bytes, n);
	return text_map_at(&ix->exact, ix->arena, plain, n);
}

uint32_t *name_index_at(struct name_index *ix, const char *glob)
{
	char *plain;
	uint32_t *first;
	size_t len;

	if (glob_is_literal(slice_of(glob)))
		return exact_at(ix, glob);
	plain = literal_beginning(ix, glob);
	len = strlen(plain);
	ix->lengths[len / 64] |= (uint64_t)1 << len % 64;
	first = text_map_at(&ix->prefixes, ix->arena, plain, len);
	for (uint32_t i = *first; i; i = ix->globs.v[i].next)
		if (strcmp(ix->globs.v[i].glob, glob) == 0)
			return &ix->globs.v[i].objects;
	*vec_push(ix->arena, &ix->globs) =
		(struct name_glob){.glob = arena_str(ix->arena, glob), .next = *first};
	*first = (uint32_t)(ix->globs.n - 1);
	return &ix->globs.v[*first].objects;
}

void name_walk_begin(struct name_walk *w, const struct name_index *ix, const char *name)
{
	*w = (struct name_walk){.ix = ix, .name = slice_of(name)};
}

/* The first glob of the next beginning that the name has. */
static bool next_beginning(struct name_walk *w)
{
	while (w->len <= NAME_PREFIX_MAX && w->len <= w->name.n) {
		size_t len = w->len++;

		if (!(w->ix->lengths[len / 64] >> len % 64 & 1))
			continue;
		w->glob = text_map_get(&w->ix->prefixes, w->name.s, len);
		if (w->glob)
			return true;
	}
	return false;
}

uint32_t name_walk_next(struct name_walk *w)
{
	if (!w->exact_done) {
		uint32_t head = text_map_get(&w->ix->exact, w->name.s, w->name.n);

		w->exact_done = true;
		if (head)
			return head;
	}
	while (w->glob || next_beginning(w)) {
		const struct name_glob *g = &w->ix->globs.v[w->glob];

		w->glob = g->next;
		if (glob_match(slice_of(g->glob), w->name))
			return g->objects;
	}
	return 0;
}
