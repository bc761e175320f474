/* A session's beginning and end. */
#include "audit/audit_inside.h"
#include "audit/folder.h"

#include "audit/bus.h"
#include "audit/machine.h"
#include "audit/record.h"
#include "audit/recover.h"
#include "base/clock.h"
#include "base/own.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/uses.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

USES(eventfd2);

static int say(struct audit *a, int err, const char *what)
{
	struct buf b = BUF_INIT;

	if (a->why)
		return err;
	buf_str(&b, "the record ");
	text_printable(&b, a->db, strlen(a->db), 0);
	buf_fmt(&b, ": %s: %s", what, err_text(err));
	a->why = buf_take(&b);
	return err;
}

/* The session's key, certified by the machine's. */
static int make_keys(struct audit *a, const struct keys *machine)
{
	int err = keys_new(&a->key);

	if (!err)
		err = keys_chain_load(machine, &a->machine, &a->why);
	if (err)
		return err;
	a->signer = (struct rows_signer){.role = SIGNER_SESSION, .at_us = a->opened_us};
	memcpy(a->signer.public_key, a->key->public_key, ROWS_KEY_BYTES);
	return chain_certificate_sign(&a->signer, a->uuid, machine->secret);
}

static int make_journal(struct audit *a, const struct keys *machine)
{
	auto_buf folder = BUF_INIT;
	uint8_t seal_key[32];
	int err;

	folder_journals(&folder, a->db);
	if (!buf_text(&folder))
		return -ERR_NOMEM;
	keys_seal_key(machine, seal_key);
	err = journal_create(folder.data, a->uuid, a->mono_us, seal_key, &a->journal);
	sodium_memzero(seal_key, sizeof seal_key);
	return err;
}

static int open_all(struct audit *a)
{
	struct keys *machine = NULL;
	int err = store_open(a->db, STORE_CREATE, &a->store, &a->why);

	if (!err)
		err = keys_machine(true, &machine, &a->why);
	if (!err) {
		randombytes_buf(a->uuid, sizeof a->uuid);
		err = recover_all(a->store, machine, &a->why);
	}
	if (!err) {
		a->opened_us = clock_wall_ns() / 1000;
		a->mono_us = clock_mono_ns() / 1000;
		err = make_keys(a, machine);
		if (err)
			say(a, err, "no key for the session");
	}
	if (!err) {
		err = make_journal(a, machine);
		if (err)
			say(a, err, "the journal beside it cannot be made");
	}
	keys_free(machine);
	return err;
}

static void *opener_main(void *arg)
{
	struct audit *a = arg;

	a->open_err = open_all(a);
	return NULL;
}

int audit_open_begin(const char *db, struct audit **out)
{
	struct audit *a = calloc(1, sizeof *a);
	int err;

	if (!a)
		return -ERR_NOMEM;
	a->failed_fd = -1;
	err = bus_install();
	if (!err) {
		a->failed_fd = eventfd(0, EFD_CLOEXEC);
		a->db = strdup(db);
		if (a->failed_fd < 0 || !a->db)
			err = -ERR_NOMEM;
	}
	if (!err)
		err = thread_begin(&a->opener, NULL, opener_main, a);
	if (err) {
		audit_abandon(a);
		return err;
	}
	a->opener_runs = true;
	*out = a;
	return 0;
}

static void opener_join(struct audit *a)
{
	if (a->opener_runs)
		pthread_join(a->opener, NULL);
	a->opener_runs = false;
}

void audit_abandon(struct audit *a)
{
	opener_join(a);
	/* Once the session may be on record its journal is left to the next start,
	 * which closes it: a commit that failed may have come to the disk. */
	if (a->journal && !a->tried && journal_remove(a->journal) != 0)
		a->open_err = -ERR_SYS;
	journal_free(a->journal);
	batch_free(a->batch);
	store_close(a->store);
	keys_free(a->key);
	keys_chain_free(a->machine);
	fd_drop(&a->failed_fd);
	free(a->why);
	free(a->db);
	free(a);
}

static struct rows_text text_of(const char *s)
{
	return (struct rows_text){s ? s : "", s ? strlen(s) : 0};
}

/* The journal's first entry: from here on the journal alone could make the
 * session's row again. */
static int journal_opening(struct audit *a, const struct rows_opening *o,
                           const struct rows_text *texts)
{
	struct record_opening r = {
		.opened_us = o->opened_us,
		.mono_us = o->mono_us,
		.uid = o->uid,
		.sources_n = o->sources_n,
		.argv = o->argv,
		.cwd = o->cwd,
		.user = o->user,
		.host = o->host,
		.kernel = o->kernel,
		.version = o->version,
	};
	struct journal_frame f = {.type = RECORD_OPENING};
	auto_buf body = BUF_INIT;
	uint64_t index;
	int err;

	for (uint32_t i = 0; i < o->sources_n; i++) {
		r.source[i].name = o->sources[i].name;
		r.source[i].path = o->sources[i].path;
		r.source[i].text = texts[i];
	}
	record_opening_encode(&body, &r);
	if (!buf_text(&body))
		return -ERR_NOMEM;
	f.len_bytes = body.len_bytes;
	f.bytes = malloc(journal_entry_bytes(f.len_bytes));
	if (!f.bytes)
		return -ERR_NOMEM;
	memcpy(f.bytes + sizeof(struct journal_entry_head), body.data, body.len_bytes);
	err = journal_append(a->journal, &f, &index);
	free(f.bytes);
	return err;
}

static int put_session(struct audit *a, struct rows_opening *o, const struct rows_text *texts)
{
	int err = batch_begin(a->batch);

	if (err)
		return err;
	err = store_session_next(a->store, &o->id);
	if (!err)
		err = store_session_name(a->store, a->uuid, a->name);
	if (!err)
		err = machine_certify(a->store, &a->machine, &a->signer, a->uuid);
	if (!err) {
		o->name = text_of(a->name);
		batch_identify(a->batch, o->id, a->signer.id);
		err = store_put_session(a->store, o, a->signer.id, texts);
	}
	if (!err)
		err = batch_opening(a->batch, o);
	if (!err)
		err = journal_opening(a, o, texts);
	a->tried = !err;
	if (err)
		batch_rollback(a->batch);
	else
		err = batch_commit(a->batch);
	return err;
}

static int open_session(struct audit *a, const struct audit_session *s)
{
	struct batch_identity who = {
		.opened_us = a->opened_us,
		.mono_us = a->mono_us,
		.key = a->key,
		.next_seq = 1,
	};
	struct rows_source sources[ROWS_SOURCES_MAX];
	struct rows_text texts[ROWS_SOURCES_MAX];
	struct rows_opening o = {.sources = sources, .sources_n = (uint32_t)s->sources_n};
	auto_buf argv = BUF_INIT;
	auto_buf redacted_cwd = BUF_INIT;
	const char *cwd = s->cwd;
	int err;

	if (s->sources_n > ROWS_SOURCES_MAX)
		return -ERR_BOUND;
	for (size_t i = 0; i < s->sources_n; i++) {
		sources[i].name = text_of(s->sources[i].name);
		sources[i].path = text_of(s->sources[i].path);
		texts[i] = (struct rows_text){s->sources[i].text, s->sources[i].len_bytes};
		crypto_hash_sha256(sources[i].sha256, (const uint8_t *)s->sources[i].text,
		                   s->sources[i].len_bytes);
	}
	audit_quote_argv(a, s->argv, s->argc, &argv);
	audit_redact(a, &cwd, &redacted_cwd);
	if (!buf_text(&argv) || redacted_cwd.failed)
		return -ERR_NOMEM;
	memcpy(who.uuid, a->uuid, sizeof who.uuid);
	memcpy(o.uuid, a->uuid, sizeof o.uuid);
	memcpy(o.public_key, a->key->public_key, sizeof o.public_key);
	o.opened_us = a->opened_us;
	o.mono_us = a->mono_us;
	o.argv = (struct rows_text){argv.data ? argv.data : "", argv.len_bytes};
	o.cwd = text_of(cwd);
	o.user = text_of(s->user);
	o.host = text_of(s->host);
	o.kernel = text_of(s->kernel);
	o.version = text_of(s->version);
	o.uid = s->uid;
	err = batch_new(a->store, &who, &a->batch);
	return err ? err : put_session(a, &o, texts);
}

int audit_open_finish(struct audit *a, const struct audit_session *s, const char **why)
{
	int err;

	opener_join(a);
	err = a->open_err;
	if (!err && a->sync)
		err = store_sync_always(a->store);
	if (!err)
		err = open_session(a, s);
	keys_chain_free(ptr_take(a->machine));
	if (err && a->store && !a->why)
		a->why = store_explain(a->store, err);
	if (!err) {
		err = writer_start(a);
		if (err)
			say(a, err, "no thread for its writer");
	}
	if (err) {
		*why = a->why ? a->why : err_text(err);
	}
	return err;
}

int audit_close(struct audit *a, int status, const char *reason)
{
	int err;

	opener_join(a);
	a->closing.status = status;
	a->closing.reason = text_of(reason);
	err = writer_finish(a);
	audit_abandon(a);
	return err;
}
