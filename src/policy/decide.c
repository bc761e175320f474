/* From what was found to the verdict; the answers to questions about a policy
 * that need no walk. */
#include "policy/match.h"
#include "policy/secret.h"
#include "policy/words.h"

#include <string.h>

/* --- one layer ---------------------------------------------------------------- */

/* The best of what may decide: the strictest, or the loosest. */
struct choice {
	const struct decision *d;
	uint32_t object;
	int answer; /* -1: nothing yet */
	bool sure;
};

static void offer(struct choice *c, uint32_t object, int answer)
{
	bool better = c->d->loosest ? answer < c->answer : answer > c->answer;

	if (c->answer >= 0 && !better)
		return;
	c->object = object;
	c->answer = answer;
}

static int answer_of(const struct decision *d, uint32_t object)
{
	return d->policy->objects.v[object].answer;
}

static uint32_t order_of(const struct decision *d, uint32_t object)
{
	return d->policy->objects.v[object].rule;
}

static void offer_finals(struct choice *c, const struct tally *t)
{
	if (t->final_sure)
		offer(c, t->final_sure, answer_of(c->d, t->final_sure));
	for (int a = ANSWER_ALLOW; a <= ANSWER_KILL; a++) {
		uint32_t maybe = t->final_maybe[a];

		if (!maybe ||
		    (t->final_sure && order_of(c->d, maybe) > order_of(c->d, t->final_sure)))
			continue;
		c->sure = false;
		offer(c, maybe, a);
	}
}

uint32_t decision_choose(const struct decision *d, enum layer layer, bool *sure)
{
	const struct tally *t = &d->tallies[layer];
	struct choice c = {.d = d, .answer = -1, .sure = true};

	offer_finals(&c, t);
	if (!t->final_sure) {
		if (t->sure)
			offer(&c, t->sure, answer_of(d, t->sure));
		else if (d->loosest && d->policy->defaults[layer][d->class].answer < 0)
			return 0; /* nothing is looser than no opinion */
		else
			offer(&c, 0, d->policy->defaults[layer][d->class].answer);
		for (int a = ANSWER_ALLOW; a <= ANSWER_KILL; a++) {
			uint32_t maybe = t->maybe[a];

			if (!maybe || (t->sure && order_of(d, maybe) < order_of(d, t->sure)))
				continue;
			c.sure = false;
			offer(&c, maybe, a);
		}
	}
	if (sure)
		*sure = c.sure;
	return c.object;
}

void verdict_of_object(const struct policy *p, uint32_t object, struct verdict *out)
{
	const struct object *o = &p->objects.v[object];
	const struct rule *r = &p->rules.v[o->rule];

	*out = (struct verdict){
		.answer = (enum policy_answer)r->answer,
		.file = r->file,
		.line = r->line,
		.text = o->text,
		.because = r->because,
		.rule_id = r->layer == LAYER_FLOOR ? 0 : o->rule,
		.as_errno = r->as_errno,
		.is_floor = r->layer == LAYER_FLOOR,
		.each = r->each,
		.no_answers = r->layer == LAYER_MACHINE || r->layer == LAYER_TENANT,
		.relay = r->relay,
		.for_s = r->for_s,
		.via = r->via,
		.stack = r->stack,
		.quiet = r->quiet,
	};
}

bool verdict_of_default(const struct policy *p, enum layer layer, enum policy_class class,
                        struct verdict *out)
{
	const struct default_rule *d = &p->defaults[layer][class];

	if (d->answer < 0 || !p->present[layer])
		return false;
	*out = (struct verdict){
		.answer = (enum policy_answer)d->answer,
		.file = d->file,
		.line = d->line,
		.text = d->text,
		.is_default = true,
		.no_answers = layer == LAYER_MACHINE || layer == LAYER_TENANT,
	};
	return true;
}

/* --- all layers ---------------------------------------------------------------- */

/* Law 6: cloud metadata is opened by a machine's rule that names it. */
bool floor_opened(const struct decision *d, uint32_t object)
{
	const struct policy *p = d->policy;
	const struct object *floor = &p->objects.v[object];
	uint32_t id = decision_choose(d, LAYER_MACHINE, NULL);
	const struct object *o = &p->objects.v[id];

	if (floor->form != OBJECT_SET || floor->set != SET_METADATA || !id)
		return false;
	if (answer_of(d, id) != ANSWER_ALLOW)
		return false;
	return (o->form == OBJECT_SET && o->set == SET_METADATA) ||
	       (o->form == OBJECT_RANGE && !o->wild);
}

/* What a layer says by itself; false: no opinion. */
static bool opinion(const struct decision *d, enum layer layer, struct verdict *out)
{
	uint32_t object = decision_choose(d, layer, NULL);

	if (!object)
		return verdict_of_default(d->policy, layer, d->class, out);
	if (layer == LAYER_FLOOR && floor_opened(d, object))
		return false;
	verdict_of_object(d->policy, object, out);
	return true;
}

/* Law 5: a stored answer takes the place of an ask, and of nothing else. */
static void use_answers(const struct decision *d, struct verdict *text)
{
	struct verdict stored;

	if (text->answer != ANSWER_ASK || text->each || !d->policy->present[LAYER_ANSWERS] ||
	    !opinion(d, LAYER_ANSWERS, &stored))
		return;
	*text = stored;
}

/* Of two opinions the stricter stands; of two asks both are put as one. */
static void combine(struct verdict *out, const struct verdict *one)
{
	if (one->answer < out->answer)
		return;
	if (one->answer > out->answer) {
		*out = *one;
		return;
	}
	/* Answers that are equal: the earlier layer names its rule. */
	out->each |= one->each;
	out->no_answers |= one->no_answers;
	out->stack |= one->stack;
	out->relay |= one->relay;
	out->quiet &= one->quiet;
	if (one->for_s && (!out->for_s || one->for_s < out->for_s))
		out->for_s = one->for_s;
	if (!out->via)
		out->via = one->via;
}

static void no_opinion(struct verdict *out)
{
	*out = (struct verdict){.answer = ANSWER_ALLOW,
	                        .file = "default",
	                        .text = "no rule speaks of it",
	                        .is_default = true};
}

void decision_verdict(const struct decision *d, struct verdict *out)
{
	bool any = false;

	if (d->overflow) {
		*out = (struct verdict){.answer = ANSWER_DENY,
		                        .file = "floor",
		                        .text = "too many patterns match the name at once",
		                        .is_floor = true};
		return;
	}
	for (int layer = LAYER_FLOOR; layer <= LAYER_TEXT; layer++) {
		struct verdict one;

		if (!opinion(d, (enum layer)layer, &one))
			continue;
		if (layer == LAYER_TEXT && !d->loosest)
			use_answers(d, &one);
		if (any)
			combine(out, &one);
		else
			*out = one;
		any = true;
	}
	if (!any)
		no_opinion(out);
}

/* A link, or an inode's own name: only deny and ask rules count (law 11). */
static void decide_other_name(const struct policy *p, const struct facts *f, const char *name,
                              struct verdict *out)
{
	struct decision d;

	decision_begin(&d, p, f);
	d.path = name;
	decision_walk(&d);
	decision_verdict(&d, out);
	if (out->is_default || out->answer == ANSWER_ALLOW)
		no_opinion(out);
}

/* Law 11: the rules for a literal file hold for it under any name. */
static void decide_inode(const struct policy *p, const struct facts *f, struct verdict *out)
{
	uint32_t i;

	if (!f->ino || !(CLASS_BIT(f->class) & CLASSES_PATH))
		return;
	for (i = pair_map_get(&p->inodes, inode_fold(f->dev, f->ino)); i;
	     i = p->inode_keys.v[i].next) {
		const struct inode_key *k = &p->inode_keys.v[i];
		struct verdict one;

		if (k->dev != f->dev || k->ino != f->ino || strcmp(k->path, f->object) == 0)
			continue;
		decide_other_name(p, f, k->path, &one);
		if (one.answer > out->answer)
			*out = one;
	}
}

void policy_decide(const struct policy *p, const struct facts *f, struct verdict *out)
{
	struct decision d;

	if (f->class == CLASS_SECRET) {
		secret_decide(p, f, out);
		return;
	}
	if (f->via_link) {
		decide_other_name(p, f, f->object, out);
		return;
	}
	decision_begin(&d, p, f);
	decision_walk(&d);
	decision_verdict(&d, out);
	decide_inode(p, f, out);
}

bool policy_inode_denied(const struct policy *p, uint64_t dev, uint64_t ino)
{
	uint32_t i = pair_map_get(&p->inodes, inode_fold(dev, ino));

	for (; i; i = p->inode_keys.v[i].next)
		if (p->inode_keys.v[i].dev == dev && p->inode_keys.v[i].ino == ino)
			return true;
	return false;
}

bool policy_speaks_of(const struct policy *p, enum policy_class class)
{
	return p->spoken & CLASS_BIT(class);
}

enum policy_answer decide_loosest(const struct policy *p, enum policy_class class, const char *path)
{
	struct facts f = {.class = class, .object = path};
	struct decision d;
	struct verdict v;

	decision_begin(&d, p, &f);
	d.loosest = true;
	decision_walk(&d);
	if (d.overflow)
		return ANSWER_ALLOW;
	decision_verdict(&d, &v);
	return v.answer;
}

size_t policy_source_count(const struct policy *p)
{
	return p->sources.n;
}

const struct policy_source *policy_source_at(const struct policy *p, size_t i)
{
	return i < p->sources.n ? &p->sources.v[i] : NULL;
}

void policy_free(struct policy *p)
{
	struct arena arena;

	if (!p)
		return;
	/* The policy itself lies in its arena. */
	arena = p->arena;
	arena_free(&arena);
}
