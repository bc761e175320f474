#include "audit/upgrade.h"

#include "audit/folder.h"
#include "audit/schema.h"
#include "audit/store_sql.h"
#include "audit/turn.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "base/uses.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

USES(flock, open_any);

/* Held by its session as long as that lives.  One that cannot be looked at counts. */
static bool is_live(int folder_fd, const char *name)
{
	auto_fd fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	return fd < 0 ? errno != ENOENT : flock(fd, LOCK_SH | LOCK_NB) != 0;
}

static const struct schema_object *find(const char *type, const char *name)
{
	const struct schema_object *o;

	for (size_t i = 0; type && name && (o = schema_at(SCHEMA_VERSION_FIRST, i)); i++)
		if (strcmp(o->type, type) == 0 && strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

static bool is_as_made(sqlite3_stmt *stmt)
{
	const struct schema_object *o = find((const char *)sqlite3_column_text(stmt, 0),
	                                     (const char *)sqlite3_column_text(stmt, 1));
	const char *table = (const char *)sqlite3_column_text(stmt, 2);
	const char *sql = (const char *)sqlite3_column_text(stmt, 3);

	return o && table && sql && strcmp(table, o->table) == 0 &&
	       (strcmp(sql, o->sql) == 0 || schema_is_earlier(SCHEMA_VERSION_FIRST, o, sql));
}

/* Whether all that is there is as version 1 had it, and all of that is there. */
static int compare(struct store *s, bool *same)
{
	sqlite3_stmt *stmt = NULL;
	size_t n = 0;
	int rc = sqlite3_prepare_v2(s->db, "SELECT type, name, tbl_name, sql FROM sqlite_master",
	                            -1, &stmt, NULL);

	*same = rc == SQLITE_OK;
	while (*same && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		*same = is_as_made(stmt);
		n++;
	}
	sqlite3_finalize(stmt);
	*same = *same && !schema_at(SCHEMA_VERSION_FIRST, n) &&
	        (!n || schema_at(SCHEMA_VERSION_FIRST, n - 1));
	return rc == SQLITE_ROW ? 0 : store_code(rc);
}

static int run(struct store *s, const char *sql)
{
	return store_code(sqlite3_exec(s->db, sql, NULL, NULL, NULL));
}

static int view_anew(struct store *s, const struct schema_object *o)
{
	char drop[64];
	int err;

	snprintf(drop, sizeof drop, "DROP VIEW %s", o->name);
	err = run(s, drop);
	return err ? err : run(s, o->sql);
}

static int change(struct store *s)
{
	static const char *const columns[] = {
		"ALTER TABLE event ADD COLUMN " SCHEMA_SIZE_BEFORE,
		"ALTER TABLE event ADD COLUMN " SCHEMA_LINKS_LEFT,
	};
	char version[48];
	const struct schema_object *o;
	int err = 0;

	for (size_t i = 0; !err && i < sizeof columns / sizeof columns[0]; i++)
		err = run(s, columns[i]);
	for (size_t i = 0; !err && (o = schema_at(SCHEMA_VERSION, i)); i++)
		if (strcmp(o->type, "view") == 0)
			err = view_anew(s, o);
	snprintf(version, sizeof version, "PRAGMA user_version = %d", SCHEMA_VERSION);
	return err ? err : run(s, version);
}

static void stays(const struct store *s, const char *why)
{
	auto_free char *shown = text_printable_str(s->path, 0);

	log_notice("the record %s stays one of version 1, and gets no sizes of what is taken away: "
	           "%s",
	           shown, why);
}

/* In the turn and in a transaction: nobody else writes. */
static int judge(struct store *s)
{
	int64_t version = 0;
	bool same = false;
	int err = store_number(s, "PRAGMA user_version", &version);

	if (err || version != SCHEMA_VERSION_FIRST) {
		s->version = err ? s->version : version; /* another has done it meanwhile */
		return err;
	}
	if (folder_any_journal(s->path, is_live)) {
		stays(s,
		      "another session runs in it (the next that is alone with it changes that)");
		return 0;
	}
	err = compare(s, &same);
	if (!err && !same)
		stays(s, "it is not as wary made it: see wary audit verify");
	if (!err && same)
		err = change(s);
	if (!err && same)
		s->version = SCHEMA_VERSION;
	return err;
}

int upgrade_first(struct store *s)
{
	int err = store_turn(s, STORE_BUSY_MS);

	if (err)
		return err;
	err = run(s, "BEGIN IMMEDIATE");
	if (!err)
		err = judge(s);
	if (!err)
		return store_commit(s);
	s->version = SCHEMA_VERSION_FIRST;
	store_rollback(s);
	return err;
}
