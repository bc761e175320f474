#include "policy/cond.h"

#include "base/text.h"
#include "policy/version.h"
#include "policy/words.h"

#include <string.h>

bool program_matches(const struct program_pattern *patterns, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++) {
		if (patterns[i].literal ? strcmp(patterns[i].literal, path) == 0
		                        : path_match(patterns[i].pattern, path, false))
			return true;
	}
	return false;
}

static enum fact_state by_holds(const struct cond *c, const struct cond_context *x,
                                bool *image_only)
{
	const struct facts_program *by = &x->facts->by;
	bool image = by->path && program_matches(c->programs, c->n, by->path);
	bool script = by->script && program_matches(c->programs, c->n, by->script);

	if (image_only)
		*image_only = image && !script && by->script;
	if (!image && !script)
		return by->path ? FACT_NO : FACT_UNKNOWN;
	/* Law 21: what the tree may change is nobody's in an allow. */
	if (x->answer == ANSWER_ALLOW && !by->fixed)
		return FACT_NO;
	return FACT_YES;
}

/* Law 22: of install: and script: only the innermost counts. */
static const char *innermost(const char *const *under, const char *prefix)
{
	for (; under && *under; under++)
		if (text_starts(*under, prefix))
			return *under + strlen(prefix);
	return NULL;
}

static bool ancestor_matches(const struct ancestor *a, const char *const *under)
{
	const char *mark;

	if (a->kind == ANCESTOR_PATH) {
		for (; under && *under; under++)
			if (**under == '/' && program_matches(&a->path, 1, *under))
				return true;
		return false;
	}
	mark = innermost(under, a->kind == ANCESTOR_INSTALL ? "install:" : "script:");
	return mark && glob_match(slice_of(a->glob), slice_of(mark));
}

static enum fact_state under_holds(const struct cond *c, const struct cond_context *x)
{
	for (size_t i = 0; i < c->n; i++) {
		if (!ancestor_matches(&c->ancestors[i], x->facts->under))
			continue;
		/* A mark is the innermost only where nothing is missing. */
		if (c->ancestors[i].kind == ANCESTOR_PATH || x->facts->under_known)
			return FACT_YES;
	}
	return x->facts->under_known ? FACT_NO : FACT_UNKNOWN;
}

static const struct facts_program *argv_of(const struct facts *f)
{
	return f->class == CLASS_EXEC ? &f->target : &f->by;
}

static enum fact_state sha256_holds(const struct cond *c, const struct cond_context *x)
{
	const uint8_t *have = argv_of(x->facts)->sha256;

	if (!have)
		return FACT_UNKNOWN;
	return memcmp(have, c->sha256, 32) == 0 ? FACT_YES : FACT_NO;
}

static enum fact_state at_holds(const struct cond *c, const struct cond_context *x)
{
	for (size_t i = 0; i < c->n; i++)
		if (address_in_range(&x->facts->addr, &c->ranges[i]))
			return FACT_YES;
	return FACT_NO;
}

/* Whether a host word is the host of "host:port". */
static bool is_host_of(const char *host, const char *with_port)
{
	size_t len = strlen(host);

	return strncmp(with_port, host, len) == 0 && (!with_port[len] || with_port[len] == ':');
}

static enum fact_state from_holds(const struct cond *c, const struct cond_context *x)
{
	const char *have = x->facts->package.registry;

	if (!have)
		return FACT_UNKNOWN;
	if (strcmp(have, c->word) == 0)
		return FACT_YES;
	for (const char *const *h = c->hosts; h && *h; h++)
		if (is_host_of(have, *h))
			return FACT_YES;
	return FACT_NO;
}

static enum fact_state version_holds(const struct cond *c, const struct cond_context *x)
{
	const struct facts_package *p = &x->facts->package;
	const char *have = x->by_root ? p->root_version : p->version;

	return have ? version_in_range(have, c->word) : FACT_UNKNOWN;
}

static enum fact_state until_holds(const struct cond *c, const struct cond_context *x)
{
	if (!x->facts->now_s)
		return FACT_UNKNOWN;
	return x->facts->now_s < c->until_s ? FACT_YES : FACT_NO;
}

static bool argument_matches(const struct argument *a, const char *arg)
{
	for (size_t i = 0; i < a->n; i++)
		if (glob_match(slice_of(a->globs[i]), slice_of(arg)))
			return true;
	return false;
}

/* The sequence of law 23: anchored, ** any number. */
static bool sequence_matches(const struct cond *c, const char *const *argv, size_t argc)
{
	size_t ci = 0;
	size_t ai = 0;
	size_t star_c = 0; /* behind the last ** met; 0: none */
	size_t star_a = 0;

	while (ai < argc) {
		if (ci < c->n && c->arguments[ci].any_number) {
			star_c = ++ci;
			star_a = ai;
		} else if (ci < c->n && argument_matches(&c->arguments[ci], argv[ai])) {
			ci++;
			ai++;
		} else if (star_c) {
			ci = star_c;
			ai = ++star_a;
		} else {
			return false;
		}
	}
	while (ci < c->n && c->arguments[ci].any_number)
		ci++;
	return ci == c->n;
}

static enum fact_state argv_holds(const struct cond *c, const struct cond_context *x,
                                  bool image_only)
{
	const struct facts_program *p = argv_of(x->facts);
	size_t skip = p == &x->facts->by && image_only ? 0 : 1;

	if (!p->argv || !p->argv_whole)
		return FACT_UNKNOWN;
	if (p->argc < skip)
		skip = p->argc;
	return sequence_matches(c, p->argv + skip, p->argc - skip) ? FACT_YES : FACT_NO;
}

/* Whether an argument is a long option's abbreviation: --forc, --fo=x. */
static bool is_abbreviation(const char *option, const char *arg)
{
	size_t len = strcspn(arg, "=");

	return text_starts(option, "--") && len > 2 && len < strlen(option) &&
	       strncmp(arg, option, len) == 0;
}

static bool is_with_value(const char *option, const char *arg)
{
	size_t len = strlen(option);

	return text_starts(option, "--") && strncmp(arg, option, len) == 0 && arg[len] == '=';
}

/* One argument against one word of `has`. */
static enum fact_state has_one(const char *glob, const char *arg, enum policy_answer answer)
{
	if (glob_match(slice_of(glob), slice_of(arg)) || is_with_value(glob, arg))
		return FACT_YES;
	if (!is_abbreviation(glob, arg))
		return FACT_NO;
	/* It may be another option's abbreviation: no ground to allow. */
	return answer == ANSWER_ALLOW ? FACT_UNKNOWN : FACT_YES;
}

static enum fact_state has_holds(const struct cond *c, const struct cond_context *x)
{
	const struct facts_program *p = argv_of(x->facts);
	enum fact_state best = p->argv && p->argv_whole ? FACT_NO : FACT_UNKNOWN;

	for (size_t ai = 1; p->argv && ai < p->argc; ai++) {
		for (size_t i = 0; i < c->n; i++) {
			for (size_t g = 0; g < c->arguments[i].n; g++) {
				enum fact_state one =
					has_one(c->arguments[i].globs[g], p->argv[ai], x->answer);

				if (one == FACT_YES)
					return FACT_YES;
				best = one == FACT_UNKNOWN ? one : best;
			}
		}
	}
	return best;
}

static enum fact_state facts_hold(const struct cond *c, const struct cond_context *x)
{
	const struct facts_package *p = &x->facts->package;
	const enum fact_state have[] = {p->unpinned, p->is_new, p->git,      p->url,
	                                p->path,     p->script, p->lookalike};
	enum fact_state any = FACT_NO;

	for (unsigned i = 0; i < sizeof have / sizeof have[0]; i++) {
		if (!(c->facts & 1u << i) || have[i] == FACT_NO)
			continue;
		if (have[i] == FACT_YES)
			any = FACT_YES;
		else if (any == FACT_NO)
			any = FACT_UNKNOWN;
	}
	if (!c->negated || any == FACT_UNKNOWN)
		return any;
	return any == FACT_YES ? FACT_NO : FACT_YES;
}

enum fact_state cond_holds(const struct cond *c, const struct cond_context *x, bool *image_only)
{
	switch (c->kind) {
	case COND_BY:
		return by_holds(c, x, image_only);
	case COND_UNDER:
		return under_holds(c, x);
	case COND_SHA256:
		return sha256_holds(c, x);
	case COND_AT:
		return at_holds(c, x);
	case COND_FROM:
		return from_holds(c, x);
	case COND_VERSION:
		return version_holds(c, x);
	case COND_UNTIL:
		return until_holds(c, x);
	case COND_ARGV:
		return argv_holds(c, x, image_only && *image_only);
	case COND_HAS:
		return has_holds(c, x);
	case COND_FACTS:
		return facts_hold(c, x);
	}
	return FACT_UNKNOWN;
}

enum fact_state conds_hold(const struct cond *conds, size_t n, const struct cond_context *x,
                           const struct cond **failed)
{
	enum fact_state all = FACT_YES;
	bool image_only = false;

	/* `by` comes first (compile), since it tells where argv begins. */
	for (size_t i = 0; i < n; i++) {
		enum fact_state one = cond_holds(&conds[i], x, &image_only);

		if (one == FACT_YES)
			continue;
		if (failed && (all == FACT_YES || one == FACT_NO))
			*failed = &conds[i];
		if (one == FACT_NO)
			return FACT_NO;
		all = FACT_UNKNOWN;
	}
	return all;
}
