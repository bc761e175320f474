/* wary-test: timeout=900
 *
 * Every single bit of a small store's file, one after the other: verify finds
 * the change, or nothing that the store says has changed (a bit of unused
 * space, of a counter of SQLite's). */
#include "audit/audit.h"
#include "audit/keys.h"
#include "audit/verify.h"
#include "tests/lib/audit_work.h"
#include "tests/unit/tap.h"

#include <fcntl.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* As many of the bits as this time allows, in an order that covers the file;
 * AUDIT_BITS_SECONDS says otherwise. */
#define SECONDS_MAX 25

static bool make_store(const char *db)
{
	static const char *const argv[] = {"npm", "install", NULL};
	static const struct audit_source source = {"t.wary", "t.wary", "wary 1\n", 7};
	const struct audit_session s = {
		.argv = argv, .argc = 2, .cwd = "/", .sources = &source, .sources_n = 1};
	const char *why = NULL;
	struct audit *a = NULL;
	struct work w;
	bool right = audit_open_begin(db, &a) == 0 && audit_open_finish(a, &s, &why) == 0;
	sqlite3 *sql = NULL;

	work_begin(&w, 1);
	for (unsigned i = 0; right && i < 40; i++) {
		bool refused = false;
		struct receipt *r = audit_intent(a, work_next(&w, &refused));

		right = r && audit_outcome(a, r, 0) == 0;
	}
	right = right && audit_close(a, 0, "exited") == 0;
	/* One file. */
	right = right && sqlite3_open(db, &sql) == SQLITE_OK &&
	        sqlite3_exec(sql, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) == SQLITE_OK;
	sqlite3_close(sql);
	return right;
}

static void add_value(crypto_generichash_state *h, sqlite3_stmt *stmt, int i)
{
	uint8_t type = (uint8_t)sqlite3_column_type(stmt, i);
	sqlite3_int64 n = sqlite3_column_int64(stmt, i);
	const void *bytes = sqlite3_column_blob(stmt, i);
	unsigned len = (unsigned)sqlite3_column_bytes(stmt, i);

	crypto_generichash_update(h, &type, 1);
	if (type == SQLITE_INTEGER)
		crypto_generichash_update(h, (const uint8_t *)&n, sizeof n);
	else if (len && bytes)
		crypto_generichash_update(h, bytes, len);
}

static bool add_rows(crypto_generichash_state *h, sqlite3 *sql, const char *query)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(sql, query, -1, &stmt, NULL);

	if (rc == SQLITE_OK)
		while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
			for (int i = 0; i < sqlite3_column_count(stmt); i++)
				add_value(h, stmt, i);
	sqlite3_finalize(stmt);
	return rc == SQLITE_DONE;
}

/* A hash of everything that a reader of the store can see. */
static bool contents(const char *db, uint8_t out[32])
{
	static const char *const queries[] = {
		"SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name",
		"SELECT rowid, * FROM signer ORDER BY rowid",
		"SELECT rowid, * FROM session ORDER BY rowid",
		"SELECT rowid, * FROM session_source ORDER BY rowid",
		"SELECT rowid, * FROM source ORDER BY rowid",
		"SELECT rowid, * FROM string ORDER BY rowid",
		"SELECT rowid, * FROM actor ORDER BY rowid",
		"SELECT rowid, * FROM act ORDER BY rowid",
		"SELECT rowid, * FROM detail ORDER BY rowid",
		"SELECT rowid, * FROM event ORDER BY rowid",
		"SELECT rowid, * FROM closing ORDER BY rowid",
		"SELECT rowid, * FROM checkpoint ORDER BY rowid",
		"SELECT rowid, * FROM tombstone ORDER BY rowid",
	};
	crypto_generichash_state h;
	sqlite3 *sql = NULL;
	bool right = sqlite3_open_v2(db, &sql, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK;

	crypto_generichash_init(&h, NULL, 0, 32);
	for (size_t i = 0; right && i < sizeof queries / sizeof queries[0]; i++)
		right = add_rows(&h, sql, queries[i]);
	sqlite3_close(sql);
	crypto_generichash_final(&h, out, 32);
	return right;
}

static bool is_intact(const char *db, const uint8_t (*key)[ROWS_KEY_BYTES])
{
	struct verify_options o = {.db = db, .public_keys = key, .public_keys_n = 1};
	struct verify_result r;
	char *why = NULL;
	bool intact = verify_store(&o, &r, &why) == 0 && !r.wrong;

	free(why);
	return intact;
}

struct bits {
	const char *db;
	const uint8_t (*key)[ROWS_KEY_BYTES];
	uint8_t before[32];
	size_t found, harmless, missed;
};

static void one_bit(struct bits *b, int fd, size_t bit)
{
	uint8_t byte;
	uint8_t changed;
	uint8_t after[32];
	off_t at = (off_t)(bit / 8);

	if (pread(fd, &byte, 1, at) != 1)
		return;
	changed = byte ^ (uint8_t)(1u << bit % 8);
	if (pwrite(fd, &changed, 1, at) != 1)
		return;
	if (!is_intact(b->db, b->key)) {
		b->found++;
	} else if (contents(b->db, after) && memcmp(after, b->before, sizeof after) == 0) {
		b->harmless++;
	} else {
		b->missed++;
		tap_note("bit %zu of byte %lld was not found", bit % 8, (long long)at);
	}
	if (pwrite(fd, &byte, 1, at) != 1)
		b->missed++;
}

/* Where the file has bytes other than zero: nearly all else is free space. */
static size_t *used_bytes(int fd, size_t size, size_t *n)
{
	uint8_t *bytes = malloc(size);
	size_t *places = calloc(size, sizeof *places);

	*n = 0;
	if (bytes && places && pread(fd, bytes, size, 0) == (ssize_t)size)
		for (size_t i = 0; i < size; i++)
			if (bytes[i])
				places[(*n)++] = i;
	free(bytes);
	if (*n)
		return places;
	free(places);
	return NULL;
}

static size_t coprime_near(size_t step, size_t n)
{
	for (;; step++) {
		size_t a = n;
		size_t b = step;

		while (b) {
			size_t rest = a % b;

			a = b;
			b = rest;
		}
		if (a == 1)
			return step;
	}
}

int main(void)
{
	char folder[] = "/tmp/wary-bits-XXXXXX";
	char db[64];
	char command[128];
	uint8_t key[1][ROWS_KEY_BYTES];
	struct bits b = {.db = db, .key = (const uint8_t(*)[ROWS_KEY_BYTES])key};
	struct stat st = {.st_size = 0};
	const char *patience = getenv("AUDIT_BITS_SECONDS");
	time_t end = time(NULL) + (patience ? (time_t)strtol(patience, NULL, 10) : SECONDS_MAX);
	char *why = NULL;
	size_t *places;
	size_t bits = 0;
	size_t step;
	size_t tried = 0;
	int fd;

	if (!mkdtemp(folder) || setenv("XDG_STATE_HOME", folder, 1) != 0)
		return 1;
	snprintf(db, sizeof db, "%s/a.db", folder);
	if (!make_store(db) || keys_machine_public(key[0], &why) != 0 || !contents(db, b.before))
		return 1;
	snprintf(command, sizeof command, "rm -f '%s.head'; rm -rf '%s/.a.db.live'", db, folder);
	if (system(command) != 0)
		return 1;
	fd = open(db, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return 1;
	tap_ok(is_intact(db, b.key), "the store is intact");
	places = used_bytes(fd, (size_t)st.st_size, &bits);
	if (!places)
		return 1;
	bits *= 8;
	step = coprime_near(bits / 5 * 3, bits);
	for (size_t bit = (size_t)getpid() % bits; tried < bits && time(NULL) <= end; tried++) {
		one_bit(&b, fd, places[bit / 8] * 8 + bit % 8);
		bit = (bit + step) % bits;
	}
	free(places);
	close(fd);
	tap_note("%zu of %zu bits: %zu found, %zu change nothing", tried, bits, b.found,
	         b.harmless);
	tap_ok(!b.missed && b.found, "every bit that changes anything is found");
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	if (system(command) != 0)
		tap_note("not removed: %s", folder);
	return tap_done();
}
