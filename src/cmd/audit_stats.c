/* wary audit stats: how much of what, by class, program and rule. */
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_args.h"
#include "cmd/audit_words.h"
#include "cmd/table.h"

#include <stdio.h>

#define SUMS "sum(n), sum(r), sum(f), sum(u), sum(t)"
#define STRING(id)                                                                  \
	"(SELECT coalesce((SELECT p.text FROM string p WHERE p.id = t.prefix), '')" \
	" || t.text FROM string t WHERE t.id = " id ")"
#define RULE                                           \
	STRING("a.rule_file")                          \
	" || iif(a.rule_line, ':' || a.rule_line, '')" \
	" || coalesce('  ' || " STRING("a.rule_text") ", '')"
/* Of the third sum, then of the second: as each part is sorted. */
#define PART(number, what, from, first, then, limit)                                       \
	"SELECT * FROM (SELECT " number ", " what ", " SUMS " FROM g " from " GROUP BY 2 " \
	"ORDER BY " first " DESC, " then " DESC, 2" limit ")"

/* The rows once, grouped by what is stored once; then by its text, since every session has
 * its own. */
static const char query[] =
	"WITH g AS MATERIALIZED (SELECT w.program AS program, e.act AS act, count(*) AS n,"
	" sum(a.answer <> 'allow') AS r, sum(e.result < 0 AND a.answer = 'allow') AS f,"
	" sum(e.result IS NULL) AS u, sum(e.took_us) AS t"
	" FROM checkpoint c CROSS JOIN event e"
	" ON e.id BETWEEN c.first_event AND c.first_event + c.events - 1"
	" CROSS JOIN act a ON a.id = e.act CROSS JOIN actor w ON w.id = e.actor"
	" WHERE (?1 = 0 OR c.session = ?1) AND c.kinds & 1 AND a.kind = 'decision'"
	" GROUP BY 1, 2) " PART(
		"0", "a.class", "CROSS JOIN act a ON a.id = g.act", "3", "3",
		"") " UNION ALL " PART("1", STRING("g.program"), "", "3", "3",
                                       " LIMIT 20") " UNION ALL " PART("2", RULE,
                                                                       "CROSS JOIN act a ON a.id = "
                                                                       "g.act",
                                                                       "4", "3", " LIMIT 20");

static const struct part {
	const char *title, *name; /* for people; in JSON */
} parts[] = {{"CLASS", "class"}, {"PROGRAM", "program"}, {"RULE", "rule"}};
#define PARTS (sizeof parts / sizeof parts[0])

static void print_row(struct table *t, sqlite3_stmt *stmt)
{
	struct rows_text what = read_text(stmt, 1);
	auto_buf b = BUF_INIT;

	audit_put_path(&b, &what);
	table_cell_buf(t, &b);
	for (int i = 2; i <= 5; i++) {
		text_thousands(&b, (uint64_t)sqlite3_column_int64(stmt, i));
		table_cell_buf(t, &b);
	}
	audit_put_span(&b, (uint64_t)sqlite3_column_int64(stmt, 6));
	table_cell_buf(t, &b);
}

static void print_json(const struct part *p, sqlite3_stmt *stmt)
{
	static const char *const names[] = {"decisions", "refused", "failed", "unknown", "took_us"};
	struct rows_text what = read_text(stmt, 1);
	auto_buf b = BUF_INIT;

	buf_fmt(&b, "{\"by\":\"%s\",\"what\":", p->name);
	audit_json_text(&b, &what);
	for (int i = 1; i <= 5; i++)
		buf_fmt(&b, ",\"%s\":%lld", names[i - 1],
		        (long long)sqlite3_column_int64(stmt, i + 1));
	buf_chr(&b, '}');
	puts(buf_text(&b) ? buf_text(&b) : "");
}

/* The rows of one part.
 * @rc: of the last step; of the next part's first row, or the end, afterwards. */
static void print_part(sqlite3_stmt *stmt, size_t part, bool json, int *rc)
{
	const struct table_column columns[] = {{parts[part].title, false, false, 70},
	                                       {"DECISIONS", true, false, 0},
	                                       {"REFUSED", true, false, 0},
	                                       {"FAILED", true, false, 0},
	                                       {"UNKNOWN", true, false, 0},
	                                       {"TIME", true, false, 0},
	                                       {NULL, false, false, 0}};
	struct table *t = table_new(columns);

	while (*rc == SQLITE_ROW && (size_t)sqlite3_column_int64(stmt, 0) == part) {
		if (json)
			print_json(&parts[part], stmt);
		else
			print_row(t, stmt);
		*rc = sqlite3_step(stmt);
	}
	table_free(t);
}

static int run(struct store *s, uint64_t session, bool json)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(store_db(s), query, -1, &stmt, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(stmt, 1, (int64_t)session);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	for (size_t i = 0; i < PARTS && (rc == SQLITE_ROW || rc == SQLITE_DONE); i++) {
		if (i && !json)
			putchar('\n');
		print_part(stmt, i, json, &rc);
	}
	sqlite3_finalize(stmt);
	if (rc == SQLITE_DONE)
		return AUDIT_FINE;
	log_error("the record cannot be read: %s", store_why(s));
	return AUDIT_USAGE;
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
