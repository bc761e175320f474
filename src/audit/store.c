#include "audit/store.h"

#include "audit/folder.h"
#include "audit/head.h"
#include "audit/schema.h"
#include "audit/store_sql.h"
#include "audit/turn.h"
#include "audit/upgrade.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "base/uses.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

USES(access, open_any);

int store_code(int rc)
{
	static const struct {
		int rc, err;
	} rows[] = {
		{SQLITE_OK, 0},
		{SQLITE_DONE, 0},
		{SQLITE_ROW, 0},
		{SQLITE_NOMEM, -ERR_NOMEM},
		{SQLITE_PERM, -ERR_PERM},
		{SQLITE_AUTH, -ERR_PERM},
		{SQLITE_READONLY, -ERR_PERM},
		{SQLITE_CANTOPEN, -ERR_PERM},
		{SQLITE_FULL, -ERR_FULL},
		{SQLITE_CORRUPT, -ERR_DAMAGED},
		{SQLITE_NOTADB, -ERR_DAMAGED},
		{SQLITE_CONSTRAINT, -ERR_DAMAGED},
		{SQLITE_BUSY, -ERR_BUSY},
		{SQLITE_LOCKED, -ERR_BUSY},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].rc == (rc & 0xff))
			return rows[i].err;
	return -ERR_SYS;
}

static const char *hint_of(int err)
{
	static const struct {
		int err;
		const char *text;
	} rows[] = {
		{-ERR_PERM, "it or its folder cannot be written; name another with --db FILE"},
		{-ERR_FULL, "the disk is full; make room, or name another place with --db FILE"},
		{-ERR_DAMAGED, "it is damaged or no database; move it away (wary audit verify says "
	                       "what is left of it) and a new one will be made"},
		{-ERR_BUSY,
	         "another program holds it locked, one that is stopped perhaps: continue or "
	         "end it; fuser -v on the record and on its .live folder shows which"},
		{-ERR_CRYPTO, "this machine's signing key was replaced, and here a later one has "
	                      "signed since: an older copy of keys/machine was put back, it "
	                      "seems; put the later one there, or name another record with "
	                      "--db FILE"},
		{-ERR_VERSION, "use a version of wary that knows it, or name another record with "
	                       "--db FILE"},
		{-ERR_NOTFOUND, "there is no such store yet; it is made by the first session"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].err == err)
			return rows[i].text;
	return NULL;
}

static void explain(const char *path, enum store_mode mode, int err, const char *detail, char **why)
{
	struct buf b = BUF_INIT;
	const char *hint = hint_of(err);

	/* For the memory that its readers share (https://sqlite.org/wal.html#readonly). */
	if (err == -ERR_PERM && mode == STORE_READ)
		hint = "it cannot be read, or SQLite may not make a file beside it, which it needs "
		       "even to read: copy it, with its -wal, to a folder of yours and name that "
		       "with --db FILE";
	buf_str(&b, "the record ");
	text_printable(&b, path, strlen(path), 0);
	buf_fmt(&b, " cannot be used: %s", detail ? detail : err_text(err));
	if (hint)
		buf_fmt(&b, " (%s)", hint);
	*why = buf_take(&b);
}

static int exec(struct store *s, const char *sql)
{
	return store_code(sqlite3_exec(s->db, sql, NULL, NULL, NULL));
}

int store_number(struct store *s, const char *sql, int64_t *out)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		*out = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return rc == SQLITE_ROW ? 0 : store_code(rc == SQLITE_DONE ? SQLITE_CORRUPT : rc);
}

/* Makes the schema, unless another process has just done it. */
static int create(struct store *s)
{
	int64_t there = 0;
	/* Before all else: so that retention can give room back bit by bit. */
	int err = exec(s, "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL");

	if (!err)
		err = exec(s, "BEGIN IMMEDIATE");
	if (err)
		return err;
	err = store_number(s, "SELECT count(*) FROM sqlite_master", &there);
	for (size_t i = 0; !err && !there && schema_at(SCHEMA_VERSION, i); i++)
		err = exec(s, schema_at(SCHEMA_VERSION, i)->sql);
	if (!err && !there) {
		char sql[128];

		snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d",
		         SCHEMA_APPLICATION_ID, SCHEMA_VERSION);
		err = exec(s, sql);
	}
	/* What an earlier store of this name had seen is not this one's. */
	if (!err && !there)
		head_forget(s->path);
	if (!err)
		err = exec(s, "COMMIT");
	if (err)
		store_rollback(s);
	/* So that it is a store even where its log is lost. */
	return err ? err : exec(s, "PRAGMA wal_checkpoint(TRUNCATE)");
}

/* What an empty database gives for both is 0. */
static int read_marks(struct store *s, int64_t *id, int64_t *version, bool *empty)
{
	int64_t objects = 0;
	int err = store_number(s, "PRAGMA application_id", id);

	if (!err)
		err = store_number(s, "PRAGMA user_version", version);
	if (!err)
		err = store_number(s, "SELECT count(*) FROM sqlite_master", &objects);
	*empty = !*id && !*version && !objects;
	/* Another process made it between these: its one commit can be seen by now. */
	if (!err && !*id && !*empty)
		err = store_number(s, "PRAGMA application_id", id);
	if (!err && *id && !*version)
		err = store_number(s, "PRAGMA user_version", version);
	return err;
}

int store_turn(struct store *s, unsigned wait_ms)
{
	int err = s->turn_fd < 0 ? turn_open(s->path, &s->turn_fd) : 0;

	return err ? err : turn_take(s->turn_fd, wait_ms);
}

/* Several first sessions at once: one makes the store, the others wait. (SQLite
 * itself does not wait where the way of journalling is being changed.) */
static int create_once(struct store *s)
{
	int64_t id = 0;
	int64_t version = 0;
	bool empty = false;
	int err = store_turn(s, STORE_BUSY_MS);

	if (err)
		return err;
	err = read_marks(s, &id, &version, &empty);
	if (!err && empty)
		err = create(s);
	turn_give(s->turn_fd);
	return err;
}

/* Whether it is a store, of this version; an empty file becomes one. */
static int check(struct store *s, enum store_mode mode, const char **detail)
{
	int64_t id = 0;
	int64_t version = 0;
	bool empty = false;
	int err = read_marks(s, &id, &version, &empty);

	if (!err && empty && mode == STORE_CREATE) {
		err = create_once(s);
		if (!err)
			err = read_marks(s, &id, &version, &empty);
	}
	if (err)
		return err;
	if (id != SCHEMA_APPLICATION_ID) {
		*detail = "it is a database, but not a record of wary";
		return -ERR_FORMAT;
	}
	if (version > SCHEMA_VERSION || version < SCHEMA_VERSION_FIRST) {
		*detail = version > SCHEMA_VERSION ? "it was made by a newer version of wary"
		                                   : "it was made by an older version of wary";
		return -ERR_VERSION;
	}
	s->version = version;
	s->reads = mode == STORE_READ;
	if (version == SCHEMA_VERSION || mode == STORE_WRITE)
		return 0;
	return mode == STORE_READ ? exec(s, schema_first_event) : upgrade_first(s);
}

/* SQLite makes its files with the mode of the database: nobody else's. */
static int make_file(const char *path)
{
	auto_fd fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd >= 0)
		return 0;
	return errno == ENOSPC || errno == EDQUOT ? -ERR_FULL : -ERR_PERM;
}

/* SQLite would take, and touch, room for a hundred pages at once, more than most sessions
 * use: here a page is taken when it is needed.  Refused, to no harm, once a store has been
 * opened (https://sqlite.org/c3ref/config.html). */
static void take_pages_as_needed(void)
{
	(void)sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
}

/* @uri: a name as sqlite.org/uri.html has it, or NULL: the path. */
static int connect_db(struct store *s, enum store_mode mode, const char *uri)
{
	int flags = (mode == STORE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) |
	            (uri ? SQLITE_OPEN_URI : 0) | SQLITE_OPEN_NOMUTEX;
	int off = 0;
	int rc;

	take_pages_as_needed();
	rc = sqlite3_open_v2(uri ? uri : s->path, &s->db, flags, NULL);
	if (rc != SQLITE_OK)
		return store_code(rc);
	sqlite3_extended_result_codes(s->db, 1);
	sqlite3_busy_timeout(s->db, STORE_BUSY_MS);
	/* The last to close would otherwise copy the log into the database and
	 * wait for the disk, which is half of what `wary true` may take. */
	rc = sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, &off);
	if (rc == SQLITE_OK)
		rc = sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, &off);
	/* Nothing in the file may run while wary reads it but what it needs. */
	if (rc == SQLITE_OK)
		rc = sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, &off);
	if (rc == SQLITE_OK && mode != STORE_READ)
		rc = sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, &off);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(s->db,
		                  "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2048;"
		                  " PRAGMA temp_store = MEMORY",
		                  NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_wal_autocheckpoint(s->db, 0);
	return store_code(rc);
}

/* SQLite needs a file beside a database to read it, unless it is told that nobody writes
 * (https://sqlite.org/uri.html, immutable).  So it is where nothing is beside it and no
 * file can be made there: a copy on a medium that can only be read, or somebody else's. */
static bool is_still(const struct store *s)
{
	static const char *const beside[] = {"-wal", "-shm", "-journal"};
	struct stat st;

	for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
		auto_buf path = BUF_INIT;

		buf_fmt(&path, "%s%s", s->path, beside[i]);
		if (!buf_text(&path) || stat(path.data, &st) == 0 || errno != ENOENT)
			return false;
	}
	return access(s->path, R_OK) == 0;
}

static int read_still(struct store *s, const char **detail)
{
	auto_free char *shown = text_printable_str(s->path, 0);
	auto_buf name = BUF_INIT;
	int err;

	buf_str(&name, "file:");
	for (const char *at = s->path; *at; at++)
		buf_fmt(&name, "%%%02x", (unsigned char)*at);
	buf_str(&name, "?immutable=1");
	if (!buf_text(&name))
		return -ERR_NOMEM;
	sqlite3_close(s->db);
	s->db = NULL;
	err = connect_db(s, STORE_READ, name.data);
	if (!err)
		err = check(s, STORE_READ, detail);
	if (!err)
		log_notice("the record %s can only be read: it is taken for one that nobody "
		           "writes to, and that had no -wal: rows in such a log are not seen",
		           shown);
	return err;
}

static int open_at(struct store *s, enum store_mode mode, const char **detail)
{
	int err = 0;

	if (mode == STORE_CREATE) {
		err = folder_make_above(s->path);
		if (!err)
			err = make_file(s->path);
	} else if (access(s->path, F_OK) != 0) {
		err = -ERR_NOTFOUND;
	}
	if (!err)
		err = connect_db(s, mode, NULL);
	if (!err)
		err = check(s, mode, detail);
	if (err == -ERR_PERM && mode == STORE_READ && is_still(s))
		err = read_still(s, detail);
	return err;
}

int store_open(const char *path, enum store_mode mode, struct store **out, char **why)
{
	struct store *s = calloc(1, sizeof *s);
	const char *detail = NULL;
	int err;

	*why = NULL;
	if (!s || !(s->path = strdup(path))) {
		free(s);
		return -ERR_NOMEM;
	}
	s->turn_fd = -1;
	err = open_at(s, mode, &detail);
	if (err) {
		if (!detail && s->db)
			detail = sqlite3_errmsg(s->db);
		explain(path, mode, err, detail, why);
		store_close(s);
		return err;
	}
	*out = s;
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < STORE_SQL_COUNT; i++)
		sqlite3_finalize(s->stmt[i]);
	sqlite3_close(s->db);
	fd_drop(&s->turn_fd);
	free(s->path);
	free(s);
}

int store_sync_always(struct store *s)
{
	return exec(s, "PRAGMA synchronous = FULL");
}

int store_calm(struct store *s, enum store_calm how)
{
	static const int pages[] = {[STORE_NEVER] = 0, [STORE_RUNNING] = 1000};

	return store_code(sqlite3_wal_autocheckpoint(s->db, pages[how]));
}

char *store_explain(const struct store *s, int err)
{
	int rc = sqlite3_errcode(s->db);
	bool said = rc != SQLITE_OK && rc != SQLITE_ROW && rc != SQLITE_DONE;
	char *why = NULL;

	explain(s->path, STORE_WRITE, err, said ? sqlite3_errmsg(s->db) : NULL, &why);
	return why;
}

void store_settle(struct store *s)
{
	const off_t short_bytes = (off_t)200 * 4120; /* pages with their heads */
	auto_buf log = BUF_INIT;
	struct stat st;

	buf_fmt(&log, "%s-wal", s->path);
	if (!buf_text(&log) || stat(log.data, &st) != 0 || st.st_size <= short_bytes)
		return;
	if (store_turn(s, 0) != 0)
		return; /* others are at work in it */
	sqlite3_busy_timeout(s->db, 0);
	if (sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) !=
	    SQLITE_OK)
		log_detail("the record's log stays as long as it is: %s", sqlite3_errmsg(s->db));
	sqlite3_busy_timeout(s->db, STORE_BUSY_MS);
	turn_give(s->turn_fd);
}

int64_t store_version(const struct store *s)
{
	return s->version;
}

bool store_has_sizes(const struct store *s)
{
	return s->version >= SCHEMA_VERSION;
}

int store_own_views(struct store *s)
{
	static const char create[] = "CREATE VIEW ";
	int64_t version = s->reads ? SCHEMA_VERSION : s->version;
	const struct schema_object *o;
	int err = 0;

	for (size_t i = 0; !err && (o = schema_at(version, i)); i++) {
		auto_buf sql = BUF_INIT;

		if (strcmp(o->type, "view") != 0)
			continue;
		invariant(text_starts(o->sql, create));
		buf_fmt(&sql, "CREATE TEMP VIEW IF NOT EXISTS %s", o->sql + strlen(create));
		err = buf_text(&sql) ? exec(s, sql.data) : -ERR_NOMEM;
	}
	return err;
}

sqlite3 *store_db(struct store *s)
{
	return s->db;
}

const char *store_path(const struct store *s)
{
	return s->path;
}

const char *store_why(const struct store *s)
{
	return sqlite3_errmsg(s->db);
}

int store_commit(struct store *s)
{
	int err = exec(s, "COMMIT");

	if (!err)
		turn_give(s->turn_fd);
	return err;
}

void store_rollback(struct store *s)
{
	/* Where it fails the connection is of no use any more, and is closed. */
	if (sqlite3_get_autocommit(s->db) ||
	    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL) == SQLITE_OK)
		turn_give(s->turn_fd);
}

int store_sql(struct store *s, enum store_sql which, sqlite3_stmt **out)
{
	int rc = SQLITE_OK;

	if (!s->stmt[which])
		rc = sqlite3_prepare_v3(s->db, store_sql_text(which), -1, SQLITE_PREPARE_PERSISTENT,
		                        &s->stmt[which], NULL);
	if (rc == SQLITE_OK)
		*out = s->stmt[which];
	return store_code(rc);
}

int store_step(sqlite3_stmt *stmt, bool *row)
{
	int rc = sqlite3_step(stmt);

	*row = rc == SQLITE_ROW;
	if (rc != SQLITE_ROW)
		sqlite3_reset(stmt);
	return store_code(rc);
}

int store_insert(sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	sqlite3_reset(stmt);
	return store_code(rc == SQLITE_ROW ? SQLITE_ERROR : rc);
}
