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

/* How it opens.  The store is read in one thread (the opener), the keys are read and made in
 * another; the opener then recovers what earlier sessions left, makes the journal, and puts
 * the session on record as soon as it is told of it.  Neither needs the policy's end, nor
 * what else a start makes meanwhile. */

struct keys_made {
	struct audit *audit;
	struct keys *machine;
	char *why;
	bool no_session_key; /* what failed is not the machine's */
	int err;
};

/* The session's key, certified by the machine's. */
static int make_keys(struct audit *a, struct keys_made *k)
{
	int err = keys_new(&a->key);

	if (!err)
		err = keys_chain_load(k->machine, &a->machine, &k->why);
	if (err)
		return err;
	randombytes_buf(a->uuid, sizeof a->uuid);
	a->signer = (struct rows_signer){.role = SIGNER_SESSION, .at_us = clock_wall_ns() / 1000};
	memcpy(a->signer.public_key, a->key->public_key, ROWS_KEY_BYTES);
	return chain_certificate_sign(&a->signer, a->uuid, k->machine->secret);
}

static void *keys_main(void *arg)
{
	struct keys_made *k = arg;

	k->err = keys_machine(true, &k->machine, &k->why);
	if (!k->err) {
		k->err = make_keys(k->audit, k);
		k->no_session_key = k->err != 0;
	}
	return NULL;
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

/* The store's failure is told before the keys'. */
static int open_store_and_keys(struct audit *a, struct keys_made *k)
{
	pthread_t thread;
	bool beside = thread_begin(&thread, NULL, keys_main, k) == 0;
	int err = store_open(a->db, STORE_CREATE, &a->store, &a->why);

	if (beside)
		pthread_join(thread, NULL);
	else if (!err)
		(void)keys_main(k);
	if (err)
		return err;
	a->why = ptr_take(k->why);
	return k->no_session_key ? say(a, k->err, "no key for the session") : k->err;
}

static int open_all(struct audit *a)
{
	struct keys_made k = {.audit = a};
	int err = open_store_and_keys(a, &k);

	if (!err)
		err = recover_all(a->store, k.machine, &a->why);
	if (!err) {
		a->opened_us = clock_wall_ns() / 1000;
		a->mono_us = clock_mono_ns() / 1000;
		err = make_journal(a, k.machine);
		if (err)
			say(a, err, "the journal beside it cannot be made");
	}
	keys_free(k.machine);
	free(k.why);
	return err;
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

/* Waits until it is known which session is to be opened; NULL: none. */
static const struct audit_session *be_told(struct audit *a)
{
	const struct audit_session *s;

	pthread_mutex_lock(&a->told_lock);
	while (!a->told_all)
		pthread_cond_wait(&a->told_changed, &a->told_lock);
	s = a->told;
	pthread_mutex_unlock(&a->told_lock);
	return s;
}

static void *opener_main(void *arg)
{
	struct audit *a = arg;
	const struct audit_session *s = NULL;
	int err = open_all(a);

	if (!err)
		s = be_told(a);
	if (s && a->sync)
		err = store_sync_always(a->store);
	if (s && !err)
		err = open_session(a, s);
	keys_chain_free(ptr_take(a->machine));
	if (err && a->store && !a->why)
		a->why = store_explain(a->store, err);
	a->open_err = err;
	return NULL;
}

int audit_open_begin(const char *db, struct audit **out)
{
	struct audit *a = calloc(1, sizeof *a);
	int err;

	if (!a)
		return -ERR_NOMEM;
	a->failed_fd = -1;
	invariant(pthread_mutex_init(&a->told_lock, NULL) == 0);
	invariant(pthread_cond_init(&a->told_changed, NULL) == 0);
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

void audit_open_session(struct audit *a, const struct audit_session *s)
{
	pthread_mutex_lock(&a->told_lock);
	if (!a->told_all)
		a->told = s;
	a->told_all = true;
	pthread_cond_broadcast(&a->told_changed);
	pthread_mutex_unlock(&a->told_lock);
}

/* Whoever was not told of a session by now opens none. */
static void opener_join(struct audit *a)
{
	audit_open_session(a, NULL);
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
	pthread_cond_destroy(&a->told_changed);
	pthread_mutex_destroy(&a->told_lock);
	free(a->why);
	free(a->db);
	free(a);
}

int audit_open_finish(struct audit *a, const struct audit_session *s, const char **why)
{
	int err;

	if (s)
		audit_open_session(a, s);
	opener_join(a);
	err = a->open_err;
	if (!err) {
		err = writer_start(a);
		if (err)
			say(a, err, "no thread for its writer");
	}
	if (err)
		*why = a->why ? a->why : err_text(err);
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
