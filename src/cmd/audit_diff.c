/* wary audit diff: what one session did that another did not. */
#include "audit/record.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_args.h"
#include "cmd/audit_words.h"
#include "cmd/table.h"

#include <stdio.h>

/* What was done, or refused, as (class, object); reading only with --all: whoever
 * reads more has changed nothing. */
#define THINGS(session)                                                                      \
	" FROM decisions WHERE session = (SELECT name FROM session WHERE id = " session ")"  \
	" AND (?4 OR class NOT IN ('read', 'stat')) AND CASE WHEN ?3 THEN answer <> 'allow'" \
	" ELSE answer = 'allow' AND (result IS NULL OR result >= 0) END"
static const char sql[] = "SELECT class, coalesce(object, ''), count(*), min(program)" THINGS(
	"?2") " AND (class, coalesce(object, '')) NOT IN (SELECT class, coalesce(object, "
	      "'')" THINGS("?1") ") GROUP BY 1, 2 ORDER BY min(id)";

struct diff {
	struct store *store;
	uint64_t before, after;
	bool json, all;
	uint64_t found;
};

static void print_json(sqlite3_stmt *stmt, bool refused)
{
	static const char *const names[] = {"class", "object"};
	struct rows_text program = read_text(stmt, 3);
	auto_buf b = BUF_INIT;

	buf_fmt(&b, "{\"refused\":%s", refused ? "true" : "false");
	for (int i = 0; i < 2; i++) {
		struct rows_text t = read_text(stmt, i);

		buf_fmt(&b, ",\"%s\":", names[i]);
		audit_json_text(&b, &t);
	}
	buf_fmt(&b, ",\"times\":%lld,\"program\":", (long long)sqlite3_column_int64(stmt, 2));
	audit_json_text(&b, &program);
	buf_chr(&b, '}');
	puts(buf_text(&b) ? buf_text(&b) : "");
}

static void print_row(struct table *t, sqlite3_stmt *stmt)
{
	struct rows_text class = read_text(stmt, 0);
	struct rows_text object = read_text(stmt, 1);
	struct rows_text program = read_text(stmt, 3);
	auto_buf b = BUF_INIT;

	audit_put_text(&b, &class);
	table_cell_buf(t, &b);
	audit_put_path(&b, &object);
	table_cell_buf(t, &b);
	text_thousands(&b, (uint64_t)sqlite3_column_int64(stmt, 2));
	table_cell_buf(t, &b);
	audit_put_path(&b, &program);
	table_cell_buf(t, &b);
}

static int one_part(struct diff *d, bool refused)
{
	const struct table_column columns[] = {{refused ? "REFUSED" : "DID", false, false, 0},
	                                       {"OBJECT", false, false, 0},
	                                       {"TIMES", true, false, 0},
	                                       {"FIRST BY", false, false, 0},
	                                       {NULL, false, false, 0}};
	struct table *t = table_new(columns);
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(store_db(d->store), sql, -1, &stmt, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(stmt, 1, (int64_t)d->before);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(stmt, 2, (int64_t)d->after);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int(stmt, 3, refused);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int(stmt, 4, d->all);
	while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		d->found++;
		if (d->json)
			print_json(stmt, refused);
		else
			print_row(t, stmt);
		rc = SQLITE_OK;
	}
	sqlite3_finalize(stmt);
	table_free(t);
	return rc == SQLITE_DONE ? 0 : store_code(rc);
}

static int run(struct diff *d)
{
	int err = one_part(d, false);

	if (!err)
		err = one_part(d, true);
	if (err) {
		log_error("the record cannot be read: %s", store_why(d->store));
		return AUDIT_USAGE;
	}
	return d->found ? AUDIT_WRONG : AUDIT_FINE;
}

int audit_diff(int argc, char **argv)
{
	struct diff d = {0};
	struct audit_args args;
	int status = audit_args_take("diff", argc, argv, "ja", 2, 2, &args);

	if (status || args.help)
		return status ? status : audit_help("diff");
	d.json = args.json;
	d.all = args.all;
	d.store = audit_open_views(args.db);
	status = d.store ? audit_session_word(d.store, args.words[0], &d.before) : AUDIT_USAGE;
	if (!status)
		status = audit_session_word(d.store, args.words[1], &d.after);
	if (!status)
		status = run(&d);
	store_close(d.store);
	return status;
}
