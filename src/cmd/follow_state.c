#include "cmd/follow_state.h"

#include "audit/folder.h"
#include "audit/keys.h"
#include "base/file.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define MAGIC "wary-follow-1 "
#define STATE_MAX_BYTES 256
#define KEY_HASH_BYTES 8

static int default_path(struct buf *out, const char *key)
{
	uint8_t hash[crypto_generichash_BYTES_MIN];
	int err = keys_state_folder(out);

	if (err)
		return err;
	crypto_generichash(hash, sizeof hash, (const uint8_t *)key, strlen(key), NULL, 0);
	buf_str(out, "/follow/");
	text_hex(out, hash, KEY_HASH_BYTES);
	return buf_text(out) ? folder_make_above(buf_text(out)) : -ERR_NOMEM;
}

/* "wary-follow-1 ID UUID\n" */
static int parse(struct follow_state *st, const char *text)
{
	const char *id = text + strlen(MAGIC);
	const char *blank = text_starts(text, MAGIC) ? strchr(id, ' ') : NULL;
	char digits[24] = "";
	uint8_t uuid[ROWS_UUID_BYTES];
	unsigned long long n = 0;
	int err;

	if (!blank || (size_t)(blank - id) >= sizeof digits)
		return -ERR_FORMAT;
	memcpy(digits, id, (size_t)(blank - id));
	if (strlen(blank + 1) != sizeof st->uuid || blank[sizeof st->uuid] != '\n')
		return -ERR_FORMAT;
	err = text_number(digits, INT64_MAX, &n);
	if (!err)
		err = text_unhex(blank + 1, 2 * sizeof uuid, uuid, sizeof uuid);
	if (err)
		return -ERR_FORMAT;
	st->id = n;
	memcpy(st->uuid, blank + 1, sizeof st->uuid - 1);
	return 0;
}

/* Why a system call failed, before anything else is done. */
static int failed(struct follow_state *st)
{
	st->error = errno;
	return -ERR_SYS;
}

static int read_state(struct follow_state *st)
{
	auto_fd fd = open(st->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char text[STATE_MAX_BYTES + 1] = "";
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? 0 : failed(st);
	n = read(fd, text, STATE_MAX_BYTES);
	if (n < 0)
		return failed(st);
	return parse(st, text);
}

static int lock(struct follow_state *st)
{
	auto_buf name = BUF_INIT;

	buf_fmt(&name, "%s.lock", st->path);
	if (!buf_text(&name))
		return -ERR_NOMEM;
	st->lock_fd = open(buf_text(&name), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (st->lock_fd < 0)
		return failed(st);
	if (flock(st->lock_fd, LOCK_EX | LOCK_NB) != 0)
		return errno == EWOULDBLOCK ? -ERR_BUSY : failed(st);
	return 0;
}

static int complain(const struct follow_state *st, const char *path, int err)
{
	auto_free char *shown = text_printable_str(path, 0);

	if (err == -ERR_BUSY)
		log_error("audit follow: another one is at work with %s", shown);
	else if (err == -ERR_FORMAT)
		log_error("audit follow: %s is not a state of this command", shown);
	else
		log_error("audit follow: %s: %s", shown,
		          err == -ERR_SYS && st->error ? strerrordesc_np(st->error)
		                                       : err_text(err));
	return err;
}

int follow_state_open(struct follow_state *st, const char *path, const char *key)
{
	auto_buf made = BUF_INIT;
	int err = 0;

	*st = (struct follow_state){.lock_fd = -1};
	if (path)
		buf_str(&made, path);
	else
		err = default_path(&made, key);
	if (err)
		return complain(st, "the state folder", err);
	st->path = buf_take(&made);
	err = st->path ? lock(st) : -ERR_NOMEM;
	if (!err)
		err = read_state(st);
	return err ? complain(st, st->path ? st->path : "", err) : 0;
}

/* The session of a row, and the store's last row. */
static int look_up(struct store *s, uint64_t id, char uuid[2 * ROWS_UUID_BYTES + 1], uint64_t *last)
{
	static const char sql[] = "SELECT (SELECT lower(hex(s.uuid)) FROM checkpoint c"
				  " JOIN session s ON s.id = c.session WHERE c.first_event <= ?1"
				  " AND ?1 < c.first_event + c.events),"
				  " (SELECT max(first_event + events - 1) FROM checkpoint)";
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(store_db(s), sql, -1, &stmt, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(stmt, 1, (sqlite3_int64)id);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(stmt, 0);

		snprintf(uuid, 2 * ROWS_UUID_BYTES + 1, "%s", text ? text : "");
		*last = (uint64_t)sqlite3_column_int64(stmt, 1);
	}
	sqlite3_finalize(stmt);
	return store_code(rc);
}

int follow_state_check(const struct follow_state *st, struct store *s)
{
	char uuid[2 * ROWS_UUID_BYTES + 1] = "";
	auto_free char *shown = text_printable_str(st->path, 0);
	uint64_t last = 0;
	int err = st->id ? look_up(s, st->id, uuid, &last) : 0;

	if (err)
		log_error("the record cannot be read: %s", store_why(s));
	/* A session that was removed has left its numbers to nobody. */
	else if (st->id && (*uuid ? strcmp(uuid, st->uuid) != 0 : st->id > last))
		err = -ERR_NOTFOUND;
	if (err == -ERR_NOTFOUND)
		log_error("audit follow: %s is of another record than %s: begin anew with another "
		          "--state",
		          shown, store_path(s));
	return err;
}

static int write_whole(struct follow_state *st, const char *path, const struct buf *text)
{
	auto_fd fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 || !file_write_whole(fd, text->data, text->len_bytes) || fsync(fd) != 0)
		return failed(st);
	return 0;
}

int follow_state_write(struct follow_state *st, uint64_t id, const char *uuid)
{
	auto_buf text = BUF_INIT;
	auto_buf temporary = BUF_INIT;
	int err = 0;

	buf_fmt(&temporary, "%s.new", st->path);
	buf_fmt(&text, MAGIC "%llu %s\n", (unsigned long long)id, uuid);
	if (!buf_text(&temporary) || !buf_text(&text))
		err = -ERR_NOMEM;
	if (!err)
		err = write_whole(st, buf_text(&temporary), &text);
	if (!err && rename(buf_text(&temporary), st->path) != 0)
		err = failed(st);
	if (err)
		return complain(st, st->path, err);
	st->id = id;
	snprintf(st->uuid, sizeof st->uuid, "%s", uuid);
	return 0;
}

void follow_state_close(struct follow_state *st)
{
	free(st->path);
	fd_drop(&st->lock_fd);
	*st = (struct follow_state){.lock_fd = -1};
}
