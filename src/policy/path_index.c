#include "policy/path_index.h"

static uint32_t node_new(struct path_index *ix, struct path_node node)
{
	*vec_push(ix->arena, &ix->nodes) = node;
	return (uint32_t)(ix->nodes.n - 1);
}

void path_index_begin(struct path_index *ix, struct arena *a)
{
	*ix = (struct path_index){.arena = a};
	node_new(ix, (struct path_node){0});
	node_new(ix, (struct path_node){0});
}

static bool is_any(struct slice part)
{
	return part.n == 2 && part.s[0] == '*' && part.s[1] == '*';
}

static uint32_t child_new(struct path_index *ix, uint32_t parent, struct path_node node)
{
	uint32_t id;

	node.next_child = ix->nodes.v[parent].children;
	id = node_new(ix, node);
	ix->nodes.v[parent].children = id;
	return id;
}

static uint32_t child_any(struct path_index *ix, uint32_t parent, bool below_any)
{
	if (!ix->nodes.v[parent].star) {
		struct path_node node = {.kind = PATH_ANY, .may_repeat = below_any};
		uint32_t id = child_new(ix, parent, node);

		ix->nodes.v[parent].star = id;
	}
	return ix->nodes.v[parent].star;
}

static uint32_t find_glob(const struct path_index *ix, uint32_t parent, struct slice part)
{
	uint32_t id = ix->nodes.v[parent].globs;

	for (; id; id = ix->nodes.v[id].next_glob)
		if (ix->nodes.v[id].part.n == part.n &&
		    memcmp(ix->nodes.v[id].part.s, part.s, part.n) == 0)
			return id;
	return 0;
}

static uint32_t child_glob(struct path_index *ix, uint32_t parent, struct slice part)
{
	struct path_node node = {.kind = PATH_GLOB};
	uint32_t id;

	id = find_glob(ix, parent, part);
	if (id)
		return id;
	node.part = (struct slice){arena_bytes(ix->arena, part.s, part.n), part.n};
	node.next_glob = ix->nodes.v[parent].globs;
	id = child_new(ix, parent, node);
	ix->nodes.v[parent].globs = id;
	return id;
}

static uint32_t child_literal(struct path_index *ix, uint32_t parent, struct slice part)
{
	char *plain = glob_plain(ix->arena, part);
	uint32_t *number = text_map_at(&ix->parts, ix->arena, plain, strlen(plain));
	uint32_t *edge;

	if (!*number)
		*number = ++ix->parts_n;
	edge = pair_map_at(&ix->edges, ix->arena, (uint64_t)parent << 32 | *number);
	if (!*edge)
		*edge = child_new(ix, parent, (struct path_node){.kind = PATH_LITERAL});
	return *edge;
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
	char plain[512];
	size_t n = 0;
	uint32_t number;

	for (size_t i = 0; i < part.n && n < sizeof plain; i++) {
		if (part.s[i] == '\\' && i + 1 < part.n)
			i++;
		plain[n++] = part.s[i];
	}
	number = text_map_get(&ix->parts, plain, n);
	return number ? pair_map_get(&ix->edges, (uint64_t)parent << 32 | number) : 0;
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
	uint32_t number = text_map_get(&ix->parts, part.s, part.n);

	to->n = 0;
	/* First what stays, so that state_enter sees every `**` once. */
	for (size_t i = 0; i < from->n; i++)
		if (ix->nodes.v[from->v[i]].kind == PATH_ANY)
			state_put(to, from->v[i]);
	for (size_t i = 0; i < from->n; i++) {
		uint32_t node = from->v[i];
		uint32_t next;

		if (number) {
			next = pair_map_get(&ix->edges, (uint64_t)node << 32 | number);
			if (next)
				state_enter(ix, to, next);
		}
		for (next = ix->nodes.v[node].globs; next; next = ix->nodes.v[next].next_glob)
			if (glob_match(ix->nodes.v[next].part, part))
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
