#include "policy/expand.h"
#include "policy/glob.h"
#include "policy/parse.h"
#include "policy/words.h"

#include <string.h>

/* What ends a list of words, unless quoted. */
static const char *const cond_words[] = {
	"by", "under", "sha256", "at", "from", "version", "until", "when", NULL,
};
static const char *const option_words[] = {
	"as", "for", "each", "via", "through", "with", "because", "stack", "quiet", NULL,
};

static bool is_keyword(const struct word *w)
{
	return !w->quoted && (words_has(cond_words, w->text) || words_has(option_words, w->text));
}

bool parse_is_cond(const struct parser *p)
{
	const struct word *w = parse_peek(p);

	return w && !w->quoted && words_has(cond_words, w->text);
}

void parse_list(struct parser *p, const char *what, struct words *out)
{
	const struct word *w;

	while ((w = parse_peek(p)) && !is_keyword(w)) {
		*vec_push(p->arena, out) = *w;
		p->at++;
	}
	if (!out->n)
		parse_fail(p, NULL, arena_fmt(p->arena, "expected %s", what));
}

static void one_word(struct parser *p, const char *what, struct words *out)
{
	const struct word *w = parse_word(p, what);

	if (w)
		*vec_push(p->arena, out) = *w;
}

/* The facts of `when`: words at commas; blanks after a comma are taken too. */
static void when_facts(struct parser *p, struct cond_tree *out)
{
	const struct word *w;
	bool more = true;

	out->kind = COND_FACTS;
	out->negated = parse_accept(p, "not");
	while (more && (w = parse_word(p, "argv, has or a fact (unpinned, new, git…)"))) {
		size_t len = strlen(w->text);

		more = len && w->text[len - 1] == ',';
		for (const char *s = w->text; *s;) {
			size_t n = strcspn(s, ",");
			const char *name = arena_bytes(p->arena, s, n);
			unsigned bit = w->quoted ? 0 : words_fact_find(name);

			if (!bit) {
				const char *hint = report_nearest(p->report, name, words_fact);

				p->at--;
				parse_fail(p, hint,
				           arena_fmt(p->arena, "unknown fact \"%s\"", name));
				return;
			}
			out->facts |= bit;
			s += n + (s[n] == ',');
		}
	}
}

static void when_cond(struct parser *p, struct cond_tree *out)
{
	if (parse_accept(p, "argv")) {
		out->kind = COND_ARGV;
		parse_list(p, "a pattern for each argument", &out->words);
	} else if (parse_accept(p, "has")) {
		out->kind = COND_HAS;
		parse_list(p, "an argument", &out->words);
	} else {
		when_facts(p, out);
	}
}

static void by_paths(struct parser *p, struct cond_tree *out)
{
	parse_list(p, "the path of a program", &out->words);
}

static void under_words(struct parser *p, struct cond_tree *out)
{
	parse_list(p, "the path of a program, install:MANAGER or script:PACKAGE", &out->words);
}

static void at_cidrs(struct parser *p, struct cond_tree *out)
{
	parse_list(p, "a range of addresses (10.0.0.0/8)", &out->words);
}

static void sha256_hex(struct parser *p, struct cond_tree *out)
{
	one_word(p, "64 hexadecimal digits", &out->words);
}

static void from_word(struct parser *p, struct cond_tree *out)
{
	one_word(p, "where a package comes from (registry:npm)", &out->words);
}

static void version_word(struct parser *p, struct cond_tree *out)
{
	one_word(p, "a range of versions, in quotes (\">=4 <6\")", &out->words);
}

static void until_word(struct parser *p, struct cond_tree *out)
{
	one_word(p, "a time (2026-12-01 or 2026-12-01T12:30Z)", &out->words);
}

static const struct {
	const char *word;
	enum cond_kind kind;
	void (*parse)(struct parser *p, struct cond_tree *out);
} conds[] = {
	{"by", COND_BY, by_paths},           {"under", COND_UNDER, under_words},
	{"sha256", COND_SHA256, sha256_hex}, {"at", COND_AT, at_cidrs},
	{"from", COND_FROM, from_word},      {"version", COND_VERSION, version_word},
	{"until", COND_UNTIL, until_word},   {"when", COND_FACTS, when_cond},
};

void parse_cond(struct parser *p, struct cond_tree *out)
{
	size_t from = p->at;
	const struct word *w = parse_take(p);

	*out = (struct cond_tree){.at = w->at};
	for (size_t i = 0; i < sizeof conds / sizeof conds[0]; i++) {
		if (strcmp(conds[i].word, w->text) != 0)
			continue;
		out->kind = conds[i].kind;
		conds[i].parse(p, out);
		break;
	}
	out->at = spot_through(w->at, p->words.v[p->at - 1].at);
	out->text = parse_raw(p, from, p->at);
}

/* --- options -------------------------------------------------------------- */

static void option_as(struct parser *p, struct options_tree *o)
{
	const struct word *w = parse_word(p, "an error name (ENOENT)");

	if (!w)
		return;
	o->as_errno = words_errno_find(w->text);
	if (o->as_errno < 0) {
		p->at--;
		parse_fail(p, report_nearest(p->report, w->text, words_errno),
		           "unknown error name");
	}
}

static void option_for(struct parser *p, struct options_tree *o)
{
	const struct word *w = parse_word(p, "a duration (90s, 10m, 1h30m, 7d)");

	if (w && words_duration(w->text, &o->for_s)) {
		p->at--;
		parse_fail(p, "write 90s, 10m, 1h30m or 7d", "this is no duration");
	}
}

static void option_via(struct parser *p, struct options_tree *o)
{
	const struct word *w = parse_word(p, "the name of a channel");

	if (w)
		o->via = parse_plain(p, w);
}

static void option_because(struct parser *p, struct options_tree *o)
{
	const struct word *w = parse_word(p, "a reason, in quotes");

	if (w)
		o->because = parse_plain(p, w);
}

static void option_through(struct parser *p, struct options_tree *o)
{
	o->relay = true;
	if (!parse_accept(p, "relay"))
		parse_fail(p, NULL, "expected \"relay\"");
}

static void option_with(struct parser *p, struct options_tree *o)
{
	o->dependencies = true;
	if (!parse_accept(p, "dependencies"))
		parse_fail(p, NULL, "expected \"dependencies\"");
}

static void option_each(struct parser *p, struct options_tree *o)
{
	(void)p;
	o->each = true;
}

static void option_stack(struct parser *p, struct options_tree *o)
{
	(void)p;
	o->stack = true;
}

static void option_quiet(struct parser *p, struct options_tree *o)
{
	(void)p;
	o->quiet = true;
}

static const struct {
	const char *word;
	size_t at; /* of its spot */
	void (*parse)(struct parser *p, struct options_tree *o);
} options[] = {
	{"as", offsetof(struct options_tree, as_at), option_as},
	{"for", offsetof(struct options_tree, for_at), option_for},
	{"each", offsetof(struct options_tree, each_at), option_each},
	{"via", offsetof(struct options_tree, via_at), option_via},
	{"through", offsetof(struct options_tree, relay_at), option_through},
	{"with", offsetof(struct options_tree, dependencies_at), option_with},
	{"because", offsetof(struct options_tree, because_at), option_because},
	{"stack", offsetof(struct options_tree, stack_at), option_stack},
	{"quiet", offsetof(struct options_tree, quiet_at), option_quiet},
};

bool parse_option(struct parser *p, struct options_tree *out)
{
	const struct word *w = parse_peek(p);

	for (size_t i = 0; w && i < sizeof options / sizeof options[0]; i++) {
		struct spot *at = (struct spot *)(void *)((char *)out + options[i].at);

		if (!parse_is(p, options[i].word))
			continue;
		if (at->source) {
			parse_fail(p, NULL,
			           arena_fmt(p->arena, "\"%s\" is given twice", options[i].word));
			return false;
		}
		p->at++;
		options[i].parse(p, out);
		*at = spot_through(w->at, p->words.v[p->at - 1].at);
		return true;
	}
	return false;
}

/* --- the rule ------------------------------------------------------------- */

/* A word after the objects or conditions that is neither. */
static void stray_word(struct parser *p)
{
	const struct word *w = parse_peek(p);
	const char *hint;

	if (!w || p->broken)
		return;
	hint = report_nearest(p->report, w->text, words_after_object);
	parse_fail(p, hint,
	           arena_fmt(p->arena, "expected a condition or an option, not \"%.*s\"",
	                     (int)(w->raw_len < 80 ? w->raw_len : 80), w->raw));
}

static void rule_tail(struct parser *p, struct rule_tree *rule)
{
	while (!p->broken && parse_peek(p)) {
		if (parse_is_cond(p))
			parse_cond(p, vec_push(p->arena, &rule->conds));
		else if (!parse_option(p, &rule->options))
			break;
	}
	stray_word(p);
}

/* The tail as written, without its reason, which is shown apart. */
static const char *tail_text(struct parser *p, size_t from)
{
	struct words kept = {0};
	struct parser sub = *p;

	for (size_t i = from; i < p->at; i++) {
		const struct word *w = &p->words.v[i];

		if (!w->quoted && strcmp(w->text, "because") == 0)
			i++;
		else
			*vec_push(p->arena, &kept) = *w;
	}
	sub.words = kept;
	return parse_raw(&sub, 0, kept.n);
}

struct rule_tree *parse_rule(struct parser *p, bool is_final)
{
	struct rule_tree *rule = arena_alloc(p->arena, sizeof *rule);
	const struct word *w = parse_word(p, "a verdict (allow, ask, deny, kill)");
	size_t tail;
	int answer;

	if (!w)
		return rule;
	rule->is_final = is_final;
	answer = w->quoted ? -1 : words_answer(w->text);
	if (answer < 0) {
		p->at--;
		parse_fail(p, report_nearest(p->report, w->text, words_verdict),
		           "expected a verdict (allow, ask, deny, kill)");
		return rule;
	}
	rule->answer = (enum policy_answer)answer;
	rule->classes = parse_classes(p, &rule->classes_text, &rule->classes_at);
	if (!rule->classes)
		return rule;
	while ((w = parse_peek(p)) && !is_keyword(w)) {
		*vec_push(p->arena, &rule->objects) = *w;
		p->at++;
	}
	tail = p->at;
	rule_tail(p, rule);
	rule->tail = tail_text(p, tail);
	return rule;
}
