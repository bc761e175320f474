#include "audit/expr.h"
#include "policy/facts.h"
#include "policy/verdict.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>

static void sql_of(const char *text, const char *want)
{
	struct buf error = BUF_INIT;
	struct expr e;
	int err = expr_parse(text, &e, &error);

	tap_ok(err == 0, "%s is an expression", text);
	tap_is_str(e.sql.len_bytes ? buf_text(&e.sql) : "", want, "and means so");
	if (err)
		tap_note("%s", buf_text(&error));
	expr_free(&e);
	buf_free(&error);
}

static void wrong(const char *text, const char *want)
{
	struct buf error = BUF_INIT;
	struct expr e;

	tap_is_int(expr_parse(text, &e, &error), -ERR_FORMAT, "it is none");
	tap_is_str(buf_text(&error) ? error.data : "", want, "and says why");
	expr_free(&e);
	buf_free(&error);
}

#define ACTOR(condition) "(e.actor IN (SELECT w.id FROM actor w WHERE " condition "))"
#define ACT(condition) "(e.act IN (SELECT a.id FROM act a WHERE " condition "))"

static void test_sql(void)
{
	sql_of("pid=7", ACTOR("coalesce(w.pid = 7, 0)"));
	sql_of("  pid  !=  -7 ", ACTOR("coalesce(w.pid != -7, 1)"));
	sql_of("class=exec and not (verdict=deny or refused)",
	       "(coalesce(a.class = 'exec', 0)) AND NOT ((coalesce(a.answer = 'deny', 0)) OR "
	       "(a.answer <> 'allow'))");
	sql_of("id=1 or id=2 and seq=3", "((e.id = 1)) OR ((e.id = 2)) AND "
	                                 "(coalesce((c.first_seq + e.id - c.first_event) = 3, 0))");
	sql_of("not pid=1", "NOT " ACTOR("coalesce(w.pid = 1, 0)"));
	sql_of("not not unknown", "(e.result IS NULL)");
	sql_of("syscall in (open, 'a\\'b', \"c\\\"d\")",
	       ACT("coalesce(a.syscall, '') IN ('open','a''b','c\"d')"));
	sql_of("took>=10ms", "(coalesce(e.took_us >= 10000, 0))");
	sql_of("took < 2s", "(coalesce(e.took_us < 2000000, 0))");
	sql_of("result = ENOENT", "(coalesce(e.result = -2, 0))");
	sql_of("result=-EACCES", "(coalesce(e.result = -13, 0))");
	sql_of("judge=\"it's; --\"", ACT("coalesce(a.judge = 'it''s; --', 0)"));
	sql_of("session~\"a'b\"", "(wary_glob('a''b', coalesce(s.name, '')))");
	sql_of("session !~ x*", "(NOT wary_glob('x*', coalesce(s.name, '')))");
	sql_of("since 2d", "");
	sql_of("", "");
}

static void test_wrong(void)
{
	wrong("pid", "column 4: a comparison is wanted after: pid (= != < <= > >= ~ !~ in)");
	wrong("pid=", "column 5: a value is wanted");
	wrong("pid=x", "column 5: a number is wanted: x");
	wrong("pid=99999999999999999999", "column 5: a number is wanted: 99999999999999999999");
	wrong("took=5d", "column 6: a time is wanted: 5d (as 10ms, 2s, 500us)");
	wrong("(pid=1", "column 7: \")\" is wanted");
	wrong("pid=1)", "column 6: this does not belong here: )");
	wrong("pid=1 pid=2", "column 7: this does not belong here: pid");
	wrong("pid~1", "column 4: only text has patterns: not: pid");
	wrong("object='x", "column 8: a value is wanted: x");
	wrong("verdict=no", "column 9: no such word: no: it is one of allow ask deny kill");
	wrong("clas=exec", "column 1: no field has this name: clas: did you mean \"class\"?");
	wrong("pid=1 since", "column 12: one time is wanted");
	wrong("since 1d since 2d", "column 16: one time is wanted: 2d");
	wrong("pid in 1", "column 8: \"(\" is wanted after \"in\": 1");
	wrong("and", "column 1: no field has this name: and: did you mean \"kind\"?");
	wrong("\x1b[31m=1", "column 1: no field has this name: \\x1b[31m");
}

static void test_deep(void)
{
	char text[1000];
	struct buf error = BUF_INIT;
	struct expr e;

	memset(text, '(', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	tap_is_int(expr_parse(text, &e, &error), -ERR_FORMAT, "a thousand brackets");
	expr_free(&e);
	buf_free(&error);
}

/* What narrows must hold for every row that fits. */
static void masks(const char *text, uint32_t kinds, uint32_t classes, uint32_t answers)
{
	struct buf error = BUF_INIT;
	struct expr e;

	tap_is_int(expr_parse(text, &e, &error), 0, "%s", text);
	tap_ok(e.kinds == kinds && e.classes == classes && e.answers == answers,
	       "and the batches that may have such rows: %x %x %x", e.kinds, e.classes, e.answers);
	expr_free(&e);
	buf_free(&error);
}

static void test_masks(void)
{
	masks("class=exec", 0, 1u << CLASS_EXEC, 0);
	masks("class=exec and verdict=deny and kind=decision", 1, 1u << CLASS_EXEC,
	      1u << ANSWER_DENY);
	masks("(class in (read, write)) and pid=1", 0, 1u << CLASS_READ | 1u << CLASS_WRITE, 0);
	masks("class=exec or pid=1", 0, 0, 0);
	masks("pid=1 or class=exec", 0, 0, 0);
	masks("verdict=deny and (class=exec or pid=1)", 0, 0, 1u << ANSWER_DENY);
	masks("not class=exec", 0, 0, 0);
	masks("not (class=exec)", 0, 0, 0);
	masks("class!=exec", 0, 0, 0);
	masks("not not class=exec", 0, 1u << CLASS_EXEC, 0);
}

/* Of the actor of every row that fits. */
static void actors(const char *text, const char *want)
{
	struct buf error = BUF_INIT;
	struct expr e;

	tap_is_int(expr_parse(text, &e, &error), 0, "%s", text);
	tap_is_str(e.actors.len_bytes ? buf_text(&e.actors) : "", want, "and its actors");
	expr_free(&e);
	buf_free(&error);
}

static void test_actors(void)
{
	actors("pid=1", "(coalesce(w.pid = 1, 0))");
	actors("class=exec and pid in (1,2) and uid!=3",
	       "(coalesce(w.pid, '') IN (1,2)) AND (coalesce(w.uid != 3, 1))");
	actors("(pid=1) and (ppid=2 or class=exec)", "(coalesce(w.pid = 1, 0))");
	actors("pid=1 or class=exec", "");
	actors("class=exec or pid=1", "");
	actors("not pid=1", "");
	actors("not (pid=1 and uid=2)", "");
	actors("judge=human", "");
}

static void test_glob(void)
{
	static const struct {
		const char *pattern, *text;
		bool fits;
	} rows[] = {
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"*", "abc", true},
		{"*", "a/c", false},
		{"**", "a/c", true},
		{"/usr/**", "/usr/lib/x", true},
		{"/usr/**", "/usr", false},
		{"**.js", "/a/b.js", true},
		{"*.example.org", "a.example.org", true},
		{"*.example.org", "example.org", false},
		{"a?c", "abc", true},
		{"a?c", "a/c", false},
		{"a?c", "ac", false},
		{"a*b*c", "aXbXbXc", true},
		{"a*b*c", "aXbXbX", false},
		{"/*/x", "/a/x", true},
		{"/*/x", "/a/b/x", false},
		{"/**/x", "/a/b/x", true},
		{"abc", "ab", false},
		{"ab", "abc", false},
	};
	char *many = calloc(1, 4001);
	char stars[201];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		tap_ok(expr_glob(rows[i].pattern, rows[i].text) == rows[i].fits, "%s on %s",
		       rows[i].pattern, rows[i].text);
	memset(many, 'a', 4000);
	for (size_t i = 0; i < 200; i++)
		stars[i] = "*a"[i % 2];
	stars[199] = 'b';
	stars[200] = '\0';
	tap_ok(!expr_glob(stars, many), "many stars on a long text come to an end");
	free(many);
}

static void test_host(void)
{
	tap_is_int((long)expr_host("a.org:443", 9), 5, "a name with a port");
	tap_is_int((long)expr_host("a.org", 5), 5, "without one");
	tap_is_int((long)expr_host("[::1]:80", 8), 5, "an address with a port");
	tap_is_int((long)expr_host(":80", 3), 3, "no name at all");
	tap_is_int((long)expr_host("a:", 2), 2, "no port");
}

int main(void)
{
	test_sql();
	test_wrong();
	test_deep();
	test_masks();
	test_actors();
	test_glob();
	test_host();
	return tap_done();
}
