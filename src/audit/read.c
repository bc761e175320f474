#include "audit/read.h"

#include "audit/expr.h"
#include "audit/reach.h"
#include "audit/record.h"
#include "audit/schema_events.h"
#include "base/buf.h"
#include "base/own.h"
#include "policy/glob.h"

#include <stdlib.h>
#include <string.h>

/* Every answer but allow. */
#define REFUSED_ANSWERS (1u << ANSWER_ASK | 1u << ANSWER_DENY | 1u << ANSWER_KILL)

struct reader {
	struct store *store;
	sqlite3_stmt *stmt;
	char *path;
	struct reach *reach; /* where only some batches can have such rows */
};

static void path_matches(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *pattern = sqlite3_user_data(ctx);
	const char *name = (const char *)sqlite3_value_text(argv[0]);

	(void)argc;
	sqlite3_result_int(ctx, name && *name == '/' && path_match(pattern, name, false));
}

static void batch_reached(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	(void)argc;
	sqlite3_result_int(
		ctx, reach_has(sqlite3_user_data(ctx), (uint64_t)sqlite3_value_int64(argv[0])));
}

/* As audit/expr.h has them. */
static void glob_matches(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *pattern = (const char *)sqlite3_value_text(argv[0]);
	const char *text = (const char *)sqlite3_value_text(argv[1]);

	(void)argc;
	sqlite3_result_int(ctx, pattern && text && expr_glob(pattern, text));
}

static void host_of(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *object = (const char *)sqlite3_value_text(argv[0]);
	size_t n = object ? (size_t)sqlite3_value_bytes(argv[0]) : 0;

	(void)argc;
	if (object)
		sqlite3_result_text64(ctx, object, expr_host(object, n), SQLITE_TRANSIENT,
		                      SQLITE_UTF8);
}

static int add_functions(sqlite3 *db)
{
	int rc = sqlite3_create_function(db, "wary_glob", 2, SQLITE_UTF8, NULL, glob_matches, NULL,
	                                 NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_create_function(db, "wary_host", 1, SQLITE_UTF8, NULL, host_of, NULL,
		                             NULL);
	return rc;
}

/* A word of the store is one of those that a mask has. */
static void words_in(struct buf *sql, const char *column, uint32_t mask,
                     const char *(*name)(unsigned))
{
	if (!mask)
		return;
	buf_fmt(sql, " AND %s IN (''", column);
	for (unsigned i = 0; i < 32; i++)
		if (mask & 1u << i)
			buf_fmt(sql, ", '%s'", name(i));
	buf_str(sql, ")");
}

/* Batches first: their bits and times rule most of them out. */
static void conditions(struct buf *sql, const struct read_filter *f)
{
	uint32_t answers = f->answers | (f->refused ? REFUSED_ANSWERS : 0);

	buf_str(sql, " WHERE 1");
	if (f->session)
		buf_fmt(sql, " AND c.session = %llu", (unsigned long long)f->session);
	if (f->actors)
		buf_str(sql, " AND batch_reached(c.id)");
	if (f->kinds)
		buf_fmt(sql, " AND c.kinds & %u", f->kinds);
	if (f->classes)
		buf_fmt(sql, " AND c.classes & %u", f->classes);
	if (answers)
		buf_fmt(sql, " AND c.answers & %u", answers);
	if (f->since_us)
		buf_fmt(sql,
		        " AND s.opened_us + c.at_us + c.skew_us >= %llu"
		        " AND " SCHEMA_WALL_US " >= %llu",
		        (unsigned long long)f->since_us, (unsigned long long)f->since_us);
	if (f->until_us)
		buf_fmt(sql, " AND " SCHEMA_WALL_US " < %llu", (unsigned long long)f->until_us);
	if (f->batch_kinds)
		buf_fmt(sql, " AND c.kinds & %u", f->batch_kinds);
	if (f->batch_classes)
		buf_fmt(sql, " AND c.classes & %u", f->batch_classes);
	if (f->batch_answers)
		buf_fmt(sql, " AND c.answers & %u", f->batch_answers);
	if (f->where && *f->where)
		buf_fmt(sql, " AND (%s)", f->where);
	if (f->after_id)
		buf_fmt(sql, " AND c.first_event + c.events > %llu AND e.id > %llu",
		        (unsigned long long)f->after_id, (unsigned long long)f->after_id);
	words_in(sql, "a.kind", f->kinds, record_kind_name);
	words_in(sql, "a.class", f->classes, record_class_name);
	words_in(sql, "a.answer", answers, record_answer_name);
	if (f->path)
		buf_str(sql, " AND path_matches(" SCHEMA_TEXT("e.object") ")");
}

static int find_batches(struct reader *r, const struct read_filter *f)
{
	int err = reach_find(r->store, f->actors, &r->reach);

	return err ? err
	           : store_code(sqlite3_create_function(store_db(r->store), "batch_reached", 1,
	                                                SQLITE_UTF8, r->reach, batch_reached, NULL,
	                                                NULL));
}

static int prepare(struct reader *r, const struct read_filter *f)
{
	auto_buf sql = BUF_INIT;
	int rc = SQLITE_OK;
	int err;

	if (f->last)
		buf_str(&sql, "SELECT * FROM (");
	buf_str(&sql, "SELECT " SCHEMA_EVENT_COLUMNS ", a.kind AS kind" SCHEMA_EVENT_FROM);
	conditions(&sql, f);
	if (f->last)
		buf_fmt(&sql, " ORDER BY c.id DESC, e.id DESC LIMIT %llu) ORDER BY id",
		        (unsigned long long)f->last);
	else
		buf_str(&sql, " ORDER BY c.id, e.id");
	if (f->path) {
		r->path = strdup(f->path);
		rc = !r->path ? SQLITE_NOMEM
		              : sqlite3_create_function(store_db(r->store), "path_matches", 1,
		                                        SQLITE_UTF8, r->path, path_matches, NULL,
		                                        NULL);
	}
	if (!buf_text(&sql))
		return -ERR_NOMEM;
	if (rc == SQLITE_OK && f->where)
		rc = add_functions(store_db(r->store));
	err = rc == SQLITE_OK && f->actors ? find_batches(r, f) : 0;
	if (err)
		return err;
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(store_db(r->store), sql.data, -1, &r->stmt, NULL);
	return store_code(rc);
}

int read_open(struct store *s, const struct read_filter *f, struct reader **out)
{
	struct reader *r = calloc(1, sizeof *r);
	int err;

	if (!r)
		return -ERR_NOMEM;
	r->store = s;
	err = prepare(r, f);
	if (err)
		read_close(r);
	else
		*out = r;
	return err;
}

void read_close(struct reader *r)
{
	if (!r)
		return;
	sqlite3_finalize(r->stmt);
	free(r->path);
	reach_free(r->reach);
	free(r);
}

struct rows_text read_text(sqlite3_stmt *stmt, int i)
{
	struct rows_text t = {(const char *)sqlite3_column_text(stmt, i), 0};

	t.len_bytes = t.bytes ? (size_t)sqlite3_column_bytes(stmt, i) : 0;
	return t;
}

static uint64_t id_at(sqlite3_stmt *stmt, int i)
{
	return (uint64_t)sqlite3_column_int64(stmt, i);
}

/* In the order of SCHEMA_EVENT_COLUMNS, and the kind. */
/* clang-format off */
enum column {
	COL_ID, COL_SESSION, COL_SEQ, COL_TIME, COL_TIME_US, COL_TOOK_US, COL_PID, COL_TID,
	COL_PPID, COL_UID, COL_PROGRAM, COL_SYSCALL, COL_CLASS, COL_OBJECT, COL_OBJECT2,
	COL_FLAGS, COL_ANSWER, COL_JUDGE, COL_RULE_FILE, COL_RULE_LINE, COL_RULE_TEXT, COL_RESULT,
	COL_UNKNOWN, COL_CWD, COL_ARGV, COL_STACK, COL_SHA256, COL_REASON, COL_SIZE_BEFORE,
	COL_LINKS_LEFT, COL_KIND
};
/* clang-format on */

int read_next(struct reader *r, struct read_event *out, bool *there)
{
	sqlite3_stmt *s = r->stmt;
	int rc = sqlite3_step(s);

	*there = rc == SQLITE_ROW;
	if (!*there)
		return store_code(rc);
	*out = (struct read_event){
		.id = id_at(s, COL_ID),
		.seq = id_at(s, COL_SEQ),
		.time_us = id_at(s, COL_TIME_US),
		.took_us = id_at(s, COL_TOOK_US),
		.pid = (uint32_t)id_at(s, COL_PID),
		.tid = (uint32_t)id_at(s, COL_TID),
		.ppid = (uint32_t)id_at(s, COL_PPID),
		.uid = (uint32_t)id_at(s, COL_UID),
		.session = read_text(s, COL_SESSION),
		.kind = read_text(s, COL_KIND),
		.program = read_text(s, COL_PROGRAM),
		.syscall = read_text(s, COL_SYSCALL),
		.class = read_text(s, COL_CLASS),
		.object = read_text(s, COL_OBJECT),
		.object2 = read_text(s, COL_OBJECT2),
		.answer = read_text(s, COL_ANSWER),
		.judge = read_text(s, COL_JUDGE),
		.rule_file = read_text(s, COL_RULE_FILE),
		.rule_text = read_text(s, COL_RULE_TEXT),
		.cwd = read_text(s, COL_CWD),
		.argv = read_text(s, COL_ARGV),
		.stack = read_text(s, COL_STACK),
		.sha256 = read_text(s, COL_SHA256),
		.flags = id_at(s, COL_FLAGS),
		.rule_line = id_at(s, COL_RULE_LINE),
		.known = !sqlite3_column_int(s, COL_UNKNOWN),
		.result = sqlite3_column_int64(s, COL_RESULT),
		.reason = sqlite3_column_int64(s, COL_REASON),
		.has_size = sqlite3_column_type(s, COL_SIZE_BEFORE) != SQLITE_NULL,
		.size_before = id_at(s, COL_SIZE_BEFORE),
		.links_left = id_at(s, COL_LINKS_LEFT),
	};
	return 0;
}

#define SESSION_COLUMNS                                                                         \
	"s.id, s.opened_us, coalesce(k.at_us,"                                                  \
	" (SELECT max(at_us) FROM checkpoint WHERE session = s.id), 0), s.name, s.argv, s.cwd," \
	" s.user, s.host, s.uid, k.session IS NOT NULL, coalesce(k.status, 0), k.reason,"       \
	" coalesce(k.decisions, 0), coalesce(k.refused, 0), coalesce(k.asked, 0),"              \
	" coalesce(k.grants, 0), coalesce(k.dropped, 0),"                                       \
	" (SELECT count(*) FROM checkpoint WHERE session = s.id), s.uuid"

static void session_row(sqlite3_stmt *s, struct read_session *out)
{
	*out = (struct read_session){
		.id = id_at(s, 0),
		.opened_us = id_at(s, 1),
		.took_us = id_at(s, 2),
		.name = read_text(s, 3),
		.argv = read_text(s, 4),
		.cwd = read_text(s, 5),
		.user = read_text(s, 6),
		.host = read_text(s, 7),
		.uid = (uint32_t)id_at(s, 8),
		.closed = sqlite3_column_int(s, 9) != 0,
		.status = sqlite3_column_int64(s, 10),
		.reason = read_text(s, 11),
		.decisions = id_at(s, 12),
		.refused = id_at(s, 13),
		.asked = id_at(s, 14),
		.grants = id_at(s, 15),
		.dropped = id_at(s, 16),
		.checkpoints = id_at(s, 17),
	};
	if (sqlite3_column_bytes(s, 18) == ROWS_UUID_BYTES)
		memcpy(out->uuid, sqlite3_column_blob(s, 18), ROWS_UUID_BYTES);
}

static int count_open(struct store *s, struct read_session *one)
{
	struct rows_closing counts = {0};
	int err = store_session_counts(s, one->id, &counts);

	one->decisions = counts.decisions;
	one->refused = counts.refused;
	one->asked = counts.asked;
	one->grants = counts.grants;
	return err;
}

int read_sessions(struct store *s, int (*each)(void *ctx, const struct read_session *one),
                  void *ctx)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(store_db(s),
	                            "SELECT " SESSION_COLUMNS " FROM session s LEFT JOIN closing k"
	                            " ON k.session = s.id ORDER BY s.id DESC",
	                            -1, &stmt, NULL);
	int err = store_code(rc);

	while (!err && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct read_session one;

		session_row(stmt, &one);
		if (!one.closed)
			err = count_open(s, &one);
		if (!err)
			err = each(ctx, &one);
	}
	if (!err)
		err = store_code(rc);
	sqlite3_finalize(stmt);
	return err;
}

int read_session_find(struct store *s, const char *word, uint64_t *id)
{
	sqlite3_stmt *stmt = NULL;
	uint64_t found = 0;
	unsigned n = 0;
	int rc = sqlite3_prepare_v2(store_db(s),
	                            "SELECT id, name = ?1 FROM session"
	                            " WHERE substr(lower(hex(uuid)), 1, length(?1)) = lower(?1)"
	                            " ORDER BY name = ?1 DESC, id DESC LIMIT 2",
	                            -1, &stmt, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(stmt, 1, word, -1, SQLITE_STATIC);
	while (rc == SQLITE_OK && *word && sqlite3_step(stmt) == SQLITE_ROW) {
		n++;
		if (n == 1)
			found = id_at(stmt, 0);
		if (sqlite3_column_int(stmt, 1))
			break;
	}
	sqlite3_finalize(stmt);
	if (rc != SQLITE_OK)
		return store_code(rc);
	if (n != 1)
		return n ? -ERR_EXISTS : -ERR_NOTFOUND;
	*id = found;
	return 0;
}
