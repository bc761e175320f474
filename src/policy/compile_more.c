/* Secrets and limits; and what can be said only about the whole policy. */
#include "base/text.h"
#include "policy/compile.h"
#include "policy/match.h"
#include "policy/words.h"
#include "policy/writable.h"

#include <string.h>

/* --- secrets ---------------------------------------------------------------- */

static void secret_stages(struct compiler *c, const struct secret_tree *t)
{
	static const struct {
		const char *kind;
		unsigned stage;
		const char *what;
	} needs[] = {
		{"env", STAGE_SECRET_ENV, "secrets"},
		{"vault", STAGE_SECRET_VAULT, "secrets from the vault"},
		{"file", STAGE_SECRET_FILE, "secrets from files"},
		{"command", STAGE_SECRET_COMMAND, "secrets from commands"},
	};

	for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
		if (strcmp(needs[i].kind, t->from_kind) == 0)
			compile_need(c, t->from.at, needs[i].stage, needs[i].what);
	if (strcmp(t->as_kind, "file") == 0)
		compile_need(c, t->as.at, STAGE_SECRET_AS_FILE, "secrets as files");
	if (strcmp(t->as_kind, "fd") == 0)
		compile_need(c, t->as.at, STAGE_SECRET_AS_FD, "secrets as descriptors");
	if (t->options.for_s)
		compile_need(c, t->options.for_at, STAGE_FOR, "\"for\"");
	if (t->options.via)
		compile_need(c, t->options.via_at, STAGE_VIA, "\"via\"");
}

static void secret_options(struct compiler *c, const struct secret_tree *t)
{
	const struct options_tree *o = &t->options;
	const struct spot *none[] = {&o->as_at, &o->relay_at, &o->dependencies_at, &o->quiet_at};

	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		if (none[i]->source)
			report_error(c->report, *none[i], NULL, "this option is not for secrets");
}

/* One path, literal, plain; NULL with a message. */
static const char *single_path(struct compiler *c, const struct word *w)
{
	struct texts texts;

	if (!expand_path(c->scope, w, false, &texts))
		return NULL;
	if (texts.n != 1 || !path_is_literal(texts.v[0])) {
		report_error(c->report, w->at, NULL, "expected one path, without wildcards");
		return NULL;
	}
	return glob_plain(&c->policy->arena, slice_of(texts.v[0]));
}

static void secret_places(struct compiler *c, const struct secret_tree *t, struct secret_rule *s)
{
	unsigned long long fd;

	s->public.from = glob_plain(&c->policy->arena, slice_of(t->from.text));
	if (strcmp(t->from_kind, "file") == 0)
		s->public.from = single_path(c, &t->from);
	if (strcmp(t->as_kind, "env") == 0)
		return;
	if (strcmp(t->as_kind, "file") == 0) {
		s->public.as = single_path(c, &t->as);
		return;
	}
	s->public.as = compile_kept(c, t->as.text);
	if (text_number(t->as.text, 1023, &fd) || fd < 3)
		report_error(c->report, t->as.at, NULL, "a descriptor is a number from 3 to 1023");
}

void compile_secret(struct compiler *c, const struct stmt *st)
{
	const struct secret_tree *t = st->secret;
	struct policy *p = c->policy;
	struct secret_rule s = {
		.layer = (uint8_t)c->layer,
		.ask = t->ask || t->options.each,
		.each = t->options.each,
		.stack = t->options.stack,
		.via = compile_kept(c, t->options.via),
		.because = compile_kept(c, t->options.because),
		.at = st->whole,
	};

	secret_stages(c, t);
	secret_options(c, t);
	s.public = (struct policy_secret){
		.name = compile_kept(c, t->name.text),
		.from_kind = t->from_kind,
		.as_kind = compile_kept(c, t->as_kind),
		.for_s = t->options.for_s,
		.file = c->source->name,
		.line = st->at.line,
		.text = compile_kept(c, t->text),
	};
	secret_places(c, t, &s);
	s.to = compile_programs(c, &t->to, ANSWER_ALLOW, &s.to_n);
	s.conds = compile_conds(c, t->conds.v, t->conds.n, ANSWER_ALLOW, CLASS_BIT(CLASS_SECRET),
	                        NULL);
	s.conds_n = (uint32_t)t->conds.n;
	*vec_push(&p->arena, &p->secrets) = s;
}

/* --- limits ----------------------------------------------------------------- */

static bool same_limit(const struct policy_limit *a, const struct policy_limit *b)
{
	return strcmp(a->name, b->name) == 0 &&
	       ((!a->in && !b->in) || (a->in && b->in && strcmp(a->in, b->in) == 0));
}

/* Law 27: in one text the later replaces the earlier; and a project's only
 * tightens (law 7). */
static void add_limit(struct compiler *c, struct policy_limit l, struct spot at)
{
	struct policy *p = c->policy;

	for (size_t i = 0; i < p->limits.n; i++) {
		struct policy_limit *old = &p->limits.v[i];

		if (!same_limit(old, &l) || old->layer != l.layer)
			continue;
		if (c->source->kind == SOURCE_PROJECT && l.amount > old->amount)
			report_error(c->report, at, NULL,
			             "a project's policy only tightens limits: \"%s\" is smaller "
			             "at %s:%u",
			             l.name, old->file, old->line);
		*old = l;
		return;
	}
	*vec_push(&p->arena, &p->limits) = l;
}

/* Law 27: across sources the smaller holds. */
static void settle_limits(struct policy *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->limits.n; i++) {
		size_t j = 0;

		while (j < kept && !same_limit(&p->limits.v[j], &p->limits.v[i]))
			j++;
		if (j == kept)
			p->limits.v[kept++] = p->limits.v[i];
		else if (p->limits.v[i].amount < p->limits.v[j].amount)
			p->limits.v[j] = p->limits.v[i];
	}
	p->limits.n = kept;
}

void compile_limit(struct compiler *c, const struct stmt *s)
{
	const struct limit_tree *t = s->limit;
	const char *in = NULL;
	struct texts texts;

	compile_need(c, s->at, STAGE_LIMIT, "limits");
	if (t->has_in) {
		if (!expand_path(c->scope, &t->in, false, &texts))
			return;
		in = compile_kept(c, texts.v[0]);
	}
	for (size_t i = 0; i < t->names.n; i++) {
		struct policy_limit l = {
			.name = compile_kept(c, t->names.v[i].text),
			.amount = t->amounts.v[i],
			.in = in,
			.then = t->then ? compile_kept(c, t->then) : "stop",
			.file = c->source->name,
			.line = s->at.line,
			.layer = (int)c->layer,
		};

		add_limit(c, l, t->names.v[i].at);
	}
}

/* --- audit ----------------------------------------------------------------- */

/* What removes rows of the record must come from where no session of wary, whatever its
 * policy, ever lets its tree write. */
static bool may_retain(struct compiler *c, const struct stmt *s)
{
	const char *path = c->source->path;

	if (path && c->world->lasting && c->world->lasting(c->world->ctx, path))
		return true;
	report_error(c->report, s->whole,
	             "put it into your own policy, or the machine's; wary audit prune removes by "
	             "hand",
	             "how long sessions are kept counts only in files of ~/.config/wary and "
	             "/etc/wary themselves");
	return false;
}

/* @layers: what each states; @out: what of that is in force. */
static void retain(struct compiler *c, const struct stmt *s, const char *word,
                   struct policy_retention layers[LAYER_COUNT], struct policy_retention *out)
{
	if (!may_retain(c, s))
		return;
	layers[c->layer] = (struct policy_retention){
		.amount = s->amount,
		.file = c->source->name,
		.line = s->at.line,
		.text = arena_fmt(&c->policy->arena, "audit %s %s", word, s->word.text),
	};
	*out = layers[c->layer];
	for (int i = 0; i < LAYER_COUNT; i++)
		if (layers[i].amount > out->amount)
			*out = layers[i];
}

void compile_audit(struct compiler *c, const struct stmt *s)
{
	struct policy_audit *a = &c->policy->audit;

	switch (s->audit) {
	case AUDIT_COUNT:
		compile_need(c, s->at, STAGE_AUDIT, "\"audit count\"");
		a->count |= s->classes;
		a->off &= ~s->classes;
		break;
	case AUDIT_OFF:
		compile_need(c, s->at, STAGE_AUDIT, "\"audit off\"");
		a->off |= s->classes;
		a->count &= ~s->classes;
		break;
	case AUDIT_FULL:
		a->off = a->count = 0;
		break;
	case AUDIT_SYNC:
		compile_need(c, s->at, STAGE_AUDIT_SYNC, "\"audit sync\"");
		a->sync = true;
		break;
	case AUDIT_KEEP:
		retain(c, s, "keep", c->policy->keeps, &a->keep);
		break;
	case AUDIT_MAX_SIZE:
		retain(c, s, "max-size", c->policy->max_sizes, &a->max_size);
		break;
	}
}

/* --- the whole policy -------------------------------------------------------- */

/* Law 11: an allow goes through no link that the tree may replace. */
static void check_links(struct compiler *c)
{
	struct policy *p = c->policy;

	for (size_t i = 0; i < c->link_uses.n; i++) {
		const struct link_use *use = &c->link_uses.v[i];

		for (size_t l = 0; l < use->links.n; l++) {
			if (!policy_may_write(p, use->links.v[l]))
				continue;
			p->objects.v[use->object].dead = true;
			p->objects.v[use->object].link = compile_kept(c, use->links.v[l]);
		}
	}
}

/* Law 16: whose hosts a registry set means must not be the tree's to say. */
static void check_registries(struct compiler *c)
{
	for (size_t i = 0; i < c->registries.n; i++) {
		const struct registry_use *use = &c->registries.v[i];
		const char *const *files = NULL;

		if (c->world->registry_files)
			files = c->world->registry_files(c->world->ctx, use->manager);
		for (; files && *files; files++)
			if (policy_may_write(c->policy, *files))
				report_error(c->report, use->at,
				             arena_fmt(c->scratch, "deny edit %s", *files),
				             "registry:%s is read from %s, which this policy lets "
				             "the tree write",
				             use->manager, *files);
	}
}

/* Whether the tree may write a program; what was found is remembered, since
 * many rules name the same. */
static bool may_write_program(struct compiler *c, const struct program_pattern *program)
{
	uint32_t *known =
		text_map_at(&c->programs, c->lasting, program->pattern, strlen(program->pattern));

	if (!*known)
		*known = 1 + (program->literal ? policy_may_write(c->policy, program->literal)
		                               : writable_pattern(c->policy, program->pattern));
	return *known == 2;
}

/* Law 21. */
static void check_programs(struct compiler *c, const struct program_pattern *programs, size_t n,
                           struct spot at, const char *what)
{
	for (size_t i = 0; i < n; i++) {
		if (!may_write_program(c, &programs[i]))
			continue;
		report_error(c->report, at, "name a program that no rule lets the tree write",
		             "%s for a program that the tree may write: %s", what,
		             programs[i].pattern);
		return;
	}
}

static void check_rule_programs(struct compiler *c, const struct rule *r)
{
	if (r->layer == LAYER_FLOOR || r->answer != ANSWER_ALLOW || r->derived)
		return;
	for (uint32_t i = 0; i < r->conds_n; i++)
		if (r->conds[i].kind == COND_BY)
			check_programs(c, r->conds[i].programs, r->conds[i].n, r->by_at,
			               "an allow");
}

void compile_end(struct compiler *c)
{
	struct policy *p = c->policy;

	settle_limits(p);
	check_links(c);
	check_registries(c);
	for (size_t i = 1; i < p->rules.n; i++)
		check_rule_programs(c, &p->rules.v[i]);
	for (size_t i = 0; i < p->secrets.n; i++)
		check_programs(c, p->secrets.v[i].to, p->secrets.v[i].to_n, p->secrets.v[i].at,
		               "a secret");
}
