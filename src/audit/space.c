#include "audit/space.h"

#include "audit/store_sql.h"
#include "audit/turn.h"

/* Pages that are given back at once: some milliseconds. */
#define STEP "PRAGMA incremental_vacuum(512)"
#define AUTO_VACUUM_INCREMENTAL 2

/* @count: the pragma that counts them. */
static int bytes_of(struct store *s, const char *count, uint64_t *out)
{
	int64_t pages = 0;
	int64_t size = 0;
	int err = store_number(s, count, &pages);

	if (!err)
		err = store_number(s, "PRAGMA page_size", &size);
	*out = (uint64_t)pages * (uint64_t)size;
	return err;
}

static int free_bytes(struct store *s, uint64_t *out)
{
	return bytes_of(s, "PRAGMA freelist_count", out);
}

int space_used(struct store *s, uint64_t *bytes)
{
	uint64_t all = 0;
	uint64_t unused = 0;
	int err = bytes_of(s, "PRAGMA page_count", &all);

	if (!err)
		err = free_bytes(s, &unused);
	if (!err)
		*bytes = all - unused;
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
	int64_t mode = 0;
	int err = store_number(s, "PRAGMA auto_vacuum", &mode);

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
