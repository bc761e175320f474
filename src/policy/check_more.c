/* Warnings about conditions, secrets, and what rules cost. */
#include "policy/checks.h"
#include "policy/cover.h"
#include "policy/words.h"

#include <string.h>

static bool is_evaded_by_copy(const struct rule *r)
{
	for (uint32_t i = 0; i < r->conds_n; i++)
		if (r->conds[i].kind == COND_BY || r->conds[i].kind == COND_ARGV ||
		    r->conds[i].kind == COND_HAS || r->conds[i].kind == COND_SHA256)
			return true;
	return false;
}

/* What decides about an object where the rule itself is evaded: the nearest
 * earlier rule without conditions that covers it, else the default. */
static enum policy_answer without_rule(const struct checking *k, uint32_t id)
{
	const struct rule *r = check_rule_of(k, id);
	unsigned first = (unsigned)__builtin_ctz(r->classes);
	int fallback = k->p->defaults[r->layer][first].answer;

	for (uint32_t i = id; i-- > 1;) {
		const struct rule *b = check_rule_of(k, i);

		if (b == r || b->layer != r->layer || !(b->classes & r->classes) || b->derived)
			continue;
		/* Part of what it matches may be allowed. */
		if (b->answer == ANSWER_ALLOW && !b->conds_n &&
		    object_overlaps(&k->p->objects.v[i], &k->p->objects.v[id]))
			return ANSWER_ALLOW;
		if (b->answer >= ANSWER_ASK && !b->conds_n && check_covers(k, i, id))
			return (enum policy_answer)b->answer;
	}
	return fallback < 0 ? ANSWER_ALLOW : (enum policy_answer)fallback;
}

void check_programs(const struct checking *k)
{
	for (uint32_t i = 1; i < k->p->rules.n; i++) {
		const struct rule *r = &k->p->rules.v[i];

		if (r->layer == LAYER_FLOOR || r->answer == ANSWER_ALLOW || r->derived ||
		    !is_evaded_by_copy(r))
			continue;
		for (uint32_t n = 0; n < r->objects_n; n++) {
			if (without_rule(k, r->objects + n) != ANSWER_ALLOW)
				continue;
			report_warning(k->report, r->at,
			               "put a rule without that condition before it",
			               "a copy of the program evades this");
			break;
		}
	}
}

/* --- secrets ------------------------------------------------------------------------ */

static bool programs_cover(const struct secret_rule *a, const struct secret_rule *b)
{
	for (size_t i = 0; i < b->to_n; i++) {
		bool covered = false;

		for (size_t j = 0; j < a->to_n; j++)
			covered |= path_covers(a->to[j].pattern, b->to[i].pattern);
		if (!covered)
			return false;
	}
	return true;
}

static bool is_replaced(const struct checking *k, size_t i)
{
	const struct secret_rule *a = &k->p->secrets.v[i];

	for (size_t j = i + 1; j < k->p->secrets.n; j++) {
		const struct secret_rule *b = &k->p->secrets.v[j];

		if (strcmp(a->public.name, b->public.name) != 0 || b->conds_n ||
		    !programs_cover(b, a))
			continue;
		report_warning(k->report, a->at, NULL,
		               "nobody can receive this: %s:%u decides for its programs (%s)",
		               b->public.file, b->public.line, b->public.text);
		return true;
	}
	return false;
}

static bool is_bounded(const struct checking *k, size_t i)
{
	const struct secret_rule *a = &k->p->secrets.v[i];
	struct slice name = slice_of(a->public.name);

	for (uint32_t n = 1; n < k->p->objects.n; n++) {
		const struct object *o = &k->p->objects.v[n];
		const struct rule *r = check_rule_of(k, n);

		if (!(r->classes & CLASS_BIT(CLASS_SECRET)) || r->answer < ANSWER_DENY ||
		    r->conds_n ||
		    (o->form != OBJECT_ALL && !glob_match(slice_of(o->pattern), name)))
			continue;
		report_warning(k->report, a->at, NULL,
		               "nobody can receive this: %s:%u refuses it (%s)", r->file, r->line,
		               o->text);
		return true;
	}
	return false;
}

/* Programs that are not there. */
static void check_absent(const struct checking *k, size_t i)
{
	const struct secret_rule *a = &k->p->secrets.v[i];

	if (!k->world->look || !a->to_n)
		return;
	for (size_t n = 0; n < a->to_n; n++) {
		const char *path = a->to[n].literal;
		char *target = NULL;
		uint64_t dev;
		uint64_t ino;
		enum policy_kind kind = POLICY_OTHER;

		if (path)
			kind = k->world->look(k->world->ctx, path, &target, &dev, &ino);
		arena_adopt(&k->p->arena, target);
		if (kind != POLICY_ABSENT)
			return;
	}
	report_warning(k->report, a->at, NULL, "nobody can receive this: there is no %s",
	               a->to[0].literal);
}

void check_secrets(const struct checking *k)
{
	for (size_t i = 0; i < k->p->secrets.n; i++)
		if (!is_replaced(k, i) && !is_bounded(k, i))
			check_absent(k, i);
}

/* --- costs ---------------------------------------------------------------------------- */

static void note_stat(const struct checking *k)
{
	for (uint32_t i = 1; i < k->p->rules.n; i++) {
		const struct rule *r = &k->p->rules.v[i];

		if (r->layer == LAYER_FLOOR || !(r->classes & CLASS_BIT(CLASS_STAT)))
			continue;
		report_note(k->report, r->at, NULL,
		            "this rule has every stat call decided, which costs some microseconds "
		            "each");
		return;
	}
}

static void note_registries(const struct checking *k)
{
	for (uint32_t i = 1; i < k->p->rules.n; i++) {
		const struct rule *r = &k->p->rules.v[i];

		if (r->layer != LAYER_FLOOR && !r->derived && !r->objects_n)
			report_note(
				k->report, r->at, NULL,
				"nothing matches this: the package manager is not configured here");
	}
}

static void note_machine_default(const struct checking *k)
{
	const struct default_rule *d = &k->p->defaults[LAYER_MACHINE][CLASS_READ];

	if (!k->p->present[LAYER_MACHINE] || d->line)
		return;
	for (size_t i = 1; i < k->p->rules.n; i++) {
		if (k->p->rules.v[i].layer != LAYER_MACHINE)
			continue;
		report_warning(k->report, k->p->rules.v[i].at, "default pass",
		               "a machine's policy without a default asks about all that it does "
		               "not name");
		return;
	}
}

void check_costs(const struct checking *k)
{
	note_stat(k);
	note_registries(k);
	note_machine_default(k);
}
