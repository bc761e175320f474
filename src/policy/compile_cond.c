#include "base/text.h"
#include "policy/compile.h"
#include "policy/version.h"
#include "policy/words.h"

#include <string.h>

/* What one condition is compiled from. */
struct cond_place {
	struct compiler *c;
	const struct cond_tree *tree;
	enum policy_answer answer;
	unsigned classes;
};

static struct arena *arena_of(struct compiler *c)
{
	return &c->policy->arena;
}

static void add_program(struct compiler *c, struct program_pattern **out, size_t *n, size_t *cap,
                        const char *pattern)
{
	struct program_pattern one = {.pattern = compile_kept(c, pattern)};

	for (size_t i = 0; i < *n; i++)
		if (strcmp((*out)[i].pattern, pattern) == 0)
			return;
	if (path_is_literal(pattern))
		one.literal = glob_plain(arena_of(c), slice_of(pattern));
	*out = vec_room(arena_of(c), *out, *n, cap, sizeof **out);
	(*out)[(*n)++] = one;
}

const struct program_pattern *compile_programs(struct compiler *c, const struct words *words,
                                               enum policy_answer answer, size_t *n)
{
	struct program_pattern *out = NULL;
	size_t cap = 0;

	*n = 0;
	for (size_t i = 0; i < words->n; i++) {
		const struct word *w = &words->v[i];
		struct texts texts;

		if (!expand_is_path(w)) {
			report_error(c->report, w->at, "a path begins with /, ~/, **/ or ${NAME}",
			             "expected the path of a program");
			continue;
		}
		if (!expand_path(c->scope, w, answer != ANSWER_ALLOW, &texts))
			continue;
		for (size_t t = 0; t < texts.n; t++) {
			size_t len = path_literal_len(texts.v[t]);
			const char *plain = glob_plain(c->scratch, (struct slice){texts.v[t], len});
			struct links links = {0};
			const char *canon = resolve_path(&c->resolver, plain, true, &links);

			/* A program is known by the image that was loaded. */
			if (len)
				add_program(c, &out, n, &cap,
				            arena_fmt(c->scratch, "%s%s",
				                      strcmp(canon, "/") == 0 && texts.v[t][len]
				                              ? ""
				                              : glob_quote(c->scratch, canon),
				                      texts.v[t] + len));
			add_program(c, &out, n, &cap, texts.v[t]);
		}
	}
	return out;
}

static void by_cond(struct cond_place *x, struct cond *out)
{
	out->programs = compile_programs(x->c, &x->tree->words, x->answer, &out->n);
}

static void under_mark(struct cond_place *x, const struct word *w, struct ancestor *a)
{
	struct compiler *c = x->c;
	const char *rest = glob_find(w->text, ':') + 1;

	a->glob = compile_kept(c, rest);
	compile_need(c, w->at, STAGE_MARKS, "\"under install:\" and \"under script:\"");
	if (!*rest)
		report_error(c->report, w->at, "under install:npm, under script:esbuild",
		             "expected a name after the colon");
	else if (a->kind == ANCESTOR_INSTALL && strcmp(rest, "*") != 0 &&
	         !words_has(words_manager, rest))
		report_error(c->report, w->at, report_nearest(c->report, rest, words_manager),
		             "unknown package manager \"%s\"", rest);
}

static void under_cond(struct cond_place *x, struct cond *out)
{
	struct compiler *c = x->c;
	VEC(struct ancestor) all = {0};

	for (size_t i = 0; i < x->tree->words.n; i++) {
		const struct word *w = &x->tree->words.v[i];
		struct words one = {.v = &x->tree->words.v[i], .n = 1};
		const struct program_pattern *paths;
		size_t n;

		if (text_starts(w->text, "install:") || text_starts(w->text, "script:")) {
			struct ancestor a = {.kind = w->text[0] == 'i' ? ANCESTOR_INSTALL
			                                               : ANCESTOR_SCRIPT};

			under_mark(x, w, &a);
			*vec_push(arena_of(c), &all) = a;
			continue;
		}
		paths = compile_programs(c, &one, x->answer, &n);
		for (size_t p = 0; p < n; p++)
			*vec_push(arena_of(c), &all) =
				(struct ancestor){.kind = ANCESTOR_PATH, .path = paths[p]};
	}
	out->ancestors = all.v;
	out->n = all.n;
}

static void sha256_cond(struct cond_place *x, struct cond *out)
{
	const struct word *w = &x->tree->words.v[0];
	uint8_t *bytes = arena_alloc(arena_of(x->c), 32);

	compile_need(x->c, x->tree->at, STAGE_SHA256, "\"sha256\"");
	if (text_unhex(w->text, strlen(w->text), bytes, 32))
		report_error(x->c->report, w->at, NULL, "a SHA-256 is 64 hexadecimal digits");
	out->sha256 = bytes;
}

static void at_cond(struct cond_place *x, struct cond *out)
{
	struct compiler *c = x->c;
	struct ip_range *ranges = arena_alloc(arena_of(c), x->tree->words.n * sizeof *ranges);

	if (x->classes & ~CLASSES_ADDRESS)
		report_error(c->report, x->tree->at, NULL, "\"at\" is only for connect and bind");
	for (size_t i = 0; i < x->tree->words.n; i++) {
		const struct word *w = &x->tree->words.v[i];
		int err = address_parse_range(w->text, &ranges[i]);

		if (err)
			report_error(c->report, w->at, "10.0.0.0/8, 2001:db8::/32, 192.0.2.1",
			             err == -ERR_BOUND ? "the address has bits beyond its prefix"
			                               : "this is no range of addresses");
	}
	out->ranges = ranges;
	out->n = x->tree->words.n;
}

static void only_packages(struct cond_place *x, const char *what)
{
	if (x->classes & ~CLASSES_PACKAGE)
		report_error(x->c->report, x->tree->at, NULL,
		             "\"%s\" is only for install and script", what);
}

static void from_cond(struct cond_place *x, struct cond *out)
{
	const struct word *w = &x->tree->words.v[0];

	only_packages(x, "from");
	compile_need(x->c, x->tree->at, STAGE_FROM, "\"from\"");
	out->word = glob_plain(arena_of(x->c), slice_of(w->text));
	if (!text_starts(out->word, "registry:"))
		return;
	if (!words_has(words_manager, out->word + 9))
		report_error(x->c->report, w->at,
		             report_nearest(x->c->report, out->word + 9, words_manager),
		             "unknown package manager \"%s\"", out->word + 9);
	else
		out->hosts = compile_hosts(x->c, out->word + 9);
}

static void version_cond(struct cond_place *x, struct cond *out)
{
	const struct word *w = &x->tree->words.v[0];

	only_packages(x, "version");
	compile_need(x->c, x->tree->at, STAGE_VERSION, "\"version\"");
	out->word = glob_plain(arena_of(x->c), slice_of(w->text));
	if (!version_range_is_valid(out->word))
		report_error(x->c->report, w->at, "\">=4 <6\", \"^1.2\", \"~2.0.1\", \"1.4.2\"",
		             "this is no range of versions");
}

static void until_cond(struct cond_place *x, struct cond *out)
{
	const struct word *w = &x->tree->words.v[0];

	if (words_time(glob_plain(x->c->scratch, slice_of(w->text)), &out->until_s))
		report_error(x->c->report, w->at, "write 2026-12-01 or 2026-12-01T12:30Z, in UTC",
		             "this is no time");
}

/* A literal loses its escapes, so that options can be compared with it. */
static const char *argument_glob(struct compiler *c, const char *text)
{
	char *plain = glob_plain(arena_of(c), slice_of(text));

	return strpbrk(plain, "*\\") ? compile_kept(c, text) : plain;
}

static void argument_cond(struct cond_place *x, struct cond *out)
{
	struct compiler *c = x->c;
	struct argument *all = arena_alloc(arena_of(c), x->tree->words.n * sizeof *all);

	for (size_t i = 0; i < x->tree->words.n; i++) {
		const struct word *w = &x->tree->words.v[i];
		struct texts texts;
		const char **globs;

		if (out->kind == COND_ARGV && strcmp(w->text, "**") == 0) {
			all[i].any_number = true;
			continue;
		}
		if (!expand_word(c->scope, w, &texts))
			continue;
		globs = arena_alloc(arena_of(c), texts.n * sizeof *globs);
		for (size_t t = 0; t < texts.n; t++)
			globs[t] = argument_glob(c, texts.v[t]);
		all[i].globs = globs;
		all[i].n = texts.n;
	}
	out->arguments = all;
	out->n = x->tree->words.n;
}

static void facts_cond(struct cond_place *x, struct cond *out)
{
	static const struct {
		unsigned facts, stage;
		const char *what;
	} needs[] = {
		{FACT_UNPINNED, STAGE_VERSION, "\"when unpinned\""},
		{FACT_SCRIPT, STAGE_SCRIPT, "\"when script\""},
		{FACT_NEW | FACT_GIT | FACT_URL | FACT_PATH | FACT_LOOKALIKE, STAGE_FACTS,
	         "when new, git, url, path and lookalike"},
	};

	only_packages(x, "when");
	out->facts = x->tree->facts;
	out->negated = x->tree->negated;
	for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
		if (out->facts & needs[i].facts)
			compile_need(x->c, x->tree->at, needs[i].stage, needs[i].what);
}

static void (*const compilers[])(struct cond_place *x, struct cond *out) = {
	[COND_BY] = by_cond,       [COND_UNDER] = under_cond,   [COND_SHA256] = sha256_cond,
	[COND_AT] = at_cond,       [COND_FROM] = from_cond,     [COND_VERSION] = version_cond,
	[COND_UNTIL] = until_cond, [COND_ARGV] = argument_cond, [COND_HAS] = argument_cond,
	[COND_FACTS] = facts_cond,
};

/* `under`, argv, has and facts may be said twice: then both must hold. */
static void check_twice(struct compiler *c, const struct cond_tree *conds, size_t i)
{
	static const unsigned once = 1u << COND_BY | 1u << COND_SHA256 | 1u << COND_AT |
	                             1u << COND_FROM | 1u << COND_VERSION | 1u << COND_UNTIL;

	for (size_t j = 0; j < i; j++) {
		if (conds[j].kind != conds[i].kind || !(once & 1u << conds[i].kind))
			continue;
		report_error(c->report, conds[i].at, "words within one condition are alternatives",
		             "this condition is given twice");
		return;
	}
}

const struct cond *compile_conds(struct compiler *c, const struct cond_tree *conds, size_t n,
                                 enum policy_answer answer, unsigned classes, struct spot *by_at)
{
	struct cond *out = arena_alloc(arena_of(c), n * sizeof *out);
	size_t done = 0;

	/* `by` first: it tells where argv begins (cond.c). */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < n; i++) {
			struct cond_place x = {
				.c = c, .tree = &conds[i], .answer = answer, .classes = classes};

			if ((conds[i].kind == COND_BY) != (pass == 0))
				continue;
			check_twice(c, conds, i);
			if (conds[i].kind == COND_BY && by_at)
				*by_at = conds[i].at;
			out[done].kind = conds[i].kind;
			out[done].text = compile_kept(c, conds[i].text);
			compilers[conds[i].kind](&x, &out[done]);
			done++;
		}
	}
	return out;
}

const char *const *compile_hosts(struct compiler *c, const char *manager)
{
	const char *const *hosts = NULL;
	VEC(const char *) kept = {0};

	if (c->world->registry)
		hosts = c->world->registry(c->world->ctx, manager);
	if (!hosts)
		return NULL;
	for (; *hosts; hosts++)
		*vec_push(arena_of(c), &kept) = compile_kept(c, *hosts);
	*vec_push(arena_of(c), &kept) = NULL;
	return kept.v;
}
