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

/* What the rules of one layer could say of a class somewhere at or below a
 * name, over the states that only this name has. */
struct span {
	unsigned answers; /* bits 1 << ANSWER_ */
};

struct compare {
	const struct policy *p;
	bool below; /* what lies below counts too */
	/* [layer][class] of the old and the new name: what only it has, and all. */
	struct span only[2][LAYER_COUNT][CLASS_COUNT];
	struct span all[2][LAYER_COUNT][CLASS_COUNT];
};

static void add_entries(struct compare *c, uint32_t entry, int side, bool only)
{
	const struct policy *p = c->p;

	for (; entry; entry = p->entries.v[entry].next) {
		const struct object *o = &p->objects.v[p->entries.v[entry].object];
		const struct rule *r = &p->rules.v[o->rule];

		if (o->dead)
			continue;
		for (int class = 0; class <= CLASS_EXEC; class ++) {
			if (!(r->classes & CLASS_BIT(class)))
				continue;
			c->all[side][r->layer][class].answers |= 1u << r->answer;
			if (only)
				c->only[side][r->layer][class].answers |= 1u << r->answer;
		}
	}
}

/* All rules at a node and, where they count, below it. */
static void add_node(struct compare *c, uint32_t node, int side, bool only)
{
	const struct path_node *n = &c->p->paths.nodes.v[node];

	add_entries(c, n->entries, side, only);
	if (!c->below)
		return;
	for (uint32_t child = n->children; child; child = c->p->paths.nodes.v[child].next_child)
		add_node(c, child, side, only);
}

static void add_states(struct compare *c, const struct path_states *mine,
                       const struct path_states *other, int side)
{
	for (size_t i = 0; i < mine->n; i++)
		add_node(c, mine->v[i], side, !has_state(other, mine->v[i]));
}

/* Rules without an object, and the default, are everyone's. */
static void add_common(struct compare *c)
{
	const struct policy *p = c->p;

	for (int class = 0; class <= CLASS_EXEC; class ++) {
		for (int layer = 0; layer < LAYER_COUNT; layer++) {
			int answer = p->present[layer] ? p->defaults[layer][class].answer : -1;
			unsigned bit = 1u << (answer < 0 ? ANSWER_ALLOW : answer);

			c->all[0][layer][class].answers |= bit;
			c->all[1][layer][class].answers |= bit;
		}
		for (uint32_t e = p->all[class]; e; e = p->entries.v[e].next) {
			const struct rule *r =
				&p->rules.v[p->objects.v[p->entries.v[e].object].rule];

			c->all[0][r->layer][class].answers |= 1u << r->answer;
			c->all[1][r->layer][class].answers |= 1u << r->answer;
		}
	}
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
	unsigned lacks = c->only[0][layer][class].answers;
	unsigned gains = c->only[1][layer][class].answers;
	unsigned everywhere = c->all[0][layer][class].answers | c->all[1][layer][class].answers;

	if (!lacks && !gains)
		return false;
	if (!(lacks & ~(1u << ANSWER_ALLOW)) && (!gains || loosest(gains) >= strictest(everywhere)))
		return false;
	return loosest(c->all[1][layer][class].answers) <
	       strictest(c->all[0][layer][class].answers);
}

bool policy_looser_below(const struct policy *p, const char *old_path, const char *new_path,
                         const struct facts *who)
{
	struct path_states old_states;
	struct path_states new_states;
	struct compare *c;
	bool looser = false;

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
	add_states(c, &old_states, &new_states, 0);
	add_states(c, &new_states, &old_states, 1);
	add_common(c);
	for (int layer = 0; layer < LAYER_ANSWERS && !looser; layer++)
		for (int class = 0; class <= CLASS_EXEC && !looser; class ++)
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

		if (answer < 0 || answer <= ANSWER_ASK)
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
