#include "policy/compiled.h"
#include "policy/words.h"

#include <string.h>

size_t policy_limit_count(const struct policy *p)
{
	return p->limits.n;
}

const struct policy_limit *policy_limit_at(const struct policy *p, size_t i)
{
	return i < p->limits.n ? &p->limits.v[i] : NULL;
}

const struct policy_audit *policy_audit_of(const struct policy *p)
{
	return &p->audit;
}

bool policy_env_keeps(const struct policy *p, const char *name)
{
	for (size_t i = p->envs.n; i-- > 0;)
		if (glob_match(slice_of(p->envs.v[i].glob), slice_of(name)))
			return p->envs.v[i].keep;
	return true;
}

size_t policy_env_set_count(const struct policy *p)
{
	return p->env_sets.n;
}

const struct policy_env_set *policy_env_set_at(const struct policy *p, size_t i)
{
	return i < p->env_sets.n ? &p->env_sets.v[i] : NULL;
}

static bool any_sha256(const struct cond *conds, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (conds[i].kind == COND_SHA256)
			return true;
	return false;
}

bool policy_wants_sha256(const struct policy *p)
{
	for (size_t i = 1; i < p->rules.n; i++)
		if (any_sha256(p->rules.v[i].conds, p->rules.v[i].conds_n))
			return true;
	for (size_t i = 0; i < p->secrets.n; i++)
		if (any_sha256(p->secrets.v[i].conds, p->secrets.v[i].conds_n))
			return true;
	return false;
}

bool policy_wants_stack(const struct policy *p)
{
	for (size_t i = 1; i < p->rules.n; i++)
		if (p->rules.v[i].stack)
			return true;
	for (size_t i = 0; i < p->secrets.n; i++)
		if (p->secrets.v[i].stack)
			return true;
	return false;
}

bool policy_tmp_private(const struct policy *p)
{
	return p->tmp_private;
}

const char *policy_tenant(const struct policy *p)
{
	return p->tenant;
}

size_t policy_rule_count(const struct policy *p)
{
	return p->rules.n - 1;
}

void policy_rule_at(const struct policy *p, size_t i, struct policy_rule *out)
{
	const struct rule *r = &p->rules.v[i + 1];

	*out = (struct policy_rule){
		.source = layer_name((enum layer)r->layer),
		.file = r->file,
		.line = r->line,
		.answer = (enum policy_answer)r->answer,
		.is_final = r->is_final,
		.is_derived = r->derived,
		.classes = r->classes,
		.text = r->text,
		.because = r->because,
		.objects_n = r->objects_n,
	};
}

const char *policy_rule_object(const struct policy *p, size_t i, size_t n)
{
	const struct rule *r = &p->rules.v[i + 1];

	return n < r->objects_n ? p->objects.v[r->objects + n].pattern : NULL;
}

int policy_default_of(const struct policy *p, enum policy_class class)
{
	return p->defaults[LAYER_TEXT][class].answer;
}
