/* Warnings about rules: what can never decide, what opens too much. */
#include "policy/check.h"

#include "policy/checks.h"
#include "policy/cover.h"
#include "policy/load.h"
#include "policy/words.h"

#include <stdio.h>
#include <string.h>

const struct rule *check_rule_of(const struct checking *k, uint32_t object)
{
	return &k->p->rules.v[k->p->objects.v[object].rule];
}

bool check_covers(const struct checking *k, uint32_t by, uint32_t object)
{
	const struct object *a = &k->p->objects.v[by];
	const struct object *b = &k->p->objects.v[object];

	/* Most pairs differ within their literal beginnings. */
	if (a->form == OBJECT_PATH && b->form == OBJECT_PATH &&
	    strncmp(a->pattern, b->pattern, path_literal_len(a->pattern)) != 0)
		return false;
	return object_covers(a, b);
}

/* Whether the rule of @by decides in place of the rule of @object for all
 * that @object matches. */
static bool takes_over(const struct checking *k, uint32_t by, uint32_t object)
{
	const struct rule *b = check_rule_of(k, by);
	const struct rule *a = check_rule_of(k, object);
	bool later = k->p->objects.v[by].rule > k->p->objects.v[object].rule;

	if (b->layer != a->layer || b == a || b->conds_n || k->p->objects.v[by].dead)
		return false;
	if ((a->classes & ~b->classes) || a->derived || b->derived)
		return false;
	/* The first final, else the last. */
	if (b->is_final ? a->is_final && later : a->is_final || !later)
		return false;
	return check_covers(k, by, object);
}

/* The object that takes one over, or 0: of the same pattern, or a wide one. */
static uint32_t taken_over_by(const struct checking *k, uint32_t object)
{
	const struct object *o = &k->p->objects.v[object];

	if (o->form == OBJECT_PATH) {
		uint32_t node = path_index_find(&k->p->paths, o->pattern);

		for (uint32_t by = k->p->paths.nodes.v[node].objects; by;
		     by = k->p->objects.v[by].next)
			if (takes_over(k, by, object))
				return by;
	}
	for (size_t i = k->wide.n; i-- > 0;)
		if (takes_over(k, k->wide.v[i], object))
			return k->wide.v[i];
	return 0;
}

static void report_useless(const struct checking *k, uint32_t object, uint32_t by)
{
	const struct rule *b = check_rule_of(k, by);
	const struct source *from = k->p->objects.v[object].at.source;

	/* To include a policy and go on from there is what includes are for. */
	if (from && b->at.source && from->depth > b->at.source->depth)
		return;
	report_warning(k->report, k->p->objects.v[object].at, NULL,
	               "this can never decide: %s %s:%u stands for all of it (%s)",
	               b->is_final ? "the final rule" : "the later rule", b->file, b->line,
	               k->p->objects.v[by].text);
}

/* What one rule opens that an earlier one refused. */
struct opened {
	uint32_t object; /* the first such */
	uint32_t more;
};

static void report_opened(const struct checking *k, const struct rule *b, struct opened o)
{
	const struct rule *a = check_rule_of(k, o.object);
	const char *text = k->p->objects.v[o.object].text;
	const char *hint = NULL;
	char more[64];

	if (o.more) {
		snprintf(more, sizeof more, "and %u more like it", o.more);
		hint = more;
	}
	if (a->file == b->file)
		report_warning(k->report, b->at, hint,
		               "this opens what line %u refuses (%s), since the last match decides",
		               a->line, text);
	else
		report_warning(k->report, b->at, hint,
		               "this opens what %s:%u refuses (%s), since the last match decides",
		               a->file, a->line, text);
}

/* Objects [first, end) are what one written word stands for. */
static void check_word(const struct checking *k, uint32_t first, uint32_t end,
                       struct opened *opened)
{
	const struct rule *a = check_rule_of(k, first);
	uint32_t by = 0;
	struct opened *slot;

	if (a->derived)
		return;
	for (uint32_t i = first; i < end; i++) {
		by = taken_over_by(k, i);
		if (!by)
			return;
	}
	if (a->answer < ANSWER_DENY || check_rule_of(k, by)->answer >= a->answer ||
	    check_rule_of(k, by)->is_final) {
		report_useless(k, first, by);
		return;
	}
	slot = &opened[k->p->objects.v[by].rule];
	if (slot->object)
		slot->more++;
	else
		slot->object = first;
}

static void check_order(const struct checking *k)
{
	struct policy *p = k->p;
	struct opened *opened = arena_alloc(&p->arena, p->rules.n * sizeof *opened);

	for (uint32_t i = 1, end; i < p->objects.n; i = end) {
		const struct object *o = &p->objects.v[i];

		for (end = i + 1; end < p->objects.n; end++)
			if (p->objects.v[end].rule != o->rule || p->objects.v[end].text != o->text)
				break;
		if (check_rule_of(k, i)->layer != LAYER_FLOOR)
			check_word(k, i, end, opened);
	}
	for (uint32_t i = 1; i < p->rules.n; i++)
		if (opened[i].object)
			report_opened(k, &p->rules.v[i], opened[i]);
}

/* --- what is allowed too widely -------------------------------------------------- */

static void check_wide(const struct checking *k, uint32_t id)
{
	const struct object *o = &k->p->objects.v[id];
	const struct rule *r = check_rule_of(k, id);
	bool whole = o->form == OBJECT_ALL;

	if (r->answer != ANSWER_ALLOW || r->conds_n || r->derived)
		return;
	if ((r->classes & CLASSES_PATH) && (whole || strcmp(o->pattern, "/**") == 0))
		report_warning(k->report, o->at, NULL, "this allows it for every file on the disk");
	else if ((r->classes & CLASS_BIT(CLASS_CONNECT)) &&
	         (whole || (o->form == OBJECT_ANY_ADDRESS && !o->ports_n)))
		report_warning(k->report, o->at, NULL, "this allows connections to every address");
}

static void check_dead(const struct checking *k, uint32_t id)
{
	const struct object *o = &k->p->objects.v[id];

	if (o->dead)
		report_warning(k->report, o->at, "allow what the link leads to by its own name",
		               "this goes through the link %s, which the policy lets the tree "
		               "replace, and so allows nothing behind it",
		               o->link);
}

/* Law 20. */
static void check_name_after_address(const struct checking *k, uint32_t id)
{
	const struct object *o = &k->p->objects.v[id];
	const struct rule *r = check_rule_of(k, id);

	if (r->answer < ANSWER_ASK || (o->form != OBJECT_HOST && o->form != OBJECT_BELOW) ||
	    !(r->classes & CLASS_BIT(CLASS_CONNECT)))
		return;
	for (uint32_t i = 1; i < id; i++) {
		const struct object *a = &k->p->objects.v[i];
		const struct rule *b = check_rule_of(k, i);

		if (b->layer != r->layer || b->answer != ANSWER_ALLOW ||
		    !(b->classes & CLASS_BIT(CLASS_CONNECT)) ||
		    (a->form != OBJECT_RANGE && a->form != OBJECT_ANY_ADDRESS) ||
		    !object_overlaps(a, o))
			continue;
		report_warning(k->report, o->at, NULL,
		               "a program that has the address needs no name: %s:%u allows it (%s)",
		               b->file, b->line, a->text);
		return;
	}
}

static void check_objects(const struct checking *k)
{
	for (uint32_t i = 1; i < k->p->objects.n; i++) {
		if (check_rule_of(k, i)->layer == LAYER_FLOOR)
			continue;
		check_wide(k, i);
		check_dead(k, i);
		check_name_after_address(k, i);
	}
}

static void check_all(struct policy *p, const struct policy_world *world, struct policy_report *r)
{
	struct checking k = {.p = p, .world = world, .report = r};

	for (uint32_t i = 1; i < p->objects.n; i++)
		if (p->objects.v[i].wild && !check_rule_of(&k, i)->conds_n &&
		    check_rule_of(&k, i)->layer != LAYER_FLOOR)
			*vec_push(&p->arena, &k.wide) = i;
	check_order(&k);
	check_objects(&k);
	check_programs(&k);
	check_secrets(&k);
	check_costs(&k);
}

int policy_check(const struct policy_world *world, const char *const *files, struct policy **out,
                 struct policy_report **report)
{
	return load_policy(world, files, check_all, out, report);
}
