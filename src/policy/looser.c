/* Law 12: whether a name may take another's place, and what the rules allow at
 * all.  A name is known here by the states it leads to in the tree of path
 * patterns: names with the same states have the same rules, at them and at
 * whatever lies below them. */
#include "policy/match.h"
#include "policy/words.h"

#include <stdlib.h>
#include <string.h>

static bool has_state(const struct path_states *s, uint32_t node)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i] == node)
			return true;
	return false;
}

/* What the rules of one layer could say of a class at a name or somewhere
 * below it. */
struct span {
	/* The last rule that holds for all of it whatever else is known, and the
	 * first such final one; 0: none.  What these beat decides nowhere. */
	uint32_t last, first_final;
	unsigned all;  /* bits 1 << ANSWER_ of what may decide */
	unsigned only; /* of those, what the other name does not have */
};

struct compare {
	const struct policy *p;
	bool below;                                        /* what lies below counts too */
	struct span spans[2][LAYER_COUNT][CLASS_BIND + 1]; /* old, new */
};

static bool is_beaten(const struct span *s, const struct rule *r, uint32_t order)
{
	if (r->is_final)
		return s->first_final && order > s->first_final;
	return s->first_final || order < s->last;
}

/* Notes that a rule holds for everything of a side. */
static void add_whole(struct compare *c, int side, uint32_t object)
{
	const struct object *o = &c->p->objects.v[object];
	const struct rule *r = &c->p->rules.v[o->rule];

	if (o->dead || r->conds_n)
		return;
	for (int class = 0; class <= CLASS_BIND; class ++) {
		struct span *s = &c->spans[side][r->layer][class];

		if (!(r->classes & CLASS_BIT(class)))
			continue;
		if (!r->is_final && o->rule > s->last)
			s->last = o->rule;
		if (r->is_final && (!s->first_final || o->rule < s->first_final))
			s->first_final = o->rule;
	}
}

static void add_object(struct compare *c, int side, uint32_t object, bool only)
{
	const struct object *o = &c->p->objects.v[object];
	const struct rule *r = &c->p->rules.v[o->rule];

	if (o->dead)
		return;
	for (int class = 0; class <= CLASS_BIND; class ++) {
		struct span *s = &c->spans[side][r->layer][class];

		if (!(r->classes & CLASS_BIT(class)) || is_beaten(s, r, o->rule))
			continue;
		s->all |= 1u << r->answer;
		if (only)
			s->only |= 1u << r->answer;
	}
}

/* All rules at a node and, where they count, below it. */
static void add_node(struct compare *c, uint32_t node, int side, bool only)
{
	const struct path_node *n = &c->p->paths.nodes.v[node];

	for (uint32_t o = n->objects; o; o = c->p->objects.v[o].next)
		add_object(c, side, o, only);
	if (!c->below)
		return;
	for (uint32_t child = c->p->paths.more.v[node].children; child;
	     child = c->p->paths.more.v[child].next_child)
		add_node(c, child, side, only);
}

/* What ends in a `**` that is reached holds for all below as well. */
static void add_whole_states(struct compare *c, const struct path_states *states, int side)
{
	const struct policy *p = c->p;

	for (size_t i = 0; i < states->n; i++) {
		const struct path_node *n = &p->paths.nodes.v[states->v[i]];

		if (c->below && n->kind != PATH_ANY)
			continue;
		for (uint32_t o = n->objects; o; o = p->objects.v[o].next)
			add_whole(c, side, o);
	}
}

static void add_states(struct compare *c, const struct path_states *mine,
                       const struct path_states *other, int side)
{
	for (size_t i = 0; i < mine->n; i++)
		add_node(c, mine->v[i], side, !has_state(other, mine->v[i]));
}

/* Rules without an object, and the default, are everyone's. */
static void add_common(struct compare *c, int side)
{
	const struct policy *p = c->p;

	for (uint32_t o = p->all; o; o = p->objects.v[o].next)
		add_object(c, side, o, false);
	for (int class = 0; class <= CLASS_BIND; class ++) {
		for (int layer = 0; layer < LAYER_COUNT; layer++) {
			struct span *s = &c->spans[side][layer][class];
			int answer = p->present[layer] ? p->defaults[layer][class].answer : -1;

			if (!s->last && !s->first_final)
				s->all |= 1u << (answer < 0 ? ANSWER_ALLOW : answer);
		}
	}
}

static void add_whole_common(struct compare *c, int side)
{
	for (uint32_t o = c->p->all; o; o = c->p->objects.v[o].next)
		add_whole(c, side, o);
}

static void add_side(struct compare *c, const struct path_states *mine,
                     const struct path_states *other, int side)
{
	add_whole_common(c, side);
	add_whole_states(c, mine, side);
	add_states(c, mine, other, side);
	add_common(c, side);
}

static unsigned strictest(unsigned answers)
{
	return answers ? 31u - (unsigned)__builtin_clz(answers) : 0;
}

static unsigned loosest(unsigned answers)
{
	return answers ? (unsigned)__builtin_ctz(answers) : 0;
}

/* Whether one layer could be looser at the new name for a class.
 *
 * It is not where the new name has only further rules that are at least as
 * strict as whatever they may take the place of, and lacks only allows; nor
 * where the loosest it may say is as strict as the strictest of the old. */
static bool may_be_looser(const struct compare *c, int layer, int class)
{
	const struct span *old_name = &c->spans[0][layer][class];
	const struct span *new_name = &c->spans[1][layer][class];

	if (!old_name->only && !new_name->only)
		return false;
	if (!(old_name->only & ~(1u << ANSWER_ALLOW)) &&
	    (!new_name->only ||
	     loosest(new_name->only) >= strictest(old_name->all | new_name->all)))
		return false;
	return loosest(new_name->all) < strictest(old_name->all);
}

static bool has_delegates(const struct path_index *ix, uint32_t node, bool below)
{
	if (ix->nodes.v[node].objects)
		return true;
	for (uint32_t child = ix->more.v[node].children; below && child;
	     child = ix->more.v[child].next_child)
		if (has_delegates(ix, child, below))
			return true;
	return false;
}

/* A delegate's socket under another name would be none (law 15). */
static bool hides_delegate(const struct policy *p, const char *old_path, const char *new_path,
                           bool below)
{
	const struct path_index *ix = &p->delegate_paths;
	struct path_states from;
	struct path_states to;

	path_index_states(ix, old_path, &from);
	path_index_states(ix, new_path, &to);
	if (from.overflow || to.overflow)
		return true;
	for (size_t i = 0; i < from.n; i++)
		if (!has_state(&to, from.v[i]) && has_delegates(ix, from.v[i], below))
			return true;
	return false;
}

bool policy_looser_below(const struct policy *p, const char *old_path, const char *new_path,
                         const struct facts *who)
{
	struct path_states old_states;
	struct path_states new_states;
	struct compare *c;
	bool looser = false;

	if (hides_delegate(p, old_path, new_path, who->object_is_dir))
		return true;
	path_index_states(&p->paths, old_path, &old_states);
	path_index_states(&p->paths, new_path, &new_states);
	if (old_states.overflow || new_states.overflow)
		return true;
	/* The common case: the same rules. */
	if (old_states.n == new_states.n &&
	    memcmp(old_states.v, new_states.v, old_states.n * sizeof *old_states.v) == 0)
		return false;
	c = calloc(1, sizeof *c);
	if (!c)
		return true;
	c->p = p;
	c->below = who->object_is_dir;
	add_side(c, &old_states, &new_states, 0);
	add_side(c, &new_states, &old_states, 1);
	for (int layer = 0; layer < LAYER_ANSWERS && !looser; layer++)
		for (int class = 0; class <= CLASS_BIND && !looser; class ++)
			looser = may_be_looser(c, layer, class);
	free(c);
	return looser;
}

void policy_prefixes(const struct policy *p,
                     void (*each)(void *ctx, const char *prefix, bool below, unsigned classes),
                     void *ctx)
{
	unsigned everywhere = 0;

	for (int class = 0; class < CLASS_COUNT; class ++) {
		int answer = p->defaults[LAYER_TEXT][class].answer;

		if (answer <= ANSWER_ASK)
			everywhere |= CLASS_BIT(class);
	}
	if (everywhere)
		each(ctx, "/", true, everywhere);
	for (size_t i = 1; i < p->objects.n; i++) {
		const struct object *o = &p->objects.v[i];
		const struct rule *r = &p->rules.v[o->rule];
		char prefix[8192];
		size_t len = 0;
		size_t n = 0;

		if (r->layer != LAYER_TEXT || r->answer > ANSWER_ASK)
			continue;
		if (o->form == OBJECT_PATH)
			len = path_literal_len(o->pattern);
		else if (o->form != OBJECT_ALL)
			continue;
		for (size_t j = 0; j < len && n + 1 < sizeof prefix; j++) {
			if (o->pattern[j] == '\\')
				j++;
			prefix[n++] = o->pattern[j];
		}
		prefix[n] = '\0';
		each(ctx, n ? prefix : "/", !n || o->pattern[len] != '\0', r->classes);
	}
}
