#include "audit/space.h"

#include "audit/store_sql.h"
#include "audit/turn.h"

/* Pages that are given back at once: some milliseconds. */
#define STEP "PRAGMA incremental_vacuum(512)"
#define AUTO_VACUUM_INCREMENTAL 2

static int number(struct store *s, const char *sql, uint64_t *out)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		*out = (uint64_t)sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return rc == SQLITE_ROW ? 0 : store_code(rc == SQLITE_DONE ? SQLITE_CORRUPT : rc);
}

static int free_bytes(struct store *s, uint64_t *out)
{
	uint64_t pages = 0;
	uint64_t size = 0;
	int err = number(s, "PRAGMA freelist_count", &pages);

	if (!err)
		err = number(s, "PRAGMA page_size", &size);
	*out = pages * size;
	return err;
}

int space_used(struct store *s, uint64_t *bytes)
{
	uint64_t pages = 0;
	uint64_t size = 0;
	uint64_t unused = 0;
	int err = number(s, "PRAGMA page_count", &pages);

	if (!err)
		err = number(s, "PRAGMA page_size", &size);
	if (!err)
		err = free_bytes(s, &unused);
	if (!err)
		*bytes = pages * size - unused;
	return err;
}

/* One commit, in this process' turn. */
static int run(struct store *s, const char *sql)
{
	int err = store_turn(s, STORE_BUSY_MS);

	if (err)
		return err;
	err = store_code(sqlite3_exec(s->db, sql, NULL, NULL, NULL));
	turn_give(s->turn_fd);
	return err;
}

static int release_some(struct store *s, uint64_t *left)
{
	uint64_t before = *left + 1;
	int err = 0;

	while (!err && *left && *left < before) {
		before = *left;
		err = run(s, STEP);
		if (!err)
			err = free_bytes(s, left);
	}
	return err;
}

int space_release(struct store *s, bool alone, uint64_t *left)
{
	uint64_t mode = 0;
	int err = number(s, "PRAGMA auto_vacuum", &mode);

	if (!err)
		err = free_bytes(s, left);
	if (!err && mode == AUTO_VACUUM_INCREMENTAL)
		err = release_some(s, left);
	else if (!err && alone && *left)
		err = run(s, "PRAGMA auto_vacuum = INCREMENTAL; VACUUM");
	if (!err)
		err = free_bytes(s, left);
	if (err)
		return err;
	/* Where others read it the log stays as it is: no failure. */
	sqlite3_busy_timeout(s->db, 0);
	err = run(s, "PRAGMA wal_checkpoint(TRUNCATE)");
	sqlite3_busy_timeout(s->db, STORE_BUSY_MS);
	return err == -ERR_BUSY ? 0 : err;
}
