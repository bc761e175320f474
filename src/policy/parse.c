#include "policy/parse.h"

#include "base/text.h"
#include "policy/glob.h"
#include "policy/settings.h"
#include "policy/words.h"

#include <string.h>

const struct word *parse_peek(const struct parser *p)
{
	return p->at < p->words.n ? &p->words.v[p->at] : NULL;
}

const struct word *parse_take(struct parser *p)
{
	const struct word *w = parse_peek(p);

	if (w)
		p->at++;
	return w;
}

bool parse_is(const struct parser *p, const char *keyword)
{
	const struct word *w = parse_peek(p);

	return w && !w->quoted && strcmp(w->text, keyword) == 0;
}

bool parse_accept(struct parser *p, const char *keyword)
{
	bool yes = parse_is(p, keyword);

	p->at += yes;
	return yes;
}

/* Where the next word is, or would be. */
static struct spot spot_next(const struct parser *p)
{
	const struct word *next = parse_peek(p);
	struct spot at = {0};

	if (next)
		return next->at;
	if (!p->words.n || !p->words.v)
		return at;
	at = p->words.v[p->words.n - 1].at;
	at.column += at.len;
	at.len = 1;
	return at;
}

void parse_fail(struct parser *p, const char *hint, const char *text)
{
	if (!p->broken)
		report_error(p->report, spot_next(p), hint, "%s", text);
	p->broken = true;
}

const struct word *parse_word(struct parser *p, const char *what)
{
	const struct word *w = parse_peek(p);

	if (!w)
		parse_fail(p, NULL, arena_fmt(p->arena, "expected %s", what));
	else
		p->at++;
	return w;
}

const char *parse_plain(struct parser *p, const struct word *w)
{
	return glob_plain(p->arena, slice_of(w->text));
}

const char *parse_raw(struct parser *p, size_t from, size_t to)
{
	size_t len = 0;
	char *out;

	for (size_t i = from; i < to; i++)
		len += p->words.v[i].raw_len + 1;
	out = arena_alloc(p->arena, len + 1);
	len = 0;
	for (size_t i = from; i < to; i++) {
		if (i > from)
			out[len++] = ' ';
		memcpy(out + len, p->words.v[i].raw, p->words.v[i].raw_len);
		len += p->words.v[i].raw_len;
	}
	return out;
}

/* The spot of a part of a word that has no escapes. */
static struct spot part_spot(const struct word *w, const char *part, size_t len)
{
	struct spot at = w->at;

	at.column += (unsigned)(part - w->text);
	at.len = len ? (unsigned)len : 1;
	return at;
}

unsigned parse_classes(struct parser *p, const char **text, struct spot *at)
{
	const struct word *w = parse_word(p, "a class (read, edit, exec, connect…)");
	unsigned bits = 0;

	if (!w)
		return 0;
	*at = w->at;
	*text = w->text;
	for (const char *s = w->text; s;) {
		const char *comma = strchr(s, ',');
		size_t len = comma ? (size_t)(comma - s) : strlen(s);
		const char *name = arena_bytes(p->arena, s, len);
		unsigned one = w->quoted ? 0 : words_classes(name);

		if (!one) {
			report_error(p->report, part_spot(w, s, len),
			             w->quoted ? "a class is not quoted"
			                       : report_nearest(p->report, name, words_class),
			             *name ? "unknown class \"%s\"" : "expected a class%s", name);
			p->broken = true;
			return 0;
		}
		bits |= one;
		s = comma ? comma + 1 : NULL;
	}
	return bits;
}

void parse_end(struct parser *p)
{
	const struct word *w = parse_peek(p);

	if (w && !p->broken) {
		report_error(p->report, w->at, NULL,
		             "unexpected \"%.*s\" at the end of the statement",
		             (int)(w->raw_len < 80 ? w->raw_len : 80), w->raw);
		p->broken = true;
	}
}

static bool is_variable_name(const char *name)
{
	if (!((*name >= 'A' && *name <= 'Z') || *name == '_'))
		return false;
	return name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] == '\0';
}

static void stmt_include(struct parser *p, struct stmt *s)
{
	const struct word *w = parse_word(p, "the name of a policy, in quotes");

	s->kind = STMT_INCLUDE;
	if (w)
		s->word = *w;
}

static void stmt_let(struct parser *p, struct stmt *s)
{
	const struct word *w = parse_word(p, "the name of a variable");

	s->kind = STMT_LET;
	if (!w)
		return;
	s->word = *w;
	if (!is_variable_name(w->text)) {
		p->at--;
		parse_fail(p, NULL, "a variable's name is of capital letters, digits and _");
		return;
	}
	if (words_has(words_variable, w->text)) {
		p->at--;
		parse_fail(p, NULL, "this variable is built in");
		return;
	}
	if (!parse_accept(p, "=")) {
		parse_fail(p, "let NAME = value", "expected \"=\"");
		return;
	}
	w = parse_word(p, "a value");
	if (!w)
		return;
	if (!w->quoted && text_starts(w->text, "env:")) {
		s->let_env = w->text + strlen("env:");
		s->value = *w;
		if (!*s->let_env)
			parse_fail(p, NULL,
			           "expected the name of an environment variable after \"env:\"");
		return;
	}
	p->at--;
	while ((w = parse_take(p)))
		*vec_push(p->arena, &s->words) = *w;
}

static void stmt_default(struct parser *p, struct stmt *s)
{
	const struct word *w = parse_word(p, "a verdict (allow, ask, deny, kill)");
	const char *text;
	struct spot at;

	s->kind = STMT_DEFAULT;
	if (!w)
		return;
	s->answer = words_answer(w->text);
	if (s->answer < 0 && strcmp(w->text, "pass") != 0) {
		p->at--;
		parse_fail(p, report_nearest(p->report, w->text, words_verdict), "unknown verdict");
		return;
	}
	if (parse_peek(p))
		s->classes = parse_classes(p, &text, &at);
}

/* Retention. What is removed on its own has had a day for somebody to look at it. */
static void audit_amount(struct parser *p, struct stmt *s)
{
	bool keep = s->audit == AUDIT_KEEP;
	const struct word *w = parse_word(p, keep ? "a span (90d, 52w)" : "a size (500M, 2G)");
	uint32_t seconds = 0;
	int err;

	if (!w)
		return;
	s->word = *w;
	err = keep ? words_duration(w->text, &seconds) : words_amount(w->text, &s->amount);
	if (keep)
		s->amount = seconds;
	if (!err && s->amount >= (keep ? RETENTION_MIN_S : RETENTION_MIN_BYTES))
		return;
	p->at--;
	parse_fail(p,
	           keep ? "a span is 90d or 52w, a day at least"
	                : "a size is 500M or 2G, a megabyte at least",
	           keep ? "this is no span to keep sessions for" : "this is no size of a record");
}

static void stmt_audit(struct parser *p, struct stmt *s)
{
	static const char *const known[] = {"count", "off",      "full", "sync",
	                                    "keep",  "max-size", NULL};
	const struct word *w = parse_word(p, "count, off, full, sync, keep or max-size");
	const char *text;
	struct spot at;

	s->kind = STMT_AUDIT;
	if (!w)
		return;
	for (int i = AUDIT_COUNT; i <= AUDIT_MAX_SIZE; i++) {
		if (strcmp(w->text, known[i]) != 0)
			continue;
		s->audit = (enum audit_word)i;
		if (i == AUDIT_COUNT || i == AUDIT_OFF)
			s->classes = parse_classes(p, &text, &at);
		if (i == AUDIT_KEEP || i == AUDIT_MAX_SIZE)
			audit_amount(p, s);
		return;
	}
	p->at--;
	parse_fail(p, report_nearest(p->report, w->text, known),
	           "expected count, off, full, sync, keep or max-size");
}

static void stmt_env_set(struct parser *p, struct stmt *s)
{
	const struct word *w = parse_word(p, "the name of an environment variable");

	if (!w)
		return;
	s->word = *w;
	if (!parse_accept(p, "=")) {
		parse_fail(p, "env set NAME = value", "expected \"=\"");
		return;
	}
	w = parse_word(p, "a value");
	if (w)
		s->value = *w;
}

static void stmt_env(struct parser *p, struct stmt *s)
{
	static const char *const known[] = {"pass", "drop", "set", NULL};
	const struct word *w = parse_word(p, "pass, drop or set");

	s->kind = STMT_ENV;
	if (!w)
		return;
	if (strcmp(w->text, "set") == 0) {
		s->env = ENV_SET;
		stmt_env_set(p, s);
		return;
	}
	s->env = strcmp(w->text, "pass") == 0 ? ENV_PASS : ENV_DROP;
	if (!words_has(known, w->text)) {
		p->at--;
		parse_fail(p, report_nearest(p->report, w->text, known),
		           "expected pass, drop or set");
		return;
	}
	w = parse_word(p, "the name of an environment variable, or a pattern");
	for (; w; w = parse_take(p))
		*vec_push(p->arena, &s->words) = *w;
}

static void stmt_tmp(struct parser *p, struct stmt *s)
{
	s->kind = STMT_TMP;
	s->tmp_private = parse_accept(p, "private");
	if (!s->tmp_private && !parse_accept(p, "shared"))
		parse_fail(p, NULL, "expected private or shared");
}

static void stmt_tenant(struct parser *p, struct stmt *s)
{
	const struct word *w = parse_word(p, "the name of a tenant");

	s->kind = STMT_TENANT;
	if (!w)
		return;
	s->word = *w;
	if (!parse_accept(p, "users")) {
		parse_fail(p, "tenant NAME users WHO… use \"POLICY\"", "expected \"users\"");
		return;
	}
	while (parse_peek(p) && !parse_is(p, "use"))
		*vec_push(p->arena, &s->words) = *parse_take(p);
	if (!s->words.n)
		parse_fail(p, NULL, "expected a user, @group or range of numbers");
	else if (!parse_accept(p, "use"))
		parse_fail(p, NULL, "expected \"use\" and the tenant's policy");
	else if ((w = parse_word(p, "the tenant's policy")))
		s->value = *w;
}

static void stmt_rule(struct parser *p, struct stmt *s)
{
	bool is_final = parse_accept(p, "final");

	s->kind = STMT_RULE;
	s->rule = parse_rule(p, is_final);
}

static void stmt_secret(struct parser *p, struct stmt *s)
{
	p->at++;
	s->kind = STMT_SECRET;
	s->secret = parse_secret(p);
}

static void stmt_limit(struct parser *p, struct stmt *s)
{
	p->at++;
	s->kind = STMT_LIMIT;
	s->limit = parse_limit(p);
}

static void stmt_expect(struct parser *p, struct stmt *s)
{
	p->at++;
	s->kind = STMT_EXPECT;
	s->expect = parse_expect(p, true);
}

static const struct {
	const char *word;
	bool skip; /* the first word is taken before */
	void (*parse)(struct parser *p, struct stmt *s);
} statements[] = {
	{"allow", false, stmt_rule},    {"deny", false, stmt_rule},
	{"ask", false, stmt_rule},      {"kill", false, stmt_rule},
	{"final", false, stmt_rule},    {"include", true, stmt_include},
	{"let", true, stmt_let},        {"default", true, stmt_default},
	{"secret", false, stmt_secret}, {"limit", false, stmt_limit},
	{"audit", true, stmt_audit},    {"env", true, stmt_env},
	{"tmp", true, stmt_tmp},        {"tenant", true, stmt_tenant},
	{"expect", false, stmt_expect},
};

static void unknown_statement(struct parser *p, const struct word *w)
{
	const char *text = arena_bytes(p->arena, w->raw, w->raw_len < 80 ? w->raw_len : 80);
	const char *hint = report_nearest(p->report, text, words_statement);

	if (!hint && words_classes(text))
		hint = "a rule begins with its verdict: allow, deny, ask or kill";
	report_error(p->report, w->at, hint, "unknown statement \"%s\"", text);
	p->broken = true;
}

/* Returns whether the statement is whole. */
static bool parse_stmt(struct parser *p, struct stmt *s)
{
	const struct word *first = parse_peek(p);
	size_t i;

	*s = (struct stmt){.at = first->at};
	s->whole = spot_through(first->at, p->words.v[p->words.n - 1].at);
	for (i = 0; i < sizeof statements / sizeof statements[0]; i++)
		if (parse_is(p, statements[i].word))
			break;
	if (i == sizeof statements / sizeof statements[0]) {
		unknown_statement(p, first);
		return false;
	}
	p->at += statements[i].skip;
	statements[i].parse(p, s);
	parse_end(p);
	return !p->broken;
}

/* `wary 1`, the first statement of every file. */
static bool parse_header(struct parser *p)
{
	if (!parse_accept(p, "wary")) {
		parse_fail(p, "the first line of a policy is: wary 1",
		           "expected \"wary 1\", the version of the language");
		return false;
	}
	if (!parse_peek(p)) {
		parse_fail(p, "the first line of a policy is: wary 1",
		           "expected 1, the version of the language");
		return false;
	}
	if (!parse_accept(p, "1")) {
		parse_fail(p, "this wary knows version 1", "unknown version of the language");
		return false;
	}
	parse_end(p);
	return !p->broken;
}

void parse_source(struct arena *line, struct policy_report *r, const struct source *s,
                  void (*each)(void *ctx, const struct stmt *stmt), void *ctx)
{
	struct lexer lx;
	struct lex_line words;
	bool header = s->kind == SOURCE_RULES;

	lex_begin(&lx, line, r, s);
	for (; lex_next(&lx, &words); arena_reset(line)) {
		struct parser p = {.arena = line, .report = r, .source = s, .words = words.words};
		struct stmt stmt;

		if (!words.words.n || words.broken)
			continue;
		if (!header && !parse_header(&p))
			return;
		if (header && parse_stmt(&p, &stmt))
			each(ctx, &stmt);
		header = true;
	}
	if (!header)
		report_error(r, (struct spot){.source = s}, "the first line of a policy is: wary 1",
		             "the policy is empty");
}

struct expect_tree *parse_question(struct arena *a, struct policy_report *r, const struct source *s)
{
	struct lexer lx;
	struct lex_line line;
	struct parser p = {.arena = a, .report = r, .source = s};
	struct expect_tree *e;

	lex_begin(&lx, a, r, s);
	if (!lex_next(&lx, &line) || line.broken || !line.words.n) {
		if (!line.broken)
			report_error(r, (struct spot){.source = s}, NULL,
			             "expected a class and an object: read /etc/passwd");
		return NULL;
	}
	p.words = line.words;
	e = parse_expect(&p, false);
	parse_end(&p);
	return p.broken ? NULL : e;
}
