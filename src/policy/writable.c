#include "policy/writable.h"

#include "policy/match.h"
#include "policy/words.h"

#include <string.h>

/* Classes by which the content of a name changes. */
static const enum policy_class changing[] = {CLASS_WRITE, CLASS_CREATE, CLASS_DELETE, CLASS_LINK};
#define CHANGING (sizeof changing / sizeof changing[0])

static bool may_change(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < CHANGING; i++)
		if (decide_loosest(p, changing[i], path) == ANSWER_ALLOW)
			return true;
	return false;
}

/* Whether a folder could be moved away. */
static bool may_move(const struct policy *p, const char *path)
{
	return decide_loosest(p, CLASS_DELETE, path) == ANSWER_ALLOW;
}

bool policy_may_write(const struct policy *p, const char *path)
{
	char way[8192];
	size_t len = strlen(path);

	if (len >= sizeof way || path[0] != '/')
		return true;
	memcpy(way, path, len + 1);
	if (may_change(p, way))
		return true;
	for (char *slash = strrchr(way, '/'); slash && slash != way; slash = strrchr(way, '/')) {
		*slash = '\0';
		if (may_move(p, way))
			return true;
	}
	return false;
}

/* One rule that speaks of some name of a pattern. */
struct grip {
	const struct rule *rule;
	bool all; /* of every name, whatever else is known */
};

/* In the order of the rules. */
struct grips {
	struct grip v[256];
	size_t n;
	bool overflow; /* true in doubt */
};

static bool is_changing(const struct rule *r)
{
	for (size_t i = 0; i < CHANGING; i++)
		if (r->classes & CLASS_BIT(changing[i]))
			return true;
	return false;
}

static void grip_add(struct grips *g, const struct rule *r, bool all)
{
	if (g->n && g->v[g->n - 1].rule == r) {
		g->v[g->n - 1].all |= all;
	} else if (g->n == sizeof g->v / sizeof g->v[0]) {
		g->overflow = true;
	} else {
		g->v[g->n++] = (struct grip){.rule = r, .all = all};
	}
}

/* All rules that speak of a pattern's names: objects lie in their order. */
static void grips_find(const struct policy *p, const char *pattern, struct grips *g)
{
	g->n = 0;
	g->overflow = false;
	for (uint32_t i = 1; i < p->objects.n; i++) {
		const struct object *o = &p->objects.v[i];
		const struct rule *r = &p->rules.v[o->rule];

		if (o->dead || !is_changing(r))
			continue;
		if (o->form == OBJECT_ALL)
			grip_add(g, r, !r->conds_n);
		else if (o->form == OBJECT_PATH && path_overlaps(o->pattern, pattern))
			grip_add(g, r, !r->conds_n && path_covers(o->pattern, pattern));
	}
}

/* One rule's part in whether a layer may allow: 1 it may, 0 not settled, -1
 * not any more. */
static int step(const struct grip *g, enum layer layer, enum policy_class class, bool is_final)
{
	if (g->rule->layer != layer || !(g->rule->classes & CLASS_BIT(class)) ||
	    g->rule->is_final != is_final)
		return 0;
	if (g->rule->answer == ANSWER_ALLOW)
		return 1;
	return g->all ? -1 : 0;
}

static bool layer_may(const struct policy *p, const struct grips *g, enum layer layer,
                      enum policy_class class)
{
	int default_answer = p->defaults[layer][class].answer;
	int settled = 0;

	for (size_t i = 0; i < g->n && !settled; i++)
		settled = step(&g->v[i], layer, class, true);
	for (size_t i = g->n; i-- > 0 && !settled;)
		settled = step(&g->v[i], layer, class, false);
	if (settled)
		return settled > 0;
	return default_answer < 0 || default_answer == ANSWER_ALLOW;
}

static bool all_layers_may(const struct policy *p, const struct grips *g, enum policy_class class)
{
	if (g->overflow)
		return true;
	for (int layer = LAYER_FLOOR; layer <= LAYER_TEXT; layer++)
		if (p->present[layer] && !layer_may(p, g, (enum layer)layer, class))
			return false;
	return true;
}

bool writable_pattern(const struct policy *p, const char *pattern)
{
	char way[8192];
	size_t len = path_literal_len(pattern);
	struct grips g;

	grips_find(p, pattern, &g);
	for (size_t i = 0; i < CHANGING; i++)
		if (all_layers_may(p, &g, changing[i]))
			return true;
	if (!len)
		return false;
	if (len >= sizeof way)
		return true;
	/* The literal folders on the way. */
	memcpy(way, pattern, len);
	way[len] = '\0';
	for (char *slash = way + len; slash && slash != way; slash = strrchr(way, '/')) {
		*slash = '\0';
		grips_find(p, way, &g);
		if (all_layers_may(p, &g, CLASS_DELETE))
			return true;
	}
	return false;
}
