/* audit/proof, audit/prove: rows of batches of every size are shown by a file alone;
 * no change of that file passes, nor does another machine's key. */
#include "audit/batch.h"
#include "audit/proof.h"
#include "audit/prove.h"
#include "audit/record.h"
#include "tests/unit/tap.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

struct made {
	struct store *store;
	struct keys *machine, *session;
	struct batch *batch;
	uint64_t rows;
};

static struct rows_text text(const char *s)
{
	return (struct rows_text){s, strlen(s)};
}

static int put_keys(struct made *m, const uint8_t *uuid, uint64_t *signer)
{
	struct rows_signer machine = {.role = SIGNER_MACHINE, .at_us = 1};
	struct rows_signer session = {.role = SIGNER_SESSION, .at_us = 2};
	int err;

	memcpy(machine.public_key, m->machine->public_key, ROWS_KEY_BYTES);
	memcpy(session.public_key, m->session->public_key, ROWS_KEY_BYTES);
	err = chain_certificate_sign(&machine, NULL, m->machine->secret);
	if (!err)
		err = store_put_signer(m->store, &machine);
	session.certified_by = machine.id;
	if (!err)
		err = chain_certificate_sign(&session, uuid, m->machine->secret);
	if (!err)
		err = store_put_signer(m->store, &session);
	*signer = session.id;
	return err;
}

/* The opening batch of a session. */
static int begin(struct made *m)
{
	static const struct rows_source source = {{"t.wary", 6}, {"/etc/t.wary", 11}, {0xaa}};
	static const struct rows_text policy = {"wary 1\n", 7};
	struct batch_identity who = {.opened_us = 1000000, .key = m->session, .next_seq = 1};
	struct rows_opening o = {
		.id = 1,
		.name = text("0102"),
		.opened_us = 1000000,
		.argv = text("make"),
		.cwd = text("/"),
		.user = text("ana"),
		.host = text("h"),
		.kernel = text("6"),
		.version = text("0"),
		.sources = &source,
		.sources_n = 1,
	};
	uint64_t signer = 0;
	int err;

	memcpy(who.uuid, "\1\2", 2);
	memcpy(o.uuid, who.uuid, sizeof o.uuid);
	memcpy(o.public_key, m->session->public_key, ROWS_KEY_BYTES);
	err = batch_new(m->store, &who, &m->batch);
	if (!err)
		err = batch_begin(m->batch);
	if (!err)
		err = put_keys(m, who.uuid, &signer);
	if (err)
		return err;
	batch_identify(m->batch, o.id, signer);
	err = store_put_session(m->store, &o, signer, &policy);
	if (!err)
		err = batch_opening(m->batch, &o);
	return err ? err : batch_commit(m->batch);
}

/* One batch of so many events: the names are known after the first of all. */
static int put_events(struct made *m, unsigned n)
{
	struct audit_event e = {
		.kind = AUDIT_DECISION,
		.class = CLASS_READ,
		.rule_file = "t.wary",
		.rule_line = 3,
		.rule_text = "allow read /usr/**",
		.pid = 7,
		.program = "/usr/bin/make",
		.syscall = "openat",
		.object = "/usr/include/a\nlong\x1b[31mfolder/stdio.h",
	};
	struct record r;
	int err = batch_begin(m->batch);

	for (unsigned i = 0; !err && i < n; i++) {
		e.reason = m->rows == 0 ? 5 : 0; /* the very first has a detail */
		err = record_from_event(&r, &e, NULL);
		if (!err)
			err = batch_event(m->batch, &r, i % 3 ? 0 : -2);
		m->rows++;
	}
	return err ? err : batch_commit(m->batch);
}

static struct proof *proof_of(struct made *m, uint64_t row, struct buf *file)
{
	struct proof *p = NULL;
	char *why = NULL;
	int err = prove_row(m->store, row, &p, &why);

	if (err)
		tap_note("row %llu: %s: %s", (unsigned long long)row, err_text(err),
		         why ? why : "");
	free(why);
	if (!err)
		proof_write(file, p);
	return p;
}

/* What a file shows by a key. */
static int shows(const char *bytes, size_t len, const uint8_t (*key)[ROWS_KEY_BYTES],
                 struct proof_rows *rows, struct proof **kept)
{
	struct proof *p = proof_new();
	const char *why = NULL;
	int err = p ? proof_read(bytes, len, p) : -ERR_NOMEM;

	if (!err)
		err = proof_check(p, key, 1, rows, &why);
	if (!err && kept)
		*kept = p;
	else
		proof_free(p);
	return err;
}

static bool round_trip(struct made *m, uint64_t row)
{
	struct proof_rows rows;
	struct proof *read = NULL;
	struct buf file = BUF_INIT;
	struct buf name = BUF_INIT;
	struct proof *p = proof_of(m, row, &file);
	bool right =
		p && buf_text(&file) &&
		shows(file.data, file.len_bytes,
	              (const uint8_t(*)[ROWS_KEY_BYTES])m->machine->public_key, &rows, &read) == 0;

	right = right && rows.event.id == row && rows.event.seq == row && rows.act.rule_line == 3 &&
	        rows.actor.pid == 7 && rows.detail.reason == (row == 1 ? 5 : 0) &&
	        proof_text(&name, &rows, rows.event.object) && buf_text(&name) &&
	        strcmp(name.data, "/usr/include/a\nlong\x1b[31mfolder/stdio.h") == 0;
	proof_free(p);
	proof_free(read);
	buf_free(&file);
	buf_free(&name);
	return right;
}

static void check_sizes(struct made *m)
{
	static const unsigned sizes[] = {1, 2, 3, 4, 5, 7, 64, 65, 1001, 1};

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		uint64_t first = m->rows + 1;
		uint64_t n = sizes[i];
		bool right = put_events(m, sizes[i]) == 0;

		tap_ok(right && round_trip(m, first) && round_trip(m, first + n / 2) &&
		               round_trip(m, first + n - 1),
		       "first, middle and last row of a batch of %u", sizes[i]);
	}
}

static void check_refused(struct made *m)
{
	struct proof_rows rows;
	struct proof *p = NULL;
	struct buf file = BUF_INIT;
	uint8_t other[1][ROWS_KEY_BYTES];
	char *why = NULL;

	tap_is_int(prove_row(m->store, 0, &p, &why), -ERR_NOTFOUND, "there is no row 0");
	tap_is_int(prove_row(m->store, m->rows + 1, &p, &why), -ERR_NOTFOUND,
	           "nor one after the last");
	p = proof_of(m, 2, &file);
	memcpy(other[0], m->session->public_key, sizeof other[0]);
	tap_ok(buf_text(&file) && shows(file.data, file.len_bytes, (const void *)other, &rows,
	                                NULL) == -ERR_CRYPTO,
	       "a proof is refused by another key");
	proof_free(p);
	buf_free(&file);
}

/* Every byte of the file, made another: refused, or the same said otherwise. */
static void check_bytes(struct made *m)
{
	struct proof_rows rows;
	struct buf file = BUF_INIT;
	struct proof *p = proof_of(m, 2, &file);
	size_t passed = 0;
	size_t refused = 0;
	const char *bytes = buf_text(&file);

	for (size_t i = 0; bytes && i < file.len_bytes; i++) {
		struct proof *read = NULL;
		struct buf again = BUF_INIT;
		char was = file.data[i];

		file.data[i] = (char)(was ^ (i % 2 ? 1 : 4));
		if (shows(file.data, file.len_bytes,
		          (const uint8_t(*)[ROWS_KEY_BYTES])m->machine->public_key, &rows,
		          &read) != 0) {
			refused++;
			file.data[i] = was;
			continue;
		}
		file.data[i] = was;
		proof_write(&again, read);
		passed += again.len_bytes != file.len_bytes ||
		          memcmp(again.data, file.data, file.len_bytes) != 0;
		proof_free(read);
		buf_free(&again);
	}
	tap_ok(refused > 0 && !passed,
	       "every byte of a file of %zu, changed, is found (%zu refused)", file.len_bytes,
	       refused);
	for (size_t n = 0; bytes && n < file.len_bytes - 2; n += 7)
		passed += shows(file.data, n,
		                (const uint8_t(*)[ROWS_KEY_BYTES])m->machine->public_key, &rows,
		                NULL) == 0;
	tap_ok(!passed, "and whatever is cut off");
	proof_free(p);
	buf_free(&file);
}

/* True parts put together to say something else. */
static void check_mixed(struct made *m)
{
	struct proof_rows rows;
	struct buf file = BUF_INIT;
	struct proof *a = proof_of(m, 2, &file);
	struct proof *b = proof_of(m, 4, &file);
	const uint8_t(*key)[ROWS_KEY_BYTES] =
		(const uint8_t(*)[ROWS_KEY_BYTES])m->machine->public_key;
	const char *why = NULL;
	struct proof_leaf leaf;

	if (!a || !b)
		return;
	a->row = 4;
	tap_is_int(proof_check(a, key, 1, &rows, &why), -ERR_CRYPTO, "a proof of another row");
	a->row = 2;
	a->leaves[0].checkpoint = b->leaves[0].checkpoint;
	tap_ok(proof_check(a, key, 1, &rows, &why) != 0, "a row in another batch");
	a->leaves[0].checkpoint = a->points[0].id;
	tap_is_int(proof_check(a, key, 1, &rows, &why), 0, "as it was");
	leaf = a->leaves[--a->leaves_n];
	tap_ok(proof_check(a, key, 1, &rows, &why) != 0, "a name left out");
	a->leaves[a->leaves_n++] = leaf;
	a->keys_n--;
	tap_ok(proof_check(a, key, 1, &rows, &why) != 0, "the machine's key left out");
	a->keys_n++;
	a->points_n--;
	tap_ok(proof_check(a, key, 1, &rows, &why) != 0, "a checkpoint left out");
	a->points_n++;
	tap_is_int(proof_check(a, key, 0, &rows, &why), -ERR_CRYPTO, "nobody trusted");
	proof_free(a);
	proof_free(b);
	buf_free(&file);
}

/* What is not as it was signed is not proven. */
static void check_changed(struct made *m)
{
	struct proof *p = NULL;
	char *why = NULL;
	int rc = sqlite3_exec(store_db(m->store),
	                      "UPDATE event SET took_us = took_us + 1 WHERE id = 5", NULL, NULL,
	                      NULL);

	tap_is_int(rc, 0, "a row is changed");
	tap_is_int(prove_row(m->store, 5, &p, &why), -ERR_DAMAGED, "no proof of it");
	tap_ok(why && strstr(why, "row 5"), "says why: %s", why ? why : "");
	free(why);
	why = NULL;
	tap_is_int(prove_row(m->store, 6, &p, &why), -ERR_DAMAGED, "nor of one in its batch");
	free(why);
	tap_ok(round_trip(m, m->rows), "but of one in another");
}

int main(void)
{
	char folder[] = "/tmp/wary-proof-XXXXXX";
	char db[64];
	char command[128];
	char *why = NULL;
	struct made m = {.rows = 0};

	if (!mkdtemp(folder))
		return 1;
	snprintf(db, sizeof db, "%s/a.db", folder);
	if (keys_new(&m.machine) != 0 || keys_new(&m.session) != 0 ||
	    store_open(db, STORE_CREATE, &m.store, &why) != 0 || begin(&m) != 0)
		return 1;
	check_sizes(&m);
	check_refused(&m);
	check_bytes(&m);
	check_mixed(&m);
	check_changed(&m);
	batch_free(m.batch);
	store_close(m.store);
	keys_free(m.machine);
	keys_free(m.session);
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	if (system(command) != 0)
		tap_note("not removed: %s", folder);
	return tap_done();
}
