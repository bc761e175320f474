#include "audit/prune.h"

#include "audit/bridge.h"
#include "audit/columns.h"
#include "audit/folder.h"
#include "base/clock.h"
#include "base/own.h"
#include "base/text.h"
#include "base/uses.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

USES(access, flock, open_read);

/* The tables of enum rows_table. */
static const char *const tables[] = {"string", "actor", "act", "detail", "event"};

static int prepare(struct store *s, const char *sql, uint64_t number, sqlite3_stmt **out)
{
	int rc = sqlite3_prepare_v2(store_db(s), sql, -1, out, NULL);

	if (rc == SQLITE_OK && sqlite3_bind_parameter_count(*out))
		rc = sqlite3_bind_int64(*out, 1, (int64_t)number);
	return store_code(rc);
}

/* A statement without rows. */
static int run(struct store *s, const char *sql, uint64_t number)
{
	sqlite3_stmt *stmt = NULL;
	int err = prepare(s, sql, number, &stmt);

	if (!err)
		err = store_code(sqlite3_step(stmt));
	sqlite3_finalize(stmt);
	return err;
}

/* Its journal is there while it runs, until it is recovered, and where wary was killed
 * between its last commit and this. */
static bool has_journal(struct store *s, const uint8_t *uuid)
{
	auto_buf path = BUF_INIT;

	folder_journals(&path, store_path(s));
	buf_chr(&path, '/');
	text_hex(&path, uuid, ROWS_UUID_BYTES);
	return !buf_text(&path) || access(path.data, F_OK) == 0;
}

#define SESSION_COLUMNS                                                             \
	"s.id, s.uuid, s.name, CASE WHEN k.session IS NULL THEN 0"                  \
	" ELSE s.opened_us + k.at_us END, count(c.id), coalesce(sum(c.events), 0)," \
	" max(c.id) = (SELECT max(id) FROM checkpoint)"                             \
	" FROM session s LEFT JOIN closing k ON k.session = s.id"                   \
	" LEFT JOIN checkpoint c ON c.session = s.id"

static int session_row(struct store *s, sqlite3_stmt *stmt, const struct hold *holds, size_t n,
                       struct prune_session *out)
{
	struct columns c = columns_of(stmt);
	struct rows_text name;
	bool last;

	*out = (struct prune_session){0};
	out->id = columns_id(&c);
	columns_blob(&c, out->uuid, sizeof out->uuid);
	name = columns_text(&c);
	out->ended_us = columns_id(&c);
	out->checkpoints = columns_id(&c);
	out->events = columns_id(&c);
	last = columns_id(&c) != 0;
	if (c.wrong || name.len_bytes >= sizeof out->name)
		return -ERR_DAMAGED;
	memcpy(out->name, name.bytes, name.len_bytes);
	out->keep = !out->ended_us || has_journal(s, out->uuid) ? PRUNE_OPEN
	            : hold_of(holds, n, out->uuid)              ? PRUNE_HELD
	            : hold_by(holds, n, out->id)                ? PRUNE_HOLDS
	            : last                                      ? PRUNE_LAST
	                                                        : PRUNE_FREE;
	return 0;
}

static int read_sessions_of(struct store *s, sqlite3_stmt *stmt, const struct hold *holds,
                            size_t holds_n, struct prune_session **out, size_t *n)
{
	int err = 0;
	int rc = SQLITE_DONE;

	while (!err && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct prune_session *more = reallocarray(*out, *n + 1, sizeof *more);

		if (!more)
			return -ERR_NOMEM;
		*out = more;
		err = session_row(s, stmt, holds, holds_n, &more[*n]);
		++*n;
	}
	return err ? err : store_code(rc);
}

/* @session: 0: all of them. */
static int list(struct store *s, uint64_t session, struct prune_session **out, size_t *n)
{
	sqlite3_stmt *stmt = NULL;
	struct hold *holds = NULL;
	size_t holds_n = 0;
	int err = hold_list(s, &holds, &holds_n);

	*out = NULL;
	*n = 0;
	if (!err)
		err = prepare(s,
		              session ? "SELECT " SESSION_COLUMNS " WHERE s.id = ? GROUP BY s.id"
		                      : "SELECT " SESSION_COLUMNS " GROUP BY s.id ORDER BY s.id",
		              session, &stmt);
	if (!err)
		err = read_sessions_of(s, stmt, holds, holds_n, out, n);
	sqlite3_finalize(stmt);
	free(holds);
	if (err)
		free(*out);
	return err;
}

int prune_list(struct store *s, struct prune_session **out, size_t *n)
{
	return list(s, 0, out, n);
}

/* Bridges under way. */
struct bridging {
	struct buf bridges;
	struct bridge at; /* its hashes are in the next */
	struct buf hashes;
};

static void bridge_end(struct bridging *b)
{
	if (!b->at.count)
		return;
	b->at.hashes = (const uint8_t *)b->hashes.data;
	b->bridges.failed |= b->hashes.failed;
	if (!b->bridges.failed)
		bridge_put(&b->bridges, &b->at);
	buf_reset(&b->hashes);
	b->at.count = 0;
}

static int bridge_checkpoint(struct bridging *b, const struct rows_checkpoint *c)
{
	struct chain_hash hash;
	int err = chain_checkpoint_hash(c, &hash);

	if (b->at.count && (c->id != b->at.first + b->at.count || c->signer != b->at.signer))
		bridge_end(b);
	if (!b->at.count) {
		b->at = (struct bridge){.first = c->id, .signer = c->signer};
		memcpy(b->at.prev, c->prev, sizeof b->at.prev);
		for (unsigned t = 0; t < ROWS_TABLES; t++)
			b->at.range[t].first = c->range[t].first;
	}
	b->at.count++;
	for (unsigned t = 0; t < ROWS_TABLES; t++)
		b->at.range[t].count += c->range[t].count;
	buf_add(&b->hashes, hash.bytes, sizeof hash.bytes);
	return err;
}

static int bridge_all(struct store *s, uint64_t session, struct buf *out)
{
	struct bridging b = {.bridges = {.max_bytes = CHAIN_TOMBSTONE_MAX_BYTES / 2},
	                     .hashes = {.max_bytes = CHAIN_TOMBSTONE_MAX_BYTES / 2}};
	sqlite3_stmt *stmt = NULL;
	int rc = SQLITE_DONE;
	int err = prepare(s,
	                  "SELECT " COLUMNS_CHECKPOINT COLUMNS_CHECKPOINT_FROM
	                  " WHERE c.session = ? ORDER BY c.id",
	                  session, &stmt);

	while (!err && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct columns c = columns_of(stmt);
		struct rows_checkpoint point;

		columns_checkpoint(&c, &point);
		err = c.wrong ? -ERR_DAMAGED : bridge_checkpoint(&b, &point);
	}
	if (!err)
		err = store_code(rc);
	sqlite3_finalize(stmt);
	bridge_end(&b);
	buf_free(&b.hashes);
	if (!err && (b.bridges.failed || !b.bridges.len_bytes))
		err = -ERR_NOMEM;
	if (err)
		buf_free(&b.bridges);
	else
		*out = b.bridges;
	return err;
}

static int delete_rows(struct store *s, const struct buf *bridges)
{
	struct rows_text from = {bridges->data, bridges->len_bytes};
	struct bridge b;
	bool there = true;
	int err = 0;

	while (!err && !(err = bridge_next(&from, &b, &there)) && there) {
		for (unsigned t = 0; !err && t < ROWS_TABLES; t++) {
			char sql[96];

			snprintf(sql, sizeof sql,
			         "DELETE FROM %s WHERE id >= ?1 AND id < ?1 + %llu", tables[t],
			         (unsigned long long)b.range[t].count);
			err = run(s, sql, b.range[t].first);
		}
	}
	return err;
}

static int delete_session(struct store *s, uint64_t session, const struct buf *bridges)
{
	static const char *const statements[] = {
		"DELETE FROM checkpoint WHERE session = ?",
		"DELETE FROM closing WHERE session = ?",
		"DELETE FROM session_source WHERE session = ?",
		"DELETE FROM session WHERE id = ?",
		/* A policy's text that no other session had. */
		"DELETE FROM source WHERE sha256 NOT IN (SELECT sha256 FROM session_source)",
	};
	int err = delete_rows(s, bridges);

	for (size_t i = 0; !err && i < sizeof statements / sizeof statements[0]; i++)
		err = run(s, statements[i], session);
	return err;
}

static int next_id(struct store *s, uint64_t *out)
{
	sqlite3_stmt *stmt = NULL;
	int err = prepare(s, "SELECT 1 + coalesce(max(id), 0) FROM tombstone", 0, &stmt);

	if (!err)
		err = sqlite3_step(stmt) == SQLITE_ROW ? 0 : -ERR_SYS;
	if (!err)
		*out = (uint64_t)sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return err;
}

static int put_tombstone(struct store *s, const struct keys *machine,
                         const struct prune_session *of, const char *reason,
                         const struct buf *bridges)
{
	struct rows_tombstone t = {
		.session = of->id,
		.name = {of->name, strlen(of->name)},
		.reason = {reason, strlen(reason)},
		.at_us = clock_wall_ns() / 1000,
		.checkpoints = of->checkpoints,
		.events = of->events,
		.bridges = {bridges->data, bridges->len_bytes},
	};
	int err = next_id(s, &t.id);

	if (!err)
		err = store_signer_find(s, machine->public_key, &t.signer);
	if (!err && !t.signer)
		err = -ERR_PERM;
	if (err)
		return err;
	memcpy(t.uuid, of->uuid, sizeof t.uuid);
	memcpy(t.public_key, machine->public_key, sizeof t.public_key);
	err = chain_tombstone_sign(&t, machine->secret);
	return err ? err : store_put_tombstone(s, &t);
}

static int remove_now(struct store *s, const struct keys *machine, uint64_t session,
                      const char *reason, enum prune_keep *keep)
{
	struct prune_session *one = NULL;
	struct buf bridges = BUF_INIT;
	size_t n = 0;
	int err = list(s, session, &one, &n);

	if (err)
		return err;
	if (n == 1)
		*keep = one->keep;
	if (n != 1)
		err = -ERR_NOTFOUND;
	else if (one->keep == PRUNE_FREE) {
		err = bridge_all(s, session, &bridges);
		if (!err)
			err = put_tombstone(s, machine, one, reason, &bridges);
		if (!err)
			err = delete_session(s, session, &bridges);
		buf_free(&bridges);
	}
	free(one);
	return err;
}

int prune_remove(struct store *s, const struct keys *machine, uint64_t session, const char *reason,
                 enum prune_keep *keep)
{
	struct rows_checkpoint last;
	int err = store_begin(s, &last);

	if (err)
		return err;
	err = remove_now(s, machine, session, reason, keep);
	if (!err && *keep == PRUNE_FREE)
		err = store_commit(s);
	else
		store_rollback(s);
	if (err)
		store_rollback(s);
	return err;
}

/* A session holds the lock of its journal while it runs. What cannot be asked counts
 * as running. */
static bool is_locked(int folder_fd, const char *name)
{
	auto_fd fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return errno != ENOENT;
	return flock(fd, LOCK_SH | LOCK_NB) != 0;
}

bool prune_any_runs(const char *db)
{
	return folder_any_journal(db, is_locked);
}
