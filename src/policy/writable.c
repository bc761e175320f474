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

/* What a rule does to all names of a pattern. */
enum grip { GRIP_NONE, GRIP_SOME, GRIP_ALL };

static enum grip grip_of(const struct policy *p, const struct rule *r, const char *pattern)
{
	enum grip best = GRIP_NONE;

	for (uint32_t i = 0; i < r->objects_n; i++) {
		const struct object *o = &p->objects.v[r->objects + i];

		if (o->dead)
			continue;
		if (o->form == OBJECT_ALL ||
		    (o->form == OBJECT_PATH && path_covers(o->pattern, pattern)))
			best = GRIP_ALL;
		else if (o->form == OBJECT_PATH && best == GRIP_NONE &&
		         path_overlaps(o->pattern, pattern))
			best = GRIP_SOME;
	}
	/* With a condition it may hold or not. */
	return best == GRIP_ALL && r->conds_n ? GRIP_SOME : best;
}

/* One rule's part in whether a layer may allow: 1 it may, 0 not settled, -1
 * not any more. */
static int step(const struct policy *p, const struct rule *r, const char *pattern)
{
	enum grip grip = grip_of(p, r, pattern);

	if (grip == GRIP_NONE)
		return 0;
	if (r->answer == ANSWER_ALLOW)
		return 1;
	return grip == GRIP_ALL ? -1 : 0;
}

static bool layer_may(const struct policy *p, enum layer layer, enum policy_class class,
                      const char *pattern)
{
	int default_answer = p->defaults[layer][class].answer;

	for (uint32_t i = 1; i < p->rules.n; i++) {
		const struct rule *r = &p->rules.v[i];
		int settled;

		if (r->layer != layer || !(r->classes & CLASS_BIT(class)) || !r->is_final)
			continue;
		settled = step(p, r, pattern);
		if (settled)
			return settled > 0;
	}
	for (uint32_t i = (uint32_t)p->rules.n; i-- > 1;) {
		const struct rule *r = &p->rules.v[i];
		int settled;

		if (r->layer != layer || !(r->classes & CLASS_BIT(class)) || r->is_final)
			continue;
		settled = step(p, r, pattern);
		if (settled)
			return settled > 0;
	}
	return !p->present[layer] || default_answer < 0 || default_answer == ANSWER_ALLOW;
}

static bool all_layers_may(const struct policy *p, enum policy_class class, const char *pattern)
{
	for (int layer = LAYER_FLOOR; layer <= LAYER_TEXT; layer++)
		if (!layer_may(p, (enum layer)layer, class, pattern))
			return false;
	return true;
}

bool writable_pattern(const struct policy *p, const char *pattern)
{
	char way[8192];
	size_t len = path_literal_len(pattern);

	for (size_t i = 0; i < CHANGING; i++)
		if (all_layers_may(p, changing[i], pattern))
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
		if (all_layers_may(p, CLASS_DELETE, way))
			return true;
	}
	return false;
}
