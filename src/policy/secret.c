#include "policy/secret.h"

#include "policy/match.h"

#include <string.h>

/* A program that the tree could change is none (law 21). */
enum fact_state secret_goes_to(const struct secret_rule *s, const struct facts *f,
                               const struct cond **failed)
{
	struct cond by = {.kind = COND_BY, .programs = s->to, .n = s->to_n};
	struct cond_context x = {.facts = f, .answer = ANSWER_ALLOW};
	bool image_only = false;
	enum fact_state all = cond_holds(&by, &x, &image_only);

	*failed = NULL;
	for (uint32_t i = 0; i < s->conds_n && all != FACT_NO; i++) {
		enum fact_state one = cond_holds(&s->conds[i], &x, &image_only);

		if (one == FACT_YES)
			continue;
		all = one;
		*failed = &s->conds[i];
	}
	return all;
}

static void verdict_of_secret(const struct secret_rule *s, struct verdict *out)
{
	*out = (struct verdict){
		.answer = s->ask ? ANSWER_ASK : ANSWER_ALLOW,
		.file = s->public.file,
		.line = s->public.line,
		.text = s->public.text,
		.because = s->because,
		.each = s->each,
		.for_s = s->public.for_s,
		.via = s->via,
		.stack = s->stack,
	};
}

static void refuse(struct verdict *out, const char *text)
{
	*out = (struct verdict){
		.answer = ANSWER_DENY, .file = "default", .text = text, .is_default = true};
}

/* `deny secret PATTERN` and the like bound what the statements give. */
static void bound(const struct policy *p, const struct facts *f, struct verdict *out)
{
	struct decision d;
	struct verdict rule;

	decision_begin(&d, p, f);
	decision_walk(&d);
	decision_verdict(&d, &rule);
	if (!rule.is_default && rule.answer > out->answer)
		*out = rule;
}

/* The last statement for the name that may decide; -1: none. */
static long last_for(const struct policy *p, const struct facts *f, const char *name, bool *unknown)
{
	for (size_t i = p->secrets.n; i-- > 0;) {
		const struct cond *failed;
		enum fact_state state;

		if (strcmp(p->secrets.v[i].public.name, name) != 0)
			continue;
		state = secret_goes_to(&p->secrets.v[i], f, &failed);
		*unknown = state == FACT_UNKNOWN;
		if (state != FACT_NO)
			return (long)i;
	}
	return -1;
}

static void decide(const struct policy *p, const struct facts *f, const char *name, long only,
                   struct verdict *out)
{
	struct facts named = *f;
	bool unknown = false;
	long i = last_for(p, f, name, &unknown);

	named.class = CLASS_SECRET;
	named.object = name;
	if (i < 0)
		refuse(out, "no statement gives this secret to this program");
	else if (unknown)
		refuse(out, "what a statement for this secret needs is not known");
	else if (only >= 0 && only != i)
		refuse(out, "a later statement for this secret decides");
	else
		verdict_of_secret(&p->secrets.v[i], out);
	bound(p, &named, out);
}

void secret_decide(const struct policy *p, const struct facts *f, struct verdict *out)
{
	decide(p, f, f->object, -1, out);
}

size_t policy_secret_count(const struct policy *p)
{
	return p->secrets.n;
}

const struct policy_secret *policy_secret_at(const struct policy *p, size_t i)
{
	return i < p->secrets.n ? &p->secrets.v[i].public : NULL;
}

void policy_secret_for(const struct policy *p, size_t i, const struct facts *f, struct verdict *out)
{
	if (i >= p->secrets.n) {
		refuse(out, "there is no such secret");
		return;
	}
	decide(p, f, p->secrets.v[i].public.name, (long)i, out);
}
