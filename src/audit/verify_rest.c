/* What is left to check after the walk: the schema, keys, policy texts, what belongs to
 * nothing. */
#include "audit/verify_inside.h"

#include "audit/keys.h"
#include "audit/schema.h"
#include "base/own.h"
#include "base/text.h"

#include <sodium.h>
#include <string.h>

#define SCHEMA_ENTRY "SELECT sql, tbl_name FROM sqlite_master WHERE type = ? AND name = ?"

static void check_schema_object(struct verify *v, sqlite3_stmt *stmt, const struct schema_object *o)
{
	const char *sql;
	const char *table;
	bool is_text;
	bool is_earlier;

	sqlite3_reset(stmt);
	sqlite3_bind_text(stmt, 1, o->type, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 2, o->name, -1, SQLITE_STATIC);
	if (!verify_step(v, stmt, "schema entry")) {
		verify_wrong(v, "the %s %s was removed", o->type, o->name);
		return;
	}
	/* Not something else that is shown as the same text. */
	is_text = sqlite3_column_type(stmt, 0) == SQLITE_TEXT &&
	          sqlite3_column_type(stmt, 1) == SQLITE_TEXT;
	sql = (const char *)sqlite3_column_text(stmt, 0);
	table = (const char *)sqlite3_column_text(stmt, 1);
	is_earlier = sql && schema_is_earlier(store_version(v->store), o, sql);
	if (!is_text || !sql || !table || (strcmp(sql, o->sql) != 0 && !is_earlier) ||
	    strcmp(table, o->table) != 0)
		verify_wrong(v, "the %s %s was changed", o->type, o->name);
	else if (is_earlier)
		verify_note(
			v,
			"the %s %s is as an earlier wary made it, and leaves rows out for other "
			"programs: wary audit sql does not use it",
			o->type, o->name);
}

bool verify_tables_ours(struct verify *v)
{
	sqlite3_stmt *stmt = verify_prepare(v, SCHEMA_ENTRY);
	uint64_t before = v->result->wrong;
	const struct schema_object *o;

	for (size_t i = 0; stmt && (o = schema_at(store_version(v->store), i)); i++)
		if (strcmp(o->type, "table") == 0)
			check_schema_object(v, stmt, o);
	sqlite3_finalize(stmt);
	return stmt && v->result->wrong == before;
}

static bool is_ours(struct verify *v, const char *type, const char *name)
{
	const struct schema_object *o;

	for (size_t i = 0; type && name && (o = schema_at(store_version(v->store), i)); i++)
		if (strcmp(o->type, type) == 0 && strcmp(o->name, name) == 0)
			return true;
	return false;
}

/* Also an index: SQLite reads it in place of its table where it has all that is asked, and
 * what it says need not be what the table says. */
static void check_strangers(struct verify *v)
{
	sqlite3_stmt *stmt = verify_prepare(v, "SELECT type, name FROM sqlite_master");

	while (stmt && !v->err && verify_step(v, stmt, "schema entry")) {
		const char *type = (const char *)sqlite3_column_text(stmt, 0);
		const char *name = (const char *)sqlite3_column_text(stmt, 1);
		auto_free char *shown_type = NULL;
		auto_free char *shown = NULL;

		if (is_ours(v, type, name))
			continue;
		shown_type = text_printable_str(type ? type : "thing", 16);
		shown = text_printable_str(name ? name : "?", 64);
		verify_wrong(v, "there is a %s that wary did not make: %s", shown_type, shown);
	}
	sqlite3_finalize(stmt);
}

static void check_schema(struct verify *v)
{
	sqlite3_stmt *stmt = verify_prepare(v, SCHEMA_ENTRY);
	const struct schema_object *o;

	for (size_t i = 0; stmt && (o = schema_at(store_version(v->store), i)); i++)
		check_schema_object(v, stmt, o);
	sqlite3_finalize(stmt);
	check_strangers(v);
}

static void check_pages(struct verify *v, const char *sql)
{
	sqlite3_stmt *stmt = verify_prepare(v, sql);

	while (stmt && !v->err && verify_step(v, stmt, "index")) {
		const char *says = (const char *)sqlite3_column_text(stmt, 0);
		auto_free char *shown = text_printable_str(says ? says : "?", 200);

		if (strcmp(shown, "ok") != 0)
			verify_wrong(v, "the database is damaged: %s", shown);
	}
	sqlite3_finalize(stmt);
}

/* Readers find sessions and their batches by index: it must say what the table says. And
 * they find a row by its id, through pages that say which ids lie where, while verifying reads
 * one after the other: these must lead to the same. */
static void check_file(struct verify *v)
{
	static const char *const pragmas[] = {
		"PRAGMA main.integrity_check(session)",
		"PRAGMA main.integrity_check(checkpoint)",
		"PRAGMA main.integrity_check(tombstone)",
		"PRAGMA main.integrity_check(source)",
		"PRAGMA main.integrity_check(session_source)",
		"PRAGMA main.integrity_check(signer)",
		"PRAGMA main.integrity_check(closing)",
		"PRAGMA main.quick_check(string)",
		"PRAGMA main.quick_check(actor)",
		"PRAGMA main.quick_check(act)",
		"PRAGMA main.quick_check(detail)",
		"PRAGMA main.quick_check(event)",
	};

	for (size_t i = 0; !v->err && i < sizeof pragmas / sizeof pragmas[0]; i++)
		check_pages(v, pragmas[i]);
}

/* @sql: with the columns id, sha256 and text, and perhaps one number. */
static void check_source_texts(struct verify *v, const char *sql, uint64_t number)
{
	sqlite3_stmt *stmt = verify_prepare(v, sql);

	if (stmt && sqlite3_bind_parameter_count(stmt))
		sqlite3_bind_int64(stmt, 1, (int64_t)number);
	while (stmt && !v->err && verify_step(v, stmt, "source")) {
		struct columns c = columns_of(stmt);
		uint8_t sha256[32];
		uint8_t is[32];
		uint64_t id = columns_id(&c);
		struct rows_text text;

		columns_blob(&c, sha256, sizeof sha256);
		text = columns_text(&c);
		crypto_hash_sha256(is, (const uint8_t *)(text.bytes ? text.bytes : ""),
		                   text.len_bytes);
		if (c.wrong || memcmp(is, sha256, sizeof is) != 0 || id != rows_source_id(sha256))
			verify_wrong(v, "the text of policy source %llu was changed",
			             (unsigned long long)id);
	}
	sqlite3_finalize(stmt);
}

/* Rows that something should refer to, or that should be there. */
static void check_strays(struct verify *v)
{
	static const struct {
		const char *sql;
		const char *before, *after;
	} rows[] = {
		{"SELECT DISTINCT hex(sha256) FROM session_source"
	         " WHERE sha256 NOT IN (SELECT sha256 FROM source)",
	         "the policy text ", " was removed"},
		{"SELECT hex(sha256) FROM source"
	         " WHERE sha256 NOT IN (SELECT sha256 FROM session_source)",
	         "the policy text ", " was inserted: no session has it"},
		{"SELECT id FROM session_source WHERE session NOT IN (SELECT id FROM session)",
	         "session_source ", " belongs to no session"},
		{"SELECT session FROM closing WHERE session NOT IN"
	         " (SELECT session FROM checkpoint WHERE kind & 2)",
	         "the closing record of session ", " was inserted: no checkpoint closes it"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		sqlite3_stmt *stmt = verify_prepare(v, rows[i].sql);

		while (stmt && !v->err && verify_step(v, stmt, "row"))
			verify_wrong(v, "%s%s%s", rows[i].before, sqlite3_column_text(stmt, 0),
			             rows[i].after);
		sqlite3_finalize(stmt);
	}
}

static void check_signer(struct verify *v, const struct verify_signer *s)
{
	const struct verify_signer *by = verify_signer_of(v, s->row.certified_by);
	unsigned long long id = s->row.id;
	auto_buf name = BUF_INIT;
	auto_buf by_name = BUF_INIT;

	keys_name(&name, s->row.public_key);
	keys_name(&by_name, by ? by->row.public_key : s->row.public_key);
	if (!buf_text(&name) || !buf_text(&by_name))
		v->err = -ERR_NOMEM;
	else if (s->wrong && s->row.role == SIGNER_MACHINE && s->row.certified_by)
		verify_wrong(v,
		             "signer %llu: the rotation to key %s is forged or was changed: it is "
		             "not certified by the key before it",
		             id, name.data);
	else if (s->wrong)
		verify_wrong(v, "signer %llu (key %s) was changed: its certificate does not fit",
		             id, name.data);
	else if (by && s->twice)
		verify_wrong(v,
		             "signer %llu: key %s was replaced by key %s, but by another one "
		             "(signer %llu) before: one of the two is forged, or there is a copy "
		             "of the old key",
		             id, by_name.data, name.data, (unsigned long long)by->next);
	else if (by && s->late)
		verify_wrong(v,
		             "signer %llu was certified by key %s after that had been replaced "
		             "(signer %llu): there is a copy of the old key",
		             id, by_name.data, (unsigned long long)by->next);
	else if (!s->trusted && s->row.role == SIGNER_MACHINE)
		verify_wrong(v,
		             "sessions here are signed by key %s, which was not named as trusted",
		             name.data);
	else if (!s->trusted)
		verify_wrong(v, "signer %llu (key %s) signs nothing that is here", id, name.data);
}

static void check_signers(struct verify *v)
{
	for (size_t i = 0; i < v->signers_n; i++) {
		const struct verify_signer *s = &v->signers[i];

		if (s->row.id != i + 1)
			verify_wrong(v, "signer %zu was removed", i + 1);
		check_signer(v, s);
		if (s->row.id != i + 1)
			break;
	}
}

static void check_sessions(struct verify *v)
{
	for (size_t i = 0; i < v->sessions_n; i++) {
		const struct verify_session *s = &v->sessions[i];

		if (!s->opened)
			verify_wrong(v, "session %s was inserted, or its checkpoints were removed",
			             s->name);
	}
}

void verify_rest(struct verify *v)
{
	check_sessions(v);
	check_signers(v);
	check_strays(v);
	check_source_texts(v, "SELECT id, sha256, text FROM source", 0);
	check_schema(v);
	check_file(v);
}

static bool any_row(struct verify *v, const char *sql, uint64_t session)
{
	sqlite3_stmt *stmt = verify_prepare(v, sql);
	bool any;

	if (stmt)
		sqlite3_bind_int64(stmt, 1, (int64_t)session);
	any = stmt && verify_step(v, stmt, "row");
	sqlite3_finalize(stmt);
	return any;
}

static void check_one(struct verify *v, uint64_t id)
{
	const struct verify_session *s = verify_session_of(v, id);

	if (!s) {
		verify_wrong(v, "session %llu is not in the record", (unsigned long long)id);
		return;
	}
	if (!s->opened)
		verify_wrong(v, "session %s was inserted, or its checkpoints were removed",
		             s->name);
	if (!s->closed && any_row(v, "SELECT 1 FROM closing WHERE session = ?", id))
		verify_wrong(v,
		             "the closing record of session %s was inserted: no checkpoint closes "
		             "it",
		             s->name);
	if (any_row(v,
	            "SELECT 1 FROM session_source WHERE session = ?"
	            " AND sha256 NOT IN (SELECT sha256 FROM source)",
	            id))
		verify_wrong(v, "a policy text of session %s was removed", s->name);
	check_source_texts(v,
	                   "SELECT id, sha256, text FROM source WHERE sha256 IN"
	                   " (SELECT sha256 FROM session_source WHERE session = ?)",
	                   id);
}

void verify_rest_only(struct verify *v)
{
	for (size_t i = 0; i < v->options->only_n && !v->err; i++)
		check_one(v, v->options->only[i]);
	check_schema(v);
	check_file(v);
}
