/* wary audit sql: a query in SQL, which can read and nothing else */
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_words.h"

#include <getopt.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROWS_DEFAULT 1000
/* SQLite calls back every so many of its own instructions. */
#define STEPS_PER_LOOK 2000000

struct query {
	sqlite3 *db;
	const char *sql;
	unsigned long long rows_max;
	bool json;
	unsigned looks;
};

/* Only reading: no ATTACH, no PRAGMA that sets, no function that loads. */
static int authorize(void *ctx, int action, const char *a, const char *b, const char *c,
                     const char *d)
{
	(void)ctx;
	(void)a;
	(void)c;
	(void)d;
	if (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE)
		return SQLITE_OK;
	if (action == SQLITE_FUNCTION)
		return b && strcasecmp(b, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
	return SQLITE_DENY;
}

static int look(void *ctx)
{
	struct query *q = ctx;

	if (++q->looks > 4 && isatty(STDERR_FILENO))
		fprintf(stderr, "\rwary: still reading%.*s", (int)(q->looks / 4 % 10),
		        "..........");
	return 0;
}

static void put_cell(struct buf *out, sqlite3_stmt *st, int i)
{
	if (sqlite3_column_type(st, i) == SQLITE_BLOB && i >= 0) {
		const void *bytes = sqlite3_column_blob(st, i);
		int len = sqlite3_column_bytes(st, i);

		text_printable(out, bytes ? bytes : "", bytes ? (size_t)len : 0, 0);
		return;
	}
	if (sqlite3_column_type(st, i) != SQLITE_NULL) {
		const char *text = (const char *)sqlite3_column_text(st, i);

		text_printable(out, text ? text : "", text ? strlen(text) : 0, 0);
	}
}

static json_t *json_cell(sqlite3_stmt *st, int i)
{
	auto_buf text = BUF_INIT;

	switch (sqlite3_column_type(st, i)) {
	case SQLITE_NULL:
		return json_null();
	case SQLITE_INTEGER:
		return json_integer(sqlite3_column_int64(st, i));
	case SQLITE_FLOAT:
		return json_real(sqlite3_column_double(st, i));
	default:
		put_cell(&text, st, i);
		return json_string(buf_text(&text) ? buf_text(&text) : "");
	}
}

static void print_json(sqlite3_stmt *st, int columns)
{
	json_t *row = json_object();

	for (int i = 0; i < columns; i++)
		json_object_set_new(row, sqlite3_column_name(st, i), json_cell(st, i));
	json_dumpf(row, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(row);
}

static void print_text(sqlite3_stmt *st, int columns, bool heads)
{
	auto_buf line = BUF_INIT;

	for (int i = 0; i < columns; i++) {
		const char *name = sqlite3_column_name(st, i);

		if (i)
			buf_chr(&line, '\t');
		if (heads)
			text_printable(&line, name, strlen(name), 0);
		else
			put_cell(&line, st, i);
	}
	puts(buf_text(&line) ? line.data : "out of memory");
}

static int run(struct query *q)
{
	sqlite3_stmt *st = NULL;
	unsigned long long rows = 0;
	const char *rest = NULL;
	int columns;
	int rc;

	sqlite3_set_authorizer(q->db, authorize, NULL);
	rc = sqlite3_prepare_v2(q->db, q->sql, -1, &st, &rest);
	if (rc != SQLITE_OK || !st) {
		log_error("sql: %s",
		          rc == SQLITE_AUTH ? "only reading is allowed" : sqlite3_errmsg(q->db));
		return AUDIT_USAGE;
	}
	if (rest && rest[strspn(rest, " \t\n;")]) {
		log_error("sql: one statement at a time");
		sqlite3_finalize(st);
		return AUDIT_USAGE;
	}
	sqlite3_progress_handler(q->db, STEPS_PER_LOOK, look, q);
	columns = sqlite3_column_count(st);
	if (!q->json)
		print_text(st, columns, true);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW && rows < q->rows_max) {
		if (q->json)
			print_json(st, columns);
		else
			print_text(st, columns, false);
		rows++;
	}
	if (q->looks > 4 && isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	if (rc == SQLITE_ROW)
		log_notice("only the first %llu rows: --limit N shows more", q->rows_max);
	else if (rc != SQLITE_DONE)
		log_error("sql: %s", sqlite3_errmsg(q->db));
	sqlite3_finalize(st);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? AUDIT_FINE : AUDIT_USAGE;
}

int audit_sql(int argc, char **argv)
{
	static const struct option options[] = {{"db", required_argument, NULL, 'd'},
	                                        {"limit", required_argument, NULL, 'n'},
	                                        {"json", no_argument, NULL, 'j'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {0}};
	struct query q = {.rows_max = ROWS_DEFAULT};
	const char *db = NULL;
	auto_buf path = BUF_INIT;
	struct store *s;
	int status;
	int c;

	while ((c = getopt_long(argc, argv, "n:h", options, NULL)) >= 0) {
		if (c == 'h')
			return audit_help("sql");
		if (c == 'd')
			db = optarg;
		else if (c == 'j')
			q.json = true;
		else if (c != 'n' || text_number(optarg, 1u << 30, &q.rows_max) != 0)
			return audit_usage("sql");
	}
	if (optind + 1 != argc)
		return audit_usage("sql");
	if (audit_store_path(db, &path) != 0)
		return AUDIT_USAGE;
	/* What the rows say, not what somebody may have made of a view in the file. */
	s = audit_open_views(buf_text(&path));
	if (!s)
		return AUDIT_USAGE;
	q.db = store_db(s);
	q.sql = argv[optind];
	status = run(&q);
	store_close(s);
	return status;
}
