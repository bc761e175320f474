#include "audit/expr.h"

#include "audit/record.h"
#include "audit/schema_events.h"
#include "base/own.h"
#include "base/text.h"
#include "policy/words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum field_type {
	FIELD_TEXT,
	FIELD_WORD_KIND, /* words of which rows have bits */
	FIELD_WORD_CLASS,
	FIELD_WORD_ANSWER,
	FIELD_NUMBER,
	FIELD_RESULT, /* a number, or an errno's name */
	FIELD_SPAN,   /* microseconds: 10ms */
};

/* Every event has an actor and an act, of which far fewer are stored than events:
 * which of them fit is asked once, not anew for each event. Not of what batches
 * have bits for: there few events are looked at. */
#define ACTOR "e.actor IN (SELECT w.id FROM actor w WHERE "
#define ACT "e.act IN (SELECT a.id FROM act a WHERE "

static const struct field {
	const char *name;
	enum field_type type;
	const char *sql;
	const char *once; /* ACTOR, ACT or NULL */
} fields[] = {
	{"session", FIELD_TEXT, "s.name", NULL},
	{"kind", FIELD_WORD_KIND, "a.kind", NULL},
	{"class", FIELD_WORD_CLASS, "a.class", NULL},
	{"verdict", FIELD_WORD_ANSWER, "a.answer", NULL},
	{"judge", FIELD_TEXT, "a.judge", ACT},
	{"syscall", FIELD_TEXT, "a.syscall", ACT},
	{"program", FIELD_TEXT, SCHEMA_TEXT("w.program"), ACTOR},
	{"object", FIELD_TEXT, SCHEMA_TEXT("e.object"), NULL},
	{"object2", FIELD_TEXT, SCHEMA_TEXT("d.object2"), NULL},
	{"name", FIELD_TEXT, "wary_host(" SCHEMA_TEXT("e.object") ")", NULL},
	{"argv", FIELD_TEXT, SCHEMA_TEXT("d.argv"), NULL},
	{"cwd", FIELD_TEXT, SCHEMA_TEXT("d.cwd"), NULL},
	{"rule", FIELD_TEXT, SCHEMA_TEXT("a.rule_text"), ACT},
	{"file", FIELD_TEXT, SCHEMA_TEXT("a.rule_file"), ACT},
	{"line", FIELD_NUMBER, "a.rule_line", ACT},
	{"stack", FIELD_TEXT, SCHEMA_TEXT("d.stack"), NULL},
	{"sha256", FIELD_TEXT, "lower(hex(d.sha256))", NULL},
	{"id", FIELD_NUMBER, "e.id", NULL},
	{"seq", FIELD_NUMBER, "(c.first_seq + e.id - c.first_event)", NULL},
	{"pid", FIELD_NUMBER, "w.pid", ACTOR},
	{"tid", FIELD_NUMBER, "w.tid", ACTOR},
	{"ppid", FIELD_NUMBER, "w.ppid", ACTOR},
	{"uid", FIELD_NUMBER, "w.uid", ACTOR},
	{"flags", FIELD_NUMBER, "a.flags", ACT},
	{"reason", FIELD_NUMBER, "coalesce(d.reason, 0)", NULL},
	{"result", FIELD_RESULT, "e.result", NULL},
	{"took", FIELD_SPAN, "e.took_us", NULL},
	{"size", FIELD_NUMBER, "e.size_before", NULL},
	{"links", FIELD_NUMBER, "e.links_left", NULL},
};
#define FIELDS (sizeof fields / sizeof fields[0])

static const char *const operators[] = {"!=", "<=", ">=", "!~", "=", "<", ">", "~"};

enum token { TOKEN_END, TOKEN_WORD, TOKEN_TEXT, TOKEN_OPERATOR, TOKEN_SIGN, TOKEN_WRONG };

struct parser {
	const char *text;
	size_t at;    /* behind the token at hand */
	size_t start; /* of it */
	enum token token;
	char word[EXPR_TEXT_MAX_BYTES];
	struct expr *out;
	struct buf *error;
	unsigned depth;
	bool narrow; /* what is said here holds for every row that fits */
};

static int complain(struct parser *p, const char *what, const char *about, const char *help)
{
	auto_buf shown = BUF_INIT;

	text_printable(&shown, about, strlen(about), 64);
	buf_fmt(p->error, "column %zu: %s%s%s%s", p->start + 1, what, *about ? ": " : "",
	        buf_text(&shown) ? buf_text(&shown) : "", help);
	return -ERR_FORMAT;
}

static bool is_word_byte(char c)
{
	return c && !isspace((unsigned char)c) && !strchr("()=!<>~,\"'", c);
}

/* Text in quotes; a backslash takes the next byte as it is. */
static enum token quoted(struct parser *p, char quote)
{
	size_t n = 0;

	for (p->at++; p->text[p->at] && p->text[p->at] != quote; p->at++) {
		if (p->text[p->at] == '\\' && p->text[p->at + 1])
			p->at++;
		p->word[n++] = p->text[p->at];
	}
	p->word[n] = '\0';
	if (!p->text[p->at])
		return TOKEN_WRONG;
	p->at++;
	return TOKEN_TEXT;
}

static enum token token_at(struct parser *p)
{
	const char *s = p->text + p->at;
	size_t n = 0;

	if (!*s)
		return TOKEN_END;
	if (*s == '"' || *s == '\'')
		return quoted(p, *s);
	for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
		if (!text_starts(s, operators[i]))
			continue;
		p->at += strlen(operators[i]);
		snprintf(p->word, sizeof p->word, "%s", operators[i]);
		return TOKEN_OPERATOR;
	}
	if (strchr("(),!", *s)) {
		snprintf(p->word, sizeof p->word, "%c", *s);
		p->at++;
		return *s == '!' ? TOKEN_WRONG : TOKEN_SIGN;
	}
	while (is_word_byte(s[n]))
		n++;
	memcpy(p->word, s, n);
	p->word[n] = '\0';
	p->at += n;
	return TOKEN_WORD;
}

static void advance(struct parser *p)
{
	while (isspace((unsigned char)p->text[p->at]))
		p->at++;
	p->start = p->at;
	p->word[0] = '\0';
	p->token = token_at(p);
}

static bool is(const struct parser *p, enum token token, const char *word)
{
	return p->token == token && strcmp(p->word, word) == 0;
}

static void put_quoted(struct buf *sql, const char *text)
{
	buf_chr(sql, '\'');
	for (const char *c = text; *c; c++) {
		if (*c == '\'')
			buf_chr(sql, '\'');
		buf_chr(sql, *c);
	}
	buf_chr(sql, '\'');
}

static const struct field *field_of(const char *name)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (strcmp(fields[i].name, name) == 0)
			return &fields[i];
	return NULL;
}

static int no_field(struct parser *p)
{
	const char *names[FIELDS + 1] = {NULL};
	const char *near;
	char help[80] = "";

	for (size_t i = 0; i < FIELDS; i++)
		names[i] = fields[i].name;
	near = text_nearest(p->word, names);
	if (near)
		snprintf(help, sizeof help, ": did you mean \"%s\"?", near);
	return complain(p, "no field has this name", p->word, help);
}

static int put_number(struct parser *p, struct buf *sql, const char *word)
{
	bool negative = *word == '-';
	unsigned long long n = 0;

	if (text_number(word + negative, INT64_MAX, &n) != 0)
		return complain(p, "a number is wanted", p->word, "");
	buf_fmt(sql, "%s%llu", negative ? "-" : "", n);
	return 0;
}

/* -ENOENT may be written as ENOENT. */
static int put_result(struct parser *p, struct buf *sql)
{
	const char *name = p->word + (*p->word == '-');
	int no = *name == 'E' ? words_errno_find(name) : -1;

	if (no < 0)
		return put_number(p, sql, p->word);
	buf_fmt(sql, "-%d", no);
	return 0;
}

static int put_span(struct parser *p, struct buf *sql)
{
	static const struct {
		const char *unit;
		unsigned long long us;
	} units[] = {{"us", 1},       {"ms", 1000},         {"s", 1000000},
	             {"m", 60000000}, {"h", 3600000000ull}, {"", 1}};
	size_t digits = strspn(p->word, "0123456789");
	char number[20];
	unsigned long long n = 0;

	if (digits && digits < sizeof number) {
		memcpy(number, p->word, digits);
		number[digits] = '\0';
		for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
			if (strcmp(p->word + digits, units[i].unit) != 0 ||
			    text_number(number, INT64_MAX / units[i].us, &n) != 0)
				continue;
			buf_fmt(sql, "%llu", n * units[i].us);
			return 0;
		}
	}
	return complain(p, "a time is wanted", p->word, " (as 10ms, 2s, 500us)");
}

/* A word that the record knows, and its bit. */
static int put_word(struct parser *p, const struct field *f, struct buf *sql, uint32_t *bits)
{
	static const struct {
		int (*find)(const char *word);
		const char *(*name)(unsigned n);
		unsigned count;
	} lists[] = {
		[FIELD_WORD_KIND] = {record_kind_find, record_kind_name, AUDIT_SESSION + 1},
		[FIELD_WORD_CLASS] = {record_class_find, record_class_name, CLASS_COUNT},
		[FIELD_WORD_ANSWER] = {record_answer_find, record_answer_name, ANSWER_KILL + 1},
	};
	auto_buf help = BUF_INIT;
	int n;

	invariant(lists[f->type].find != NULL);
	n = lists[f->type].find(p->word);
	if (n < 0) {
		buf_str(&help, ": it is one of");
		for (unsigned i = 0; i < lists[f->type].count; i++)
			buf_fmt(&help, " %s", lists[f->type].name(i));
		return complain(p, "no such word", p->word, buf_text(&help) ? help.data : "");
	}
	*bits |= 1u << n;
	put_quoted(sql, p->word);
	return 0;
}

/* The value at hand, as SQL. */
static int put_value(struct parser *p, const struct field *f, struct buf *sql, uint32_t *bits)
{
	int err;

	if (p->token != TOKEN_WORD && p->token != TOKEN_TEXT)
		return complain(p, "a value is wanted", p->word, "");
	if (f->type == FIELD_TEXT)
		put_quoted(sql, p->word);
	err = f->type == FIELD_TEXT     ? 0
	      : f->type == FIELD_NUMBER ? put_number(p, sql, p->word)
	      : f->type == FIELD_RESULT ? put_result(p, sql)
	      : f->type == FIELD_SPAN   ? put_span(p, sql)
	                                : put_word(p, f, sql, bits);
	if (!err)
		advance(p);
	return err;
}

/* What must be true of every row narrows the batches that are read. */
static void narrow(struct parser *p, const struct field *f, uint32_t bits)
{
	uint32_t *const masks[] = {
		[FIELD_WORD_KIND] = &p->out->kinds,
		[FIELD_WORD_CLASS] = &p->out->classes,
		[FIELD_WORD_ANSWER] = &p->out->answers,
	};

	if (p->narrow && bits && !*masks[f->type])
		*masks[f->type] = bits;
}

static int in_list(struct parser *p, const struct field *f)
{
	struct buf *sql = &p->out->sql;
	uint32_t bits = 0;
	int err = 0;

	advance(p);
	if (!is(p, TOKEN_SIGN, "("))
		return complain(p, "\"(\" is wanted after \"in\"", p->word, "");
	buf_fmt(sql, "coalesce(%s, '') IN (", f->sql);
	do {
		advance(p);
		err = put_value(p, f, sql, &bits);
		if (!err && is(p, TOKEN_SIGN, ","))
			buf_chr(sql, ',');
	} while (!err && is(p, TOKEN_SIGN, ","));
	if (err)
		return err;
	if (!is(p, TOKEN_SIGN, ")"))
		return complain(p, "\")\" is wanted", p->word, "");
	buf_chr(sql, ')');
	advance(p);
	narrow(p, f, bits);
	return 0;
}

static int pattern(struct parser *p, const struct field *f, bool negated)
{
	struct buf *sql = &p->out->sql;

	if (f->type != FIELD_TEXT)
		return complain(p, "only text has patterns: not", f->name, "");
	advance(p);
	if (p->token != TOKEN_WORD && p->token != TOKEN_TEXT)
		return complain(p, "a pattern is wanted", p->word, "");
	buf_str(sql, negated ? "NOT wary_glob(" : "wary_glob(");
	put_quoted(sql, p->word);
	buf_fmt(sql, ", coalesce(%s, ''))", f->sql);
	advance(p);
	return 0;
}

/* NULL is not on record: it is neither equal, less nor more. */
static int comparison(struct parser *p, const struct field *f)
{
	struct buf *sql = &p->out->sql;
	char op[4];
	uint32_t bits = 0;
	bool never_null;
	int err;

	if (p->token != TOKEN_OPERATOR)
		return complain(p, "a comparison is wanted after", f->name,
		                " (= != < <= > >= ~ !~ in)");
	if (is(p, TOKEN_OPERATOR, "~") || is(p, TOKEN_OPERATOR, "!~"))
		return pattern(p, f, p->word[0] == '!');
	snprintf(op, sizeof op, "%.3s", p->word);
	/* A row's id is never NULL, and bare it is looked up, not searched for. */
	never_null = strcmp(f->sql, "e.id") == 0;
	buf_fmt(sql, "%s(%s %s ", never_null ? "" : "coalesce", f->sql, op);
	advance(p);
	err = put_value(p, f, sql, &bits);
	if (err)
		return err;
	if (never_null)
		buf_chr(sql, ')');
	else
		buf_fmt(sql, ", %d)", strcmp(op, "!=") == 0);
	if (strcmp(op, "=") == 0)
		narrow(p, f, bits);
	return 0;
}

static int any(struct parser *p);

static int inside(struct parser *p, bool negated)
{
	bool kept = p->narrow;
	int err;

	if (++p->depth > EXPR_DEPTH_MAX)
		return complain(p, "too deep", "", "");
	p->narrow = kept && !negated;
	buf_str(&p->out->sql, negated ? "NOT (" : "(");
	advance(p);
	err = any(p);
	if (err)
		return err;
	if (!is(p, TOKEN_SIGN, ")"))
		return complain(p, "\")\" is wanted", p->word, "");
	buf_chr(&p->out->sql, ')');
	advance(p);
	p->narrow = kept;
	p->depth--;
	return 0;
}

/* What is in the SQL from @start on is a condition on the actor. */
static void narrow_actors(struct parser *p, size_t start)
{
	struct buf *actors = &p->out->actors;

	if (p->out->sql.failed)
		return;
	buf_str(actors, actors->len_bytes ? " AND (" : "(");
	buf_add(actors, p->out->sql.data + start, p->out->sql.len_bytes - start);
	buf_chr(actors, ')');
}

static int condition(struct parser *p)
{
	static const struct {
		const char *word, *sql;
	} flags[] = {{"unknown", "e.result IS NULL"}, {"refused", "a.answer <> 'allow'"}};
	const struct field *f;
	size_t start;
	int err;

	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
		if (!is(p, TOKEN_WORD, flags[i].word))
			continue;
		buf_str(&p->out->sql, flags[i].sql);
		advance(p);
		return 0;
	}
	if (p->token != TOKEN_WORD)
		return complain(p, "a field is wanted", p->word, "");
	f = field_of(p->word);
	if (!f)
		return no_field(p);
	advance(p);
	buf_str(&p->out->sql, f->once ? f->once : "");
	start = p->out->sql.len_bytes;
	err = is(p, TOKEN_WORD, "in") ? in_list(p, f) : comparison(p, f);
	if (!err && p->narrow && f->once && strcmp(f->once, ACTOR) == 0)
		narrow_actors(p, start);
	buf_str(&p->out->sql, f->once ? ")" : "");
	return err;
}

static int one(struct parser *p)
{
	bool negated = false;
	bool kept = p->narrow;
	int err;

	while (is(p, TOKEN_WORD, "not")) {
		negated = !negated;
		advance(p);
	}
	if (is(p, TOKEN_SIGN, "("))
		return inside(p, negated);
	p->narrow = kept && !negated;
	buf_str(&p->out->sql, negated ? "NOT (" : "(");
	err = condition(p);
	buf_chr(&p->out->sql, ')');
	p->narrow = kept;
	return err;
}

static int all(struct parser *p)
{
	int err = one(p);

	while (!err && is(p, TOKEN_WORD, "and")) {
		buf_str(&p->out->sql, " AND ");
		advance(p);
		err = one(p);
	}
	return err;
}

/* Whether an "or" follows is seen too late to take back what narrowed. */
static int any(struct parser *p)
{
	uint32_t kinds = p->out->kinds;
	uint32_t classes = p->out->classes;
	uint32_t answers = p->out->answers;
	size_t actors = p->out->actors.len_bytes;
	bool kept = p->narrow;
	int err = all(p);

	while (!err && is(p, TOKEN_WORD, "or")) {
		p->out->kinds = kinds;
		p->out->classes = classes;
		p->out->answers = answers;
		buf_cut(&p->out->actors, actors);
		p->narrow = false;
		buf_str(&p->out->sql, " OR ");
		advance(p);
		err = all(p);
	}
	p->narrow = kept;
	return err;
}

static int times(struct parser *p)
{
	while (is(p, TOKEN_WORD, "since") || is(p, TOKEN_WORD, "until")) {
		char *to = p->word[0] == 's' ? p->out->since : p->out->until;

		advance(p);
		if ((p->token != TOKEN_WORD && p->token != TOKEN_TEXT) ||
		    strlen(p->word) >= EXPR_TIME_BYTES || *to)
			return complain(p, "one time is wanted", p->word, "");
		snprintf(to, EXPR_TIME_BYTES, "%s", p->word);
		advance(p);
	}
	if (p->token != TOKEN_END)
		return complain(p, "this does not belong here", p->word, "");
	return 0;
}

int expr_parse(const char *text, struct expr *out, struct buf *error)
{
	struct parser p = {.text = text, .out = out, .error = error, .narrow = true};
	int err = 0;

	*out = (struct expr){.sql = BUF_INIT, .actors = BUF_INIT};
	if (strlen(text) >= EXPR_TEXT_MAX_BYTES)
		return complain(&p, "the expression is too long", "", "");
	advance(&p);
	if (p.token != TOKEN_END && !is(&p, TOKEN_WORD, "since") && !is(&p, TOKEN_WORD, "until"))
		err = any(&p);
	if (!err)
		err = times(&p);
	return !err && (out->sql.failed || out->actors.failed) ? -ERR_NOMEM : err;
}

void expr_free(struct expr *e)
{
	buf_free(&e->sql);
	buf_free(&e->actors);
}

/* One byte of the pattern (or its **) against all ends of what fitted so far. */
static size_t step(const char *pattern, const char *text, size_t n, bool *fits)
{
	bool run = *pattern == '*';
	bool any_byte = run && pattern[1] == '*';

	if (run) {
		for (size_t i = 0; i < n; i++)
			fits[i + 1] |= fits[i] && (any_byte || text[i] != '/');
		return any_byte ? 2 : 1;
	}
	for (size_t i = n; i-- > 0;)
		fits[i + 1] = fits[i] && (*pattern == '?' ? text[i] != '/' : *pattern == text[i]);
	fits[0] = false;
	return 1;
}

bool expr_glob(const char *pattern, const char *text)
{
	size_t n = strlen(text);
	bool *fits = calloc(n + 1, sizeof *fits);
	bool whole;

	if (!fits)
		return false;
	fits[0] = true;
	while (*pattern)
		pattern += step(pattern, text, n, fits);
	whole = fits[n];
	free(fits);
	return whole;
}

size_t expr_host(const char *object, size_t len_bytes)
{
	size_t n = len_bytes;

	while (n && object[n - 1] >= '0' && object[n - 1] <= '9')
		n--;
	return n > 1 && n < len_bytes && object[n - 1] == ':' ? n - 1 : len_bytes;
}
