/* wary audit stats: how much of what, by class, program and rule. */
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_args.h"
#include "cmd/audit_words.h"
#include "cmd/table.h"

#include <stdio.h>

#define OF_DECISIONS                                                             \
	" FROM checkpoint c CROSS JOIN event e"                                  \
	" ON e.id BETWEEN c.first_event AND c.first_event + c.events - 1"        \
	" CROSS JOIN act a ON a.id = e.act CROSS JOIN actor w ON w.id = e.actor" \
	" WHERE (?1 = 0 OR c.session = ?1) AND c.kinds & 1 AND a.kind = 'decision'"
#define COUNTS                                                                        \
	" count(*) AS n, sum(a.answer <> 'allow') AS r,"                              \
	" sum(e.result < 0 AND a.answer = 'allow') AS f, sum(e.result IS NULL) AS u," \
	" sum(e.took_us) AS t"
#define SUMS ", sum(n), sum(r), sum(f), sum(u), sum(t)"
#define STRING(id)                                                                  \
	"(SELECT coalesce((SELECT p.text FROM string p WHERE p.id = t.prefix), '')" \
	" || t.text FROM string t WHERE t.id = " id ")"

/* Grouped by what is stored once, then by its text: every session has its own. */
static const struct part {
	const char *title, *name; /* for people; in JSON */
	const char *sql;
} parts[] = {
	{"CLASS", "class",
         "SELECT class" SUMS " FROM (SELECT a.class AS class," COUNTS OF_DECISIONS
         " GROUP BY 1) GROUP BY 1 ORDER BY 2 DESC, 1"},
	{"PROGRAM", "program",
         "SELECT " STRING("g.program") SUMS
         " FROM (SELECT w.program AS program," COUNTS OF_DECISIONS
         " GROUP BY 1) g GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"},
	{"RULE", "rule",
         "SELECT " STRING("g.file") " || iif(line, ':' || line, '') || coalesce('  ' || " STRING(
		 "g.text") ", '')" SUMS " FROM (SELECT a.rule_file AS file, a.rule_line AS line,"
                           " a.rule_text AS text," COUNTS OF_DECISIONS
                           " GROUP BY 1, 2, 3) g GROUP BY 1 ORDER BY 3 DESC, 2 DESC, 1 LIMIT 20"},
};

static void print_row(struct table *t, sqlite3_stmt *stmt)
{
	struct rows_text what = read_text(stmt, 0);
	auto_buf b = BUF_INIT;

	audit_put_path(&b, &what);
	table_cell_buf(t, &b);
	for (int i = 1; i <= 4; i++) {
		text_thousands(&b, (uint64_t)sqlite3_column_int64(stmt, i));
		table_cell_buf(t, &b);
	}
	audit_put_span(&b, (uint64_t)sqlite3_column_int64(stmt, 5));
	table_cell_buf(t, &b);
}

static void print_json(const struct part *p, sqlite3_stmt *stmt)
{
	static const char *const names[] = {"decisions", "refused", "failed", "unknown", "took_us"};
	struct rows_text what = read_text(stmt, 0);
	auto_buf b = BUF_INIT;

	buf_fmt(&b, "{\"by\":\"%s\",\"what\":", p->name);
	audit_json_text(&b, &what);
	for (int i = 1; i <= 5; i++)
		buf_fmt(&b, ",\"%s\":%lld", names[i - 1], (long long)sqlite3_column_int64(stmt, i));
	buf_chr(&b, '}');
	puts(buf_text(&b) ? buf_text(&b) : "");
}

static int print_part(struct store *s, const struct part *p, uint64_t session, bool json)
{
	const struct table_column columns[] = {
		{p->title, false, false, 70}, {"DECISIONS", true, false, 0},
		{"REFUSED", true, false, 0},  {"FAILED", true, false, 0},
		{"UNKNOWN", true, false, 0},  {"TIME", true, false, 0},
		{NULL, false, false, 0}};
	struct table *t = table_new(columns);
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(store_db(s), p->sql, -1, &stmt, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(stmt, 1, (int64_t)session);
	while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		if (json)
			print_json(p, stmt);
		else
			print_row(t, stmt);
		rc = SQLITE_OK;
	}
	sqlite3_finalize(stmt);
	table_free(t);
	return rc == SQLITE_DONE ? 0 : store_code(rc);
}

static int run(struct store *s, uint64_t session, bool json)
{
	int err = 0;

	for (size_t i = 0; !err && i < sizeof parts / sizeof parts[0]; i++) {
		if (i && !json)
			putchar('\n');
		err = print_part(s, &parts[i], session, json);
	}
	if (err)
		log_error("the record cannot be read: %s", store_why(s));
	return err ? AUDIT_USAGE : AUDIT_FINE;
}

int audit_stats(int argc, char **argv)
{
	struct audit_args args;
	uint64_t session = 0;
	struct store *s;
	int status = audit_args_take("stats", argc, argv, "j", 0, 1, &args);

	if (status || args.help)
		return status ? status : audit_help("stats");
	s = audit_open(args.db);
	status = s ? 0 : AUDIT_USAGE;
	if (!status && args.words_n)
		status = audit_session_word(s, args.words[0], &session);
	if (!status)
		status = run(s, session, args.json);
	store_close(s);
	return status;
}
