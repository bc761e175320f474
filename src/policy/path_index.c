#include "policy/path_index.h"

/* More than any name has (NAME_MAX). */
#define PART_MAX_BYTES 512

static uint32_t node_new(struct path_index *ix, struct path_node node, struct path_more more)
{
	*vec_push(ix->arena, &ix->nodes) = node;
	*vec_push(ix->arena, &ix->more) = more;
	return (uint32_t)(ix->nodes.n - 1);
}

void path_index_begin(struct path_index *ix, struct arena *a)
{
	*ix = (struct path_index){.arena = a};
	node_new(ix, (struct path_node){0}, (struct path_more){0});
	node_new(ix, (struct path_node){0}, (struct path_more){0});
}

static bool is_any(struct slice part)
{
	return part.n == 2 && part.s[0] == '*' && part.s[1] == '*';
}

static uint32_t child_new(struct path_index *ix, uint32_t parent, struct path_node node,
                          struct path_more more)
{
	uint32_t id;

	more.next_child = ix->more.v[parent].children;
	id = node_new(ix, node, more);
	ix->more.v[parent].children = id;
	return id;
}

static uint32_t child_any(struct path_index *ix, uint32_t parent, bool below_any)
{
	if (!ix->nodes.v[parent].star) {
		struct path_node node = {.kind = PATH_ANY, .may_repeat = below_any};
		uint32_t id = child_new(ix, parent, node, (struct path_more){0});

		ix->nodes.v[parent].star = id;
	}
	return ix->nodes.v[parent].star;
}

static uint32_t find_glob(const struct path_index *ix, uint32_t parent, struct slice part)
{
	uint32_t id = ix->nodes.v[parent].globs;

	for (; id; id = ix->more.v[id].next_glob)
		if (ix->more.v[id].part.n == part.n &&
		    memcmp(ix->more.v[id].part.s, part.s, part.n) == 0)
			return id;
	return 0;
}

static uint32_t child_glob(struct path_index *ix, uint32_t parent, struct slice part)
{
	struct path_more more = {.next_glob = ix->nodes.v[parent].globs};
	uint32_t id = find_glob(ix, parent, part);

	if (id)
		return id;
	more.part = (struct slice){arena_bytes(ix->arena, part.s, part.n), part.n};
	id = child_new(ix, parent, (struct path_node){.kind = PATH_GLOB}, more);
	ix->nodes.v[parent].globs = id;
	return id;
}

/* --- literal children -------------------------------------------------------- */

static const char *edge_bytes(const struct path_edge *e)
{
	const char *s = e->bytes;

	if (e->n > EDGE_INLINE_BYTES)
		memcpy(&s, e->bytes, sizeof s);
	return s;
}

static struct path_edge *edge_find(const struct path_index *ix, uint32_t parent, struct slice part,
                                   uint64_t hash)
{
	size_t mask = ix->edges_cap - 1;
	size_t at = (hash + parent * 0x9e3779b97f4a7c15u) >> 7 & mask;

	for (;; at = (at + 1) & mask) {
		struct path_edge *e = &ix->edges[at];

		if (!e->child || (e->parent == parent && e->n == part.n &&
		                  memcmp(edge_bytes(e), part.s, part.n) == 0))
			return e;
	}
}

static void edges_grow(struct path_index *ix)
{
	struct path_edge *old = ix->edges;
	size_t old_cap = ix->edges_cap;

	ix->edges_cap = old_cap ? 2 * old_cap : 64;
	ix->edges = arena_alloc(ix->arena, ix->edges_cap * sizeof *ix->edges);
	for (size_t i = 0; i < old_cap; i++) {
		struct slice part = {edge_bytes(&old[i]), old[i].n};

		if (old[i].child)
			*edge_find(ix, old[i].parent, part, hash_bytes(part.s, part.n)) = old[i];
	}
	arena_release(ix->arena, old, old_cap * sizeof *old);
}

/* A part without its escapes: in the buffer, or where that is too small in the
 * arena. */
static struct slice plain_part(struct path_index *ix, struct slice part, char *bytes, size_t size)
{
	struct slice plain = {bytes, 0};

	if (!glob_plain_in(part, bytes, size, &plain.n))
		plain = slice_of(glob_plain(ix->arena, part));
	return plain;
}

static uint32_t child_literal(struct path_index *ix, uint32_t parent, struct slice part)
{
	char bytes[PART_MAX_BYTES];
	struct slice plain = plain_part(ix, part, bytes, sizeof bytes);
	struct path_edge *e;

	if (2 * (ix->edges_n + 1) > ix->edges_cap)
		edges_grow(ix);
	e = edge_find(ix, parent, plain, hash_bytes(plain.s, plain.n));
	if (e->child)
		return e->child;
	e->parent = parent;
	e->n = (uint32_t)plain.n;
	if (plain.n <= EDGE_INLINE_BYTES) {
		memcpy(e->bytes, plain.s, plain.n);
	} else {
		const char *kept = arena_bytes(ix->arena, plain.s, plain.n);

		memcpy(e->bytes, &kept, sizeof kept);
	}
	ix->edges_n++;
	e->child = child_new(ix, parent, (struct path_node){.kind = PATH_LITERAL},
	                     (struct path_more){0});
	return e->child;
}

uint32_t path_index_add(struct path_index *ix, const char *pattern)
{
	uint32_t node = PATH_ROOT;
	bool below_any = false;
	struct slice part;

	while (path_part_next(&pattern, &part)) {
		if (is_any(part)) {
			node = child_any(ix, node, below_any);
			below_any = true;
		} else if (glob_is_literal(part)) {
			node = child_literal(ix, node, part);
		} else {
			node = child_glob(ix, node, part);
		}
	}
	return node;
}

static uint32_t find_literal(const struct path_index *ix, uint32_t parent, struct slice part)
{
	char bytes[PART_MAX_BYTES];
	struct slice plain = {bytes, 0};

	if (!ix->edges_cap || !glob_plain_in(part, bytes, sizeof bytes, &plain.n))
		return 0;
	return edge_find(ix, parent, plain, hash_bytes(plain.s, plain.n))->child;
}

uint32_t path_index_find(const struct path_index *ix, const char *pattern)
{
	uint32_t node = PATH_ROOT;
	struct slice part;

	while (node && path_part_next(&pattern, &part)) {
		if (is_any(part))
			node = ix->nodes.v[node].star;
		else if (glob_is_literal(part))
			node = find_literal(ix, node, part);
		else
			node = find_glob(ix, node, part);
	}
	return node;
}

static void state_put(struct path_states *out, uint32_t node)
{
	if (out->n == PATH_STATES_MAX)
		out->overflow = true;
	else
		out->v[out->n++] = node;
}

/* Enters a node, and the `**` below it, which matches no part as well. */
static void state_enter(const struct path_index *ix, struct path_states *out, uint32_t node)
{
	uint32_t star = ix->nodes.v[node].star;

	state_put(out, node);
	if (!star)
		return;
	if (ix->nodes.v[star].may_repeat)
		for (size_t i = 0; i < out->n; i++)
			if (out->v[i] == star)
				return;
	state_put(out, star);
}

static void step(const struct path_index *ix, const struct path_states *from, struct slice part,
                 struct path_states *to)
{
	uint64_t hash = hash_bytes(part.s, part.n);

	to->n = 0;
	/* First what stays, so that state_enter sees every `**` once. */
	for (size_t i = 0; i < from->n; i++)
		if (ix->nodes.v[from->v[i]].kind == PATH_ANY)
			state_put(to, from->v[i]);
	for (size_t i = 0; i < from->n; i++) {
		uint32_t node = from->v[i];
		uint32_t next;

		next = ix->edges_cap ? edge_find(ix, node, part, hash)->child : 0;
		if (next)
			state_enter(ix, to, next);
		for (next = ix->nodes.v[node].globs; next; next = ix->more.v[next].next_glob)
			if (glob_match(ix->more.v[next].part, part))
				state_enter(ix, to, next);
	}
}

void path_index_states(const struct path_index *ix, const char *name, struct path_states *out)
{
	struct path_states other;
	struct path_states *now = out;
	struct path_states *next = &other;
	struct slice part;

	out->n = 0;
	out->overflow = false;
	other.overflow = false;
	state_enter(ix, now, PATH_ROOT);
	while (path_part_next(&name, &part)) {
		struct path_states *kept = now;

		step(ix, now, part, next);
		now = next;
		next = kept;
		if (!now->n)
			break;
	}
	if (now != out) {
		memcpy(out->v, now->v, now->n * sizeof *now->v);
		out->n = now->n;
	}
	out->overflow |= other.overflow;
}
