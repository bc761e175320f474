#include "audit/recover.h"
#include "audit/folder.h"

#include "audit/batch.h"
#include "audit/head.h"
#include "audit/life.h"
#include "audit/machine.h"
#include "audit/record.h"
#include "audit/replay.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "base/uses.h"

#include <dirent.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

USES(flock, getdents64, open_any, renameat, unlinkat);

/* What becomes of a journal; not an error. */
enum fate {
	FATE_DONE,  /* it is of no more use */
	FATE_ASIDE, /* it cannot be recovered, and is kept */
	FATE_LEAVE, /* it is the next start's */
};

/* One dead session. */
struct recovery {
	struct store *store;
	const struct keys *machine;
	struct keys_chain *chain;
	struct replay *replay;
	struct store_session session;
	struct keys *key;
	struct rows_signer signer;
	struct batch *batch;
	struct rows_closing closing;
	uint64_t unreadable; /* entries that verify but are of no known form */
	/* The first two entries, where they had to be looked at. */
	uint8_t *opening;
	size_t opening_len_bytes;
	bool holds;
	struct journal_entry held;
	uint64_t held_index;
};

static int next_entry(struct recovery *r, uint64_t *index, struct journal_entry *e, bool *there)
{
	if (!r->holds)
		return replay_next(r->replay, index, e, there);
	*index = r->held_index;
	*e = r->held;
	*there = true;
	r->holds = false;
	return 0;
}

static int make_signer(struct recovery *r, const uint8_t *uuid)
{
	int err = keys_new(&r->key);

	if (err)
		return err;
	r->signer = (struct rows_signer){
		.role = SIGNER_RECOVERY,
		.at_us = clock_wall_ns() / 1000,
	};
	memcpy(r->signer.public_key, r->key->public_key, sizeof r->signer.public_key);
	return chain_certificate_sign(&r->signer, uuid, r->machine->secret);
}

static int make_batch(struct recovery *r, const uint8_t *uuid)
{
	struct batch_identity who = {
		.session = r->session.id,
		.opened_us = r->session.opened_us,
		.mono_us = r->session.mono_us,
		.key = r->key,
		.next_seq = r->session.next_seq,
		.journal = r->session.journal,
		.recovered = true,
	};

	memcpy(who.uuid, uuid, sizeof who.uuid);
	memcpy(who.chain.bytes, r->session.chain, sizeof who.chain.bytes);
	return batch_new(r->store, &who, &r->batch);
}

/* The recovery's key, in the first of its batches; the machine's may be lost with the
 * session's row. */
static int put_signer(struct recovery *r, const uint8_t *uuid)
{
	int err = machine_certify(r->store, &r->chain, &r->signer, uuid);

	if (!err)
		batch_identify(r->batch, r->session.id, r->signer.id);
	return err;
}

/* Feeds one batch. @done: set where the journal has no more. */
static int feed(struct recovery *r, bool *done)
{
	while (!batch_full(r->batch)) {
		struct journal_entry e;
		uint64_t index = 0;
		bool there = false;
		int err = next_entry(r, &index, &e, &there);

		if (err)
			return err;
		if (!there) {
			*done = true;
			return 0;
		}
		err = batch_entry(r->batch, index, &e);
		if (err == -ERR_FORMAT)
			r->unreadable++;
		else if (err)
			return err;
	}
	return 0;
}

/* What the recovery itself has to say. */
static int put_summary(struct recovery *r, uint64_t lost)
{
	char text[128];
	struct audit_event e = {
		.kind = AUDIT_SESSION,
		.class = CLASS_SYSCALL,
		.answer = ANSWER_ALLOW,
		.object = life_name(LIFE_RECOVERED),
		.object2 = text,
		.reason = LIFE_RECOVERED,
	};
	struct record record;
	int err;

	snprintf(text, sizeof text, "%llu entries of the journal lost", (unsigned long long)lost);
	err = record_from_event(&record, &e, NULL);
	if (err)
		return err;
	record.head.mono_ns = clock_mono_ns();
	return batch_event(r->batch, &record, 0);
}

static int seal(struct recovery *r)
{
	struct batch_totals totals;
	uint64_t lost = replay_lost(r->replay) + r->unreadable + batch_orphans(r->batch);
	int err = put_summary(r, lost);

	batch_totals(r->batch, &totals);
	r->closing.decisions += totals.decisions;
	r->closing.refused += totals.refused;
	r->closing.asked += totals.asked;
	r->closing.grants += totals.grants;
	r->closing.status = -1;
	r->closing.reason = (struct rows_text){"recovered", strlen("recovered")};
	return err ? err : batch_close(r->batch, &r->closing);
}

/* One batch. @sealed: set where it was the last. */
static int fill(struct recovery *r, const uint8_t *uuid, bool *sealed)
{
	bool done = false;
	int err = r->signer.id ? 0 : put_signer(r, uuid);

	if (!err)
		err = feed(r, &done);
	*sealed = !err && done && batch_unknown_fits(r->batch);
	if (*sealed)
		err = batch_unknown(r->batch);
	return !err && *sealed ? seal(r) : err;
}

static int run(struct recovery *r, const uint8_t *uuid)
{
	struct anchor seen;
	bool sealed = false;
	int err = store_session_counts(r->store, r->session.id, &r->closing);

	while (!err && !sealed) {
		err = batch_begin(r->batch);
		if (err)
			return err;
		err = fill(r, uuid, &sealed);
		if (err)
			batch_rollback(r->batch);
		else
			err = batch_commit(r->batch);
	}
	if (!err)
		err = batch_anchor(r->batch, &seen);
	if (!err && head_write(store_path(r->store), &seen) != 0)
		log_detail("the record's head could not be written: %s", strerrordesc_np(errno));
	return err;
}

/* Looks at the first entries of a journal whose session is not on record.
 * @more: whether anything was decided. */
static int look(struct recovery *r, bool *more)
{
	struct journal_entry e;
	uint64_t index = 0;
	int err = replay_next(r->replay, &index, &e, more);

	if (err || !*more || index || e.head.type != RECORD_OPENING)
		return err;
	r->opening = malloc(e.head.len_bytes + 1u);
	if (!r->opening)
		return -ERR_NOMEM;
	memcpy(r->opening, e.body, e.head.len_bytes);
	r->opening_len_bytes = e.head.len_bytes;
	err = replay_next(r->replay, &r->held_index, &r->held, more);
	r->holds = !err && *more;
	return err;
}

static void rows_of_opening(const struct record_opening *from, struct rows_opening *to,
                            struct rows_source *sources, struct rows_text *texts)
{
	to->opened_us = from->opened_us;
	to->mono_us = from->mono_us;
	to->argv = from->argv;
	to->cwd = from->cwd;
	to->user = from->user;
	to->host = from->host;
	to->kernel = from->kernel;
	to->version = from->version;
	to->uid = from->uid;
	to->sources = sources;
	to->sources_n = from->sources_n;
	for (uint32_t i = 0; i < from->sources_n; i++) {
		sources[i].name = from->source[i].name;
		sources[i].path = from->source[i].path;
		texts[i] = from->source[i].text;
		crypto_hash_sha256(sources[i].sha256, (const uint8_t *)texts[i].bytes,
		                   texts[i].len_bytes);
	}
}

/* The session's row, which was lost, made again: its opening record is then the
 * recovery's. */
static int put_opening(struct recovery *r, struct rows_opening *o, const struct rows_text *texts,
                       char *name)
{
	int err = batch_begin(r->batch);

	if (err)
		return err;
	err = store_session_next(r->store, &r->session.id);
	if (!err)
		err = store_session_name(r->store, o->uuid, name);
	if (!err)
		err = put_signer(r, o->uuid);
	o->id = r->session.id;
	o->name = (struct rows_text){name, strlen(name)};
	if (!err)
		err = store_put_session(r->store, o, r->signer.id, texts);
	if (!err)
		err = batch_opening(r->batch, o);
	if (err)
		batch_rollback(r->batch);
	else
		err = batch_commit(r->batch);
	return err;
}

static int reopen(struct recovery *r, const uint8_t *uuid)
{
	char name[2 * ROWS_UUID_BYTES + 1] = "";
	struct record_opening from;
	struct rows_opening o = {.id = 0};
	struct rows_source sources[ROWS_SOURCES_MAX];
	struct rows_text texts[ROWS_SOURCES_MAX];
	int err = record_opening_decode(&from, r->opening, r->opening_len_bytes);

	if (err)
		return err;
	rows_of_opening(&from, &o, sources, texts);
	memcpy(o.uuid, uuid, sizeof o.uuid);
	memcpy(o.public_key, r->key->public_key, sizeof o.public_key);
	r->session = (struct store_session){
		.opened_us = o.opened_us,
		.mono_us = o.mono_us,
		.next_seq = 1,
	};
	err = make_batch(r, uuid);
	return err ? err : put_opening(r, &o, texts, name);
}

static int recover_known(struct recovery *r, const uint8_t *uuid)
{
	int err = r->session.closed ? 0 : make_signer(r, uuid);

	if (err || r->session.closed)
		return err;
	err = make_batch(r, uuid);
	return err ? err : run(r, uuid);
}

/* As recover_journal. */
static int recover_lost(struct recovery *r, const uint8_t *uuid, const char **why)
{
	bool more = false;
	int err = look(r, &more);

	if (err || !more)
		return err; /* nothing was decided: it was not on record for that */
	if (!r->opening) {
		*why = "its session is not in the record";
		return FATE_ASIDE;
	}
	err = make_signer(r, uuid);
	if (!err)
		err = reopen(r, uuid);
	return err ? err : run(r, uuid);
}

/* By the machine's key, or by one that it had when the session began. */
static int unseal(struct recovery *r, int fd)
{
	static const uint8_t none[KEYS_SEAL_BYTES];
	uint8_t seal_key[KEYS_SEAL_BYTES];
	int err;

	keys_seal_key(r->machine, seal_key);
	err = replay_open(fd, seal_key, &r->replay);
	sodium_memzero(seal_key, sizeof seal_key);
	for (size_t i = r->chain->known_n; err == -ERR_CRYPTO && i-- > 0;)
		if (sodium_memcmp(r->chain->links[i].seal, none, sizeof none) != 0)
			err = replay_open(fd, r->chain->links[i].seal, &r->replay);
	return err;
}

/* Returns an enum fate, or an error. */
static int recover_journal(struct store *s, const struct keys *machine, int fd, const char **why)
{
	struct recovery r = {.store = s, .machine = machine};
	auto_free char *no_chain = NULL;
	bool there = false;
	const uint8_t *uuid;
	int err = keys_chain_load(machine, &r.chain, &no_chain);

	if (err)
		return err == -ERR_NOTFOUND ? -ERR_PERM : err;
	err = unseal(&r, fd);
	if (err)
		keys_chain_free(r.chain);
	if (err == -ERR_NOTFOUND)
		return FATE_DONE;
	/* It may be of a session that began with the key that has replaced this one. */
	if (err == -ERR_CRYPTO && !keys_is_current(machine->public_key))
		return FATE_LEAVE;
	if (err == -ERR_CRYPTO) {
		*why = "it was made with another machine's key";
		return FATE_ASIDE;
	}
	if (err)
		return err;
	uuid = replay_header(r.replay)->uuid;
	err = store_session_find(s, uuid, &r.session, &there);
	if (!err)
		err = there ? recover_known(&r, uuid) : recover_lost(&r, uuid, why);
	free(r.opening);
	keys_chain_free(r.chain);
	batch_free(r.batch);
	keys_free(r.key);
	replay_free(r.replay);
	return err;
}

/* Out of the way of the next start, and kept for whoever looks into it. */
static void set_aside(int folder_fd, const char *name, const char *why)
{
	char aside[96];

	snprintf(aside, sizeof aside, "kept-%.64s", name);
	if (renameat(folder_fd, name, folder_fd, aside) == 0)
		log_error("the journal of a session that died cannot be recovered: %s; it was "
		          "kept as %s beside the record",
		          why, aside);
}

static int recover_file(struct store *s, const struct keys *machine, int folder_fd,
                        const char *name)
{
	auto_fd fd = openat(folder_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	const char *why = NULL;
	struct stat st;
	int err;

	if (fd < 0)
		return errno == ENOENT ? 0 : -ERR_PERM;
	/* Held by its session as long as that lives, or by another recovery. */
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		return errno == EWOULDBLOCK ? 0 : -ERR_SYS;
	if (fstat(fd, &st) != 0)
		return -ERR_SYS;
	if (!S_ISREG(st.st_mode) || !st.st_nlink)
		return 0;
	err = recover_journal(s, machine, fd, &why);
	if (err == FATE_ASIDE)
		set_aside(folder_fd, name, why);
	if (err > FATE_DONE)
		return 0;
	if (!err && unlinkat(folder_fd, name, 0) != 0 && errno != ENOENT)
		return -ERR_PERM;
	return err;
}

static int explain(int err, const char *path, char **why)
{
	struct buf b = BUF_INIT;

	buf_str(&b, "the journal of a session that died cannot be recovered into ");
	text_printable(&b, path, strlen(path), 0);
	buf_fmt(&b, ": %s", err_text(err));
	*why = buf_take(&b);
	return err;
}

int recover_all(struct store *s, const struct keys *machine, char **why)
{
	auto_buf folder = BUF_INIT;
	const struct dirent *d;
	DIR *dir;
	int err = 0;

	folder_journals(&folder, store_path(s));
	if (!buf_text(&folder))
		return -ERR_NOMEM;
	dir = opendir(folder.data);
	if (!dir)
		return errno == ENOENT ? 0 : explain(-ERR_PERM, folder.data, why);
	while (!err && (d = readdir(dir)))
		if (folder_is_journal(d->d_name))
			err = recover_file(s, machine, dirfd(dir), d->d_name);
	closedir(dir);
	return err ? explain(err, store_path(s), why) : 0;
}

int recover_store(const char *db, char **why)
{
	struct keys *machine = NULL;
	struct store *s = NULL;
	int err;

	*why = NULL;
	if (!folder_any_journal(db, NULL))
		return 0;
	err = keys_machine(false, &machine, why);
	if (!err)
		err = store_open(db, STORE_WRITE, &s, why);
	if (!err)
		err = recover_all(s, machine, why);
	store_close(s);
	keys_free(machine);
	return err;
}
