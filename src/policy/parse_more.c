/* The statements that are no rules: secret, limit, expect. */
#include "base/text.h"
#include "policy/glob.h"
#include "policy/parse.h"
#include "policy/words.h"

#include <string.h>

static bool is_secret_name(const char *name)
{
	return *name &&
	       name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
	                         "abcdefghijklmnopqrstuvwxyz")] == '\0' &&
	       !(*name >= '0' && *name <= '9');
}

static void secret_from(struct parser *p, struct secret_tree *s)
{
	static const char *const kinds[] = {"vault", "env", "file", "command"};
	const struct word *w = parse_word(p, "vault:NAME, env:NAME, file:PATH or command:\"…\"");

	if (!w)
		return;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		size_t len = strlen(kinds[i]);

		if (!text_starts(w->text, kinds[i]) || w->text[len] != ':')
			continue;
		s->from_kind = kinds[i];
		s->from = *w;
		s->from.text = w->text + len + 1;
		if (*s->from.text)
			return;
	}
	p->at--;
	parse_fail(p, NULL, "expected vault:NAME, env:NAME, file:PATH or command:\"…\"");
}

static void secret_as(struct parser *p, struct secret_tree *s)
{
	static const char *const kinds[] = {"env", "file", "fd", NULL};
	const struct word *w;

	if (!parse_accept(p, "as")) {
		parse_fail(p, "secret NAME from WHERE to PROGRAM… as env",
		           "expected \"as\": how the program gets the secret");
		return;
	}
	w = parse_word(p, "env, file PATH or fd NUMBER");
	if (!w)
		return;
	s->as_kind = w->text;
	if (w->quoted || !words_has(kinds, w->text)) {
		p->at--;
		parse_fail(p, report_nearest(p->report, w->text, kinds),
		           "expected env, file PATH or fd NUMBER");
		return;
	}
	if (strcmp(w->text, "env") == 0)
		return;
	w = parse_word(p, strcmp(w->text, "fd") == 0 ? "the number of a descriptor" : "a path");
	if (w)
		s->as = *w;
}

static void secret_tail(struct parser *p, struct secret_tree *s)
{
	while (!p->broken && parse_peek(p)) {
		if (parse_accept(p, "ask"))
			s->ask = true;
		else if (!parse_option(p, &s->options))
			break;
	}
}

struct secret_tree *parse_secret(struct parser *p)
{
	struct secret_tree *s = arena_alloc(p->arena, sizeof *s);
	const struct word *w = parse_word(p, "the name of a secret");

	if (!w)
		return s;
	s->name = *w;
	if (!is_secret_name(w->text)) {
		p->at--;
		parse_fail(p, NULL, "a secret's name is of letters, digits and _");
		return s;
	}
	if (!parse_accept(p, "from")) {
		parse_fail(p, "secret NAME from WHERE to PROGRAM… as env", "expected \"from\"");
		return s;
	}
	secret_from(p, s);
	if (!p->broken && !parse_accept(p, "to"))
		parse_fail(p, "secret NAME from WHERE to PROGRAM… as env", "expected \"to\"");
	if (p->broken)
		return s;
	parse_list(p, "the path of a program", &s->to);
	while (!p->broken && parse_is_cond(p))
		parse_cond(p, vec_push(p->arena, &s->conds));
	if (p->broken)
		return s;
	secret_as(p, s);
	secret_tail(p, s);
	s->text = parse_raw(p, 0, p->at);
	return s;
}

/* --- limit ---------------------------------------------------------------- */

static int limit_amount(const char *name, const char *text, uint64_t *out)
{
	static const char *const times[] = {"wall", "cpu", "idle", NULL};
	char bytes[64];
	size_t len = strlen(text);
	uint32_t seconds;
	int err;

	if (words_has(times, name)) {
		err = words_duration(text, &seconds);
		*out = seconds;
		return err;
	}
	if (strcmp(name, "bandwidth") != 0)
		return words_amount(text, out);
	if (len < 3 || len >= sizeof bytes || strcmp(text + len - 2, "/s") != 0)
		return -ERR_FORMAT;
	memcpy(bytes, text, len - 2);
	bytes[len - 2] = '\0';
	return words_amount(bytes, out);
}

static void limit_one(struct parser *p, struct limit_tree *l)
{
	const struct word *name = parse_word(p, "a limit (wall, memory, processes…)");
	const struct word *amount;
	uint64_t n = 0;

	if (!name)
		return;
	if (name->quoted || !words_has(words_limit, name->text)) {
		p->at--;
		parse_fail(p, report_nearest(p->report, name->text, words_limit),
		           arena_fmt(p->arena, "unknown limit \"%.80s\"", name->text));
		return;
	}
	amount = parse_word(p, "an amount (30m, 2G, 200, 1M/s)");
	if (!amount)
		return;
	if (limit_amount(name->text, amount->text, &n) || !n) {
		p->at--;
		parse_fail(
			p, "times are 90s or 30m, sizes 512K or 2G, bandwidth 1M/s",
			arena_fmt(p->arena, "this is no amount for the limit \"%s\"", name->text));
		return;
	}
	*vec_push(p->arena, &l->names) = *name;
	*vec_push(p->arena, &l->amounts) = n;
}

struct limit_tree *parse_limit(struct parser *p)
{
	static const char *const thens[] = {"stop", "deny", "ask", "pause", NULL};
	struct limit_tree *l = arena_alloc(p->arena, sizeof *l);
	const struct word *w;

	do {
		limit_one(p, l);
	} while (!p->broken && parse_peek(p) && !parse_is(p, "in") && !parse_is(p, "then"));
	if (!p->broken && parse_accept(p, "in")) {
		w = parse_word(p, "a path");
		l->has_in = w != NULL;
		if (w)
			l->in = *w;
	}
	if (p->broken || !parse_accept(p, "then"))
		return l;
	w = parse_word(p, "stop, deny, ask or pause");
	if (!w)
		return l;
	l->then = w->text;
	if (!words_has(thens, w->text)) {
		p->at--;
		parse_fail(p, report_nearest(p->report, w->text, thens),
		           "expected stop, deny, ask or pause");
	}
	return l;
}

/* --- expect and questions ------------------------------------------------- */

static void expect_by(struct parser *p, struct expect_tree *e)
{
	const struct word *w = parse_word(p, "the path of a program");

	e->has_by = w != NULL;
	if (w)
		e->by = *w;
}

static void expect_under(struct parser *p, struct expect_tree *e)
{
	const struct word *w =
		parse_word(p, "the path of a program, install:MANAGER or script:PACKAGE");

	if (w)
		*vec_push(p->arena, &e->under) = *w;
}

static void expect_named(struct parser *p, struct expect_tree *e)
{
	const struct word *w = parse_word(p, "the name of a host");

	e->has_named = w != NULL;
	if (w)
		e->named = *w;
}

static void expect_version(struct parser *p, struct expect_tree *e)
{
	const struct word *w = parse_word(p, "a version");

	e->has_version = w != NULL;
	if (w)
		e->version = *w;
}

static void expect_from(struct parser *p, struct expect_tree *e)
{
	const struct word *w = parse_word(p, "where a package comes from (registry:npm)");

	e->has_from = w != NULL;
	if (w)
		e->from = *w;
}

static void expect_if(struct parser *p, struct expect_tree *e)
{
	const struct word *w = parse_word(p, "a fact (unpinned, new, git…)");

	for (const char *s = w ? w->text : ""; *s;) {
		size_t n = strcspn(s, ",");
		const char *name = arena_bytes(p->arena, s, n);
		unsigned bit = words_fact_find(name);

		if (!bit) {
			p->at--;
			parse_fail(p, report_nearest(p->report, name, words_fact),
			           arena_fmt(p->arena, "unknown fact \"%s\"", name));
			return;
		}
		e->facts |= bit;
		s += n + (s[n] == ',');
	}
}

static void expect_argv(struct parser *p, struct expect_tree *e)
{
	const struct word *w = parse_word(p, "the arguments behind the program");

	e->has_argv = w != NULL;
	for (; w; w = parse_take(p))
		*vec_push(p->arena, &e->argv) = *w;
}

static const char *const expect_words[] = {
	"by", "under", "named", "if", "version", "from", "argv", NULL,
};

static const struct {
	const char *word;
	void (*parse)(struct parser *p, struct expect_tree *e);
} expects[] = {
	{"by", expect_by},     {"under", expect_under},     {"named", expect_named},
	{"if", expect_if},     {"version", expect_version}, {"from", expect_from},
	{"argv", expect_argv},
};

static bool expect_part(struct parser *p, struct expect_tree *e)
{
	for (size_t i = 0; i < sizeof expects / sizeof expects[0]; i++) {
		if (!parse_accept(p, expects[i].word))
			continue;
		expects[i].parse(p, e);
		return true;
	}
	parse_fail(p, report_nearest(p->report, parse_peek(p)->text, expect_words),
	           "expected by, under, named, if, version, from or argv");
	return false;
}

struct expect_tree *parse_expect(struct parser *p, bool verdict)
{
	struct expect_tree *e = arena_alloc(p->arena, sizeof *e);
	const struct word *w;
	const char *text;
	struct spot at;
	int answer = ANSWER_ALLOW;

	if (verdict) {
		w = parse_word(p, "a verdict (allow, ask, deny, kill)");
		if (!w)
			return e;
		answer = words_answer(w->text);
		if (answer < 0) {
			p->at--;
			parse_fail(p, report_nearest(p->report, w->text, words_verdict),
			           "expected a verdict (allow, ask, deny, kill)");
			return e;
		}
	}
	e->want = (enum policy_answer)answer;
	e->class_bits = parse_classes(p, &text, &at);
	w = e->class_bits ? parse_word(p, "an object") : NULL;
	if (!w)
		return e;
	e->object = *w;
	while (!p->broken && parse_peek(p) && expect_part(p, e))
		continue;
	e->text = parse_raw(p, 0, p->at);
	return e;
}
