/* Why: the same weighing as match.c, but over every rule in turn and without
 * the indexes.  Tests hold the two against each other. */
#include "policy/explain.h"

#include "base/text.h"
#include "policy/match.h"
#include "policy/secret.h"
#include "policy/words.h"

#include <stdlib.h>
#include <string.h>

static const char *const why_texts[] = {
	[WHY_DECIDED] = "decided",
	[WHY_LATER] = "a later rule decided",
	[WHY_FINAL] = "an earlier final rule decided",
	[WHY_CONDITION] = "a condition does not hold",
	[WHY_UNKNOWN] = "what a condition needs is not known",
	[WHY_STRICTER] = "a stricter rule may apply, since a fact is not known",
	[WHY_WILDCARD] = "no pattern with a wildcard opens this socket",
	[WHY_ADDRESS] = "a name that leads to a private address needs \"at\"",
	[WHY_UNFIXED] = "the tree may change the program",
	[WHY_DEPENDENCY] = "the rule does not say \"with dependencies\"",
	[WHY_REPLACEABLE] = "its path goes through a link that the tree may replace",
};

const char *policy_why_text(enum policy_why why)
{
	return why_texts[why];
}

struct policy_explanation {
	struct arena arena;
	jmp_buf guard;
	struct verdict verdict;
	VEC(struct policy_match) matches;
	struct policy_opinion opinions[POLICY_OPINIONS];
};

/* --- does a pattern speak of the object ----------------------------------------- */

static bool names_path(const struct decision *d, const struct object *o)
{
	const struct facts *f = d->facts;
	bool refuses = d->policy->rules.v[o->rule].answer != ANSWER_ALLOW;
	const char *path = d->path ? d->path : f->object;

	if (d->class == CLASS_CONNECT || d->class == CLASS_BIND) {
		if (f->addr.family != ADDR_UNIX || f->addr.unix_abstract || !f->addr.unix_name)
			return false;
		path = f->addr.unix_name;
	}
	return path_match(o->pattern, path, false) ||
	       (f->ignores_case && refuses && path_match(o->pattern, path, true));
}

static bool is_inet(const struct facts *f)
{
	return f->addr.family == ADDR_INET || f->addr.family == ADDR_INET6;
}

static bool names_host(const struct decision *d, const struct object *o, const char *host)
{
	(void)d;
	return o->form == OBJECT_HOST ? strcmp(o->pattern, host) == 0
	                              : address_host_below(host, o->pattern);
}

static bool names_hosts(const struct decision *d, const struct object *o)
{
	if (d->class == CLASS_RESOLVE)
		return names_host(d, o, d->facts->object);
	for (const char *const *h = d->facts->addr.hosts; is_inet(d->facts) && h && *h; h++)
		if (names_host(d, o, *h))
			return true;
	return false;
}

static bool names_package(const struct decision *d, const struct object *o, bool *by_root)
{
	const struct facts_package *k = &d->facts->package;
	char root[512];
	size_t m = k->manager ? strlen(k->manager) : 0;
	size_t n = k->root ? strlen(k->root) : 0;

	if (glob_match(slice_of(o->pattern), slice_of(d->facts->object)))
		return true;
	if (!(CLASS_BIT(d->class) & CLASSES_PACKAGE) || !k->dependency || !k->root || !m ||
	    m + n + 2 > sizeof root)
		return false;
	memcpy(root, k->manager, m);
	root[m] = ':';
	memcpy(root + m + 1, k->root, n + 1);
	*by_root = glob_match(slice_of(o->pattern), slice_of(root));
	return *by_root;
}

bool match_names(const struct decision *d, const struct object *o, bool *by_root)
{
	const struct facts *f = d->facts;

	*by_root = false;
	switch ((enum object_form)o->form) {
	case OBJECT_ALL:
		return true;
	case OBJECT_PATH:
		return names_path(d, o);
	case OBJECT_ANY_ADDRESS:
		return d->class == CLASS_RESOLVE || is_inet(f);
	case OBJECT_RANGE:
		return address_in_range(&f->addr, &o->range);
	case OBJECT_HOST:
	case OBJECT_BELOW:
		return names_hosts(d, o);
	case OBJECT_SET:
		return o->set == SET_DELEGATES
		               ? d->is_delegate
		               : address_in_set(&f->addr, d->class, (enum addr_set)o->set);
	case OBJECT_UNIX_NAME:
		return f->addr.family == ADDR_UNIX && f->addr.unix_abstract && f->addr.unix_name &&
		       glob_match(slice_of(o->pattern), slice_of(f->addr.unix_name));
	case OBJECT_NAME:
		return names_package(d, o, by_root);
	}
	return false;
}

/* --- one rule --------------------------------------------------------------------- */

struct explaining {
	struct policy_explanation *e;
	const struct decision *d; /* walked: knows what decided */
	uint32_t decided[LAYER_COUNT];
	bool sure[LAYER_COUNT];
	const char *other_name;
};

static const char *cond_text(struct explaining *x, const struct cond *c)
{
	return c ? arena_str(&x->e->arena, c->text) : NULL;
}

/* Why a rule whose conditions hold did not decide. */
static enum policy_why beaten_by(const struct explaining *x, const struct rule *r, uint32_t order)
{
	uint32_t decided = x->decided[r->layer];
	const struct policy *p = x->d->policy;
	const struct rule *winner;

	if (!decided || !x->sure[r->layer])
		return WHY_STRICTER;
	winner = &p->rules.v[p->objects.v[decided].rule];
	if (winner->is_final && (!r->is_final || p->objects.v[decided].rule < order))
		return WHY_FINAL;
	return WHY_LATER;
}

/* Whether `by` failed only since the tree may change the program. */
static bool is_unfixed(const struct explaining *x, const struct cond *c)
{
	struct facts f = *x->d->facts;
	struct cond_context fixed = {.facts = &f, .answer = ANSWER_ALLOW};

	if (c->kind != COND_BY || f.by.fixed)
		return false;
	f.by.fixed = true;
	return cond_holds(c, &fixed, NULL) == FACT_YES;
}

static enum policy_why why_of(struct explaining *x, const struct object *o, bool by_root,
                              const struct cond **failed)
{
	const struct rule *r = &x->d->policy->rules.v[o->rule];
	struct cond_context ctx = {
		.facts = x->d->facts, .answer = (enum policy_answer)r->answer, .by_root = by_root};
	enum policy_why why;
	enum fact_state state = match_object(x->d, o, by_root, &why);
	enum fact_state conds;

	if (state == FACT_NO)
		return why;
	conds = conds_hold(r->conds, r->conds_n, &ctx, failed);
	if (conds == FACT_NO)
		return is_unfixed(x, *failed) ? WHY_UNFIXED : WHY_CONDITION;
	if (conds == FACT_UNKNOWN)
		return WHY_UNKNOWN;
	return state == FACT_UNKNOWN ? WHY_UNKNOWN : beaten_by(x, r, o->rule);
}

/* Objects of one rule often speak of a thing twice (a name and what it
 * resolves to): one line is enough, the best. */
static void add_match(struct explaining *x, struct policy_match m)
{
	struct policy_explanation *e = x->e;
	struct policy_match *last = e->matches.n ? &e->matches.v[e->matches.n - 1] : NULL;

	if (last && last->line == m.line && last->text == m.text && last->file == m.file) {
		if (m.why < last->why)
			*last = m;
		return;
	}
	*vec_push(&e->arena, &e->matches) = m;
}

static void explain_object(struct explaining *x, uint32_t id)
{
	const struct policy *p = x->d->policy;
	const struct object *o = &p->objects.v[id];
	const struct rule *r = &p->rules.v[o->rule];
	const struct cond *failed = NULL;
	struct policy_match m;
	bool by_root;

	if (!(r->classes & CLASS_BIT(x->d->class)) || !match_names(x->d, o, &by_root))
		return;
	/* Another port is no rule about this address. */
	if (match_object(x->d, o, by_root, &m.why) == FACT_NO && m.why == WHY_CONDITION)
		return;
	m = (struct policy_match){.source = layer_name((enum layer)r->layer),
	                          .file = r->file,
	                          .line = r->line,
	                          .text = o->text,
	                          .answer = (enum policy_answer)r->answer,
	                          .is_final = r->is_final,
	                          .other_name = x->other_name};
	m.why = why_of(x, o, by_root, &failed);
	m.condition = cond_text(x, failed);
	if (x->decided[r->layer] == id)
		m.why = WHY_DECIDED;
	m.asks_more = m.why != WHY_DECIDED && m.why != WHY_LATER && m.why != WHY_FINAL &&
	              m.answer < x->e->verdict.answer;
	add_match(x, m);
}

static void explain_opinions(struct explaining *x)
{
	const struct policy *p = x->d->policy;

	for (int layer = 0; layer < LAYER_COUNT; layer++) {
		struct policy_opinion *o = &x->e->opinions[layer];
		uint32_t object = decision_choose(x->d, (enum layer)layer, &x->sure[layer]);

		o->source = layer_name((enum layer)layer);
		o->present = p->present[layer];
		if (layer == LAYER_FLOOR && object && floor_opened(x->d, object))
			object = 0;
		x->decided[layer] = object;
		if (object) {
			o->has_opinion = true;
			verdict_of_object(p, object, &o->verdict);
		} else {
			o->has_opinion =
				verdict_of_default(p, (enum layer)layer, x->d->class, &o->verdict);
		}
		o->consulted = layer != LAYER_ANSWERS;
	}
	x->e->opinions[LAYER_ANSWERS].consulted =
		p->present[LAYER_ANSWERS] && x->e->opinions[LAYER_TEXT].has_opinion &&
		x->e->opinions[LAYER_TEXT].verdict.answer == ANSWER_ASK &&
		!x->e->opinions[LAYER_TEXT].verdict.each;
}

static void explain_objects(struct explaining *x)
{
	for (uint32_t i = 1; i < x->d->policy->objects.n; i++)
		explain_object(x, i);
}

/* Law 11: rules for other names that a file is known to have. */
static void explain_names(struct explaining *x, const struct policy *p, const struct facts *f)
{
	uint32_t i = pair_map_get(&p->inodes, inode_fold(f->dev, f->ino));

	if (!f->ino || !(CLASS_BIT(f->class) & CLASSES_PATH))
		return;
	for (; i; i = p->inode_keys.v[i].next) {
		const struct inode_key *k = &p->inode_keys.v[i];
		struct explaining other = {.e = x->e, .other_name = k->path};
		struct decision d;

		if (k->dev != f->dev || k->ino != f->ino || strcmp(k->path, f->object) == 0)
			continue;
		decision_begin(&d, p, f);
		d.path = k->path;
		decision_walk(&d);
		other.d = &d;
		for (int layer = 0; layer < LAYER_COUNT; layer++)
			other.decided[layer] =
				decision_choose(&d, (enum layer)layer, &other.sure[layer]);
		explain_objects(&other);
	}
}

/* Statements for a secret: the last that goes to the program decides. */
static void explain_secrets(struct explaining *x, const struct policy *p, const struct facts *f)
{
	bool decided = false;
	size_t first = x->e->matches.n;

	for (size_t i = p->secrets.n; i-- > 0;) {
		const struct secret_rule *s = &p->secrets.v[i];
		const struct cond *failed = NULL;
		struct policy_match m = {.source = layer_name((enum layer)s->layer),
		                         .file = s->public.file,
		                         .line = s->public.line,
		                         .text = s->public.text,
		                         .answer = s->ask ? ANSWER_ASK : ANSWER_ALLOW};
		enum fact_state state;

		if (strcmp(s->public.name, f->object) != 0)
			continue;
		state = secret_goes_to(s, f, &failed);
		m.condition = cond_text(x, failed);
		m.why = state == FACT_NO        ? WHY_CONDITION
		        : state == FACT_UNKNOWN ? WHY_UNKNOWN
		        : decided               ? WHY_LATER
		                                : WHY_DECIDED;
		decided |= state == FACT_YES;
		m.asks_more = state != FACT_YES && m.answer < x->e->verdict.answer;
		*vec_push(&x->e->arena, &x->e->matches) = m;
	}
	/* In the order of the text, as the rules are. */
	for (size_t i = first, j = x->e->matches.n; i + 1 < j; i++, j--) {
		struct policy_match kept = x->e->matches.v[i];

		x->e->matches.v[i] = x->e->matches.v[j - 1];
		x->e->matches.v[j - 1] = kept;
	}
}

static void explain(struct policy_explanation *e, const struct policy *p, const struct facts *f)
{
	struct decision d;
	struct explaining x = {.e = e, .d = &d};

	policy_decide(p, f, &e->verdict);
	decision_begin(&d, p, f);
	decision_walk(&d);
	explain_opinions(&x);
	if (f->class == CLASS_SECRET)
		explain_secrets(&x, p, f);
	explain_objects(&x);
	explain_names(&x, p, f);
}

static int explain_guarded(struct policy_explanation *e, const struct policy *p,
                           const struct facts *f)
{
	if (setjmp(e->guard))
		return -ERR_NOMEM;
	e->arena.guard = &e->guard;
	explain(e, p, f);
	return 0;
}

int policy_explain(const struct policy *p, const struct facts *f, struct policy_explanation **out)
{
	struct policy_explanation *e = calloc(1, sizeof *e);
	int err;

	if (!e)
		return -ERR_NOMEM;
	err = explain_guarded(e, p, f);
	if (err) {
		policy_explanation_free(e);
		return err;
	}
	*out = e;
	return 0;
}

void policy_explanation_free(struct policy_explanation *e)
{
	if (!e)
		return;
	arena_free(&e->arena);
	free(e);
}

const struct verdict *policy_explanation_verdict(const struct policy_explanation *e)
{
	return &e->verdict;
}

size_t policy_explanation_count(const struct policy_explanation *e)
{
	return e->matches.n;
}

const struct policy_match *policy_explanation_at(const struct policy_explanation *e, size_t i)
{
	return i < e->matches.n ? &e->matches.v[i] : NULL;
}

const struct policy_opinion *policy_explanation_opinion(const struct policy_explanation *e,
                                                        size_t i)
{
	return i < POLICY_OPINIONS ? &e->opinions[i] : NULL;
}
