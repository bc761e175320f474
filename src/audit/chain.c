#include "audit/chain.h"

#include <endian.h>
#include <sodium.h>
#include <string.h>

#define CHECKPOINT_TAG "wary checkpoint 1"
#define CERTIFICATE_TAG "wary certificate 1"
#define TOMBSTONE_TAG "wary tombstone 1"

static const char *const role_names[] = {
	[SIGNER_MACHINE] = "machine",
	[SIGNER_SESSION] = "session",
	[SIGNER_RECOVERY] = "recovery",
};
#define ROLE_NAMES (sizeof role_names / sizeof role_names[0])

const char *signer_role_name(unsigned role)
{
	return role < ROLE_NAMES ? role_names[role] : NULL;
}

unsigned signer_role_find(const char *word)
{
	for (unsigned i = SIGNER_MACHINE; i < ROLE_NAMES; i++)
		if (strcmp(role_names[i], word) == 0)
			return i;
	return 0;
}

static uint64_t get_u64(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof v);
	return le64toh(v);
}

uint64_t rows_source_id(const uint8_t sha256[32])
{
	return get_u64(sha256) & INT64_MAX;
}

/* Most rows are no longer: one block, and one call of libsodium instead of one for each field. */
#define LEAF_SHORT_BYTES 128

/* A leaf under way. BLAKE2b cannot fail on arguments of the right size. */
struct leaf {
	struct buf *copy; /* gets the bytes too, or NULL */
	bool is_hashed;
	size_t len_bytes; /* of all of it */
	uint8_t bytes[LEAF_SHORT_BYTES];
	crypto_generichash_state state; /* of one that is longer */
};

static void leaf_hash(struct leaf *l, const void *bytes, size_t len_bytes)
{
	invariant(crypto_generichash_update(&l->state, bytes, len_bytes) == 0);
}

static void leaf_bytes(struct leaf *l, const void *bytes, size_t len_bytes)
{
	size_t before = l->len_bytes;

	if (l->copy)
		buf_add(l->copy, bytes, len_bytes);
	if (!l->is_hashed)
		return;
	l->len_bytes += len_bytes;
	if (l->len_bytes <= sizeof l->bytes) {
		memcpy(l->bytes + before, bytes, len_bytes);
		return;
	}
	if (before <= sizeof l->bytes) {
		invariant(crypto_generichash_init(&l->state, NULL, 0, ROWS_HASH_BYTES) == 0);
		leaf_hash(l, l->bytes, before);
	}
	leaf_hash(l, bytes, len_bytes);
}

static void leaf_u64(struct leaf *l, uint64_t v)
{
	v = htole64(v);
	leaf_bytes(l, &v, sizeof v);
}

static void leaf_u32(struct leaf *l, uint32_t v)
{
	v = htole32(v);
	leaf_bytes(l, &v, sizeof v);
}

static void leaf_text(struct leaf *l, const struct rows_text *t)
{
	invariant(t->len_bytes <= UINT32_MAX);
	leaf_u32(l, (uint32_t)t->len_bytes);
	if (t->len_bytes)
		leaf_bytes(l, t->bytes, t->len_bytes);
}

static void leaf_begin(struct leaf *l, char tag, const struct chain_hash *prev, struct buf *copy)
{
	static const struct chain_hash none;

	l->copy = copy;
	l->is_hashed = prev != NULL;
	l->len_bytes = 0;
	leaf_bytes(l, &tag, 1);
	leaf_bytes(l, prev ? prev->bytes : none.bytes, ROWS_HASH_BYTES);
}

static void leaf_end(struct leaf *l, struct chain_hash *out)
{
	if (!out) /* then nothing is hashed: leaf_begin had no hash to begin from */
		return;
	if (l->len_bytes <= sizeof l->bytes)
		invariant(crypto_generichash(out->bytes, sizeof out->bytes, l->bytes, l->len_bytes,
		                             NULL, 0) == 0);
	else
		invariant(crypto_generichash_final(&l->state, out->bytes, sizeof out->bytes) == 0);
}

void chain_opening(struct chain_hash *chain, const struct rows_opening *row, struct buf *copy)
{
	const struct rows_text *const texts[] = {&row->argv, &row->cwd,    &row->user,
	                                         &row->host, &row->kernel, &row->version};
	struct leaf l;

	leaf_begin(&l, 'O', chain, copy);
	leaf_bytes(&l, row->uuid, sizeof row->uuid);
	leaf_u64(&l, row->id);
	leaf_text(&l, &row->name);
	leaf_u64(&l, row->opened_us);
	leaf_u64(&l, row->mono_us);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		leaf_text(&l, texts[i]);
	leaf_u32(&l, row->uid);
	leaf_bytes(&l, row->public_key, sizeof row->public_key);
	leaf_u32(&l, row->sources_n);
	for (uint32_t i = 0; i < row->sources_n; i++) {
		leaf_text(&l, &row->sources[i].name);
		leaf_text(&l, &row->sources[i].path);
		leaf_bytes(&l, row->sources[i].sha256, sizeof row->sources[i].sha256);
	}
	leaf_end(&l, chain);
}

void chain_string(struct chain_hash *chain, const struct rows_string *row, struct buf *copy)
{
	struct leaf l;

	leaf_begin(&l, 'S', chain, copy);
	leaf_u64(&l, row->id);
	leaf_u64(&l, row->prefix);
	leaf_text(&l, &row->text);
	leaf_end(&l, chain);
}

void chain_actor(struct chain_hash *chain, const struct rows_actor *row, struct buf *copy)
{
	struct leaf l;

	leaf_begin(&l, 'P', chain, copy);
	leaf_u64(&l, row->id);
	leaf_u32(&l, row->pid);
	leaf_u32(&l, row->tid);
	leaf_u32(&l, row->ppid);
	leaf_u32(&l, row->uid);
	leaf_u64(&l, row->program);
	leaf_end(&l, chain);
}

void chain_act(struct chain_hash *chain, const struct rows_act *row, struct buf *copy)
{
	struct leaf l;

	leaf_begin(&l, 'A', chain, copy);
	leaf_u64(&l, row->id);
	leaf_u64(&l, row->flags);
	leaf_u64(&l, row->rule_file);
	leaf_u64(&l, row->rule_line);
	leaf_u64(&l, row->rule_text);
	leaf_text(&l, &row->kind);
	leaf_text(&l, &row->class);
	leaf_text(&l, &row->syscall);
	leaf_text(&l, &row->answer);
	leaf_text(&l, &row->judge);
	leaf_end(&l, chain);
}

void chain_detail(struct chain_hash *chain, const struct rows_detail *row, struct buf *copy)
{
	struct leaf l;
	uint8_t has = row->has_sha256;

	leaf_begin(&l, 'D', chain, copy);
	leaf_u64(&l, row->id);
	leaf_u64(&l, row->object2);
	leaf_u64(&l, row->cwd);
	leaf_u64(&l, row->argv);
	leaf_u64(&l, row->stack);
	leaf_u64(&l, (uint64_t)row->reason);
	leaf_bytes(&l, &has, 1);
	if (has)
		leaf_bytes(&l, row->sha256, sizeof row->sha256);
	leaf_end(&l, chain);
}

/* There are more of these than of all others: 106 bytes, or 122, one block of
 * BLAKE2b, in one call.  Version 1 of the schema has no rows of the second kind,
 * and those of the first are the same in both. */
void chain_event(struct chain_hash *chain, const struct rows_event *row, struct buf *copy)
{
	const uint64_t words[] = {htole64(row->id),      htole64(row->seq),   htole64(row->at_us),
	                          htole64(row->took_us), htole64(row->actor), htole64(row->act),
	                          htole64(row->object),  htole64(row->detail)};
	const uint64_t result = htole64(row->known ? (uint64_t)row->result : 0);
	const uint64_t size[] = {htole64(row->size_before), htole64(row->links_left)};
	uint8_t bytes[1 + ROWS_HASH_BYTES + sizeof words + 1 + sizeof result + sizeof size];
	size_t len_bytes = sizeof bytes - (row->has_size ? 0 : sizeof size);
	uint8_t *at = bytes;

	*at++ = 'E';
	if (chain)
		memcpy(at, chain->bytes, sizeof chain->bytes);
	else
		memset(at, 0, sizeof chain->bytes);
	at += sizeof chain->bytes;
	memcpy(at, words, sizeof words);
	at += sizeof words;
	*at++ = (uint8_t)((row->known ? CHAIN_EVENT_KNOWN : 0) |
	                  (row->has_size ? CHAIN_EVENT_HAS_SIZE : 0));
	memcpy(at, &result, sizeof result);
	at += sizeof result;
	if (row->has_size)
		memcpy(at, size, sizeof size);
	if (copy)
		buf_add(copy, bytes, len_bytes);
	if (chain)
		invariant(crypto_generichash(chain->bytes, sizeof chain->bytes, bytes, len_bytes,
		                             NULL, 0) == 0);
}

void chain_closing(struct chain_hash *chain, const struct rows_closing *row, struct buf *copy)
{
	struct leaf l;

	leaf_begin(&l, 'C', chain, copy);
	leaf_u64(&l, row->session);
	leaf_u64(&l, row->at_us);
	leaf_u64(&l, (uint64_t)row->status);
	leaf_u64(&l, row->decisions);
	leaf_u64(&l, row->refused);
	leaf_u64(&l, row->asked);
	leaf_u64(&l, row->grants);
	leaf_u64(&l, row->dropped);
	leaf_text(&l, &row->reason);
	leaf_end(&l, chain);
}

int64_t chain_mark(const struct chain_hash *leaf)
{
	return (int64_t)get_u64(leaf->bytes);
}

void chain_checkpoint_message(struct buf *out, const struct rows_checkpoint *c)
{
	buf_add(out, CHECKPOINT_TAG, sizeof CHECKPOINT_TAG);
	buf_add(out, c->prev, sizeof c->prev);
	buf_u64(out, c->id);
	buf_u64(out, c->session);
	buf_add(out, c->uuid, sizeof c->uuid);
	buf_u32(out, c->kind);
	buf_u64(out, c->at_us);
	buf_u64(out, (uint64_t)c->skew_us);
	for (unsigned t = 0; t < ROWS_TABLES; t++) {
		buf_u64(out, c->range[t].first);
		buf_u64(out, c->range[t].count);
	}
	buf_u64(out, c->first_seq);
	buf_u64(out, c->journal);
	buf_u32(out, c->kinds);
	buf_u32(out, c->classes);
	buf_u32(out, c->answers);
	buf_add(out, c->chain, sizeof c->chain);
	buf_add(out, c->root, sizeof c->root);
	buf_u64(out, c->signer);
	buf_add(out, c->public_key, sizeof c->public_key);
}

int chain_checkpoint_hash(const struct rows_checkpoint *c, struct chain_hash *out)
{
	auto_buf b = BUF_INIT;

	chain_checkpoint_message(&b, c);
	if (b.failed)
		return -ERR_NOMEM;
	invariant(crypto_generichash(out->bytes, sizeof out->bytes, (const uint8_t *)b.data,
	                             b.len_bytes, NULL, 0) == 0);
	return 0;
}

/* Signs, then verifies its own output: a fault while signing must not leave. */
static int sign(const struct buf *message, const uint8_t *secret, uint8_t *signature)
{
	uint8_t public_key[ROWS_KEY_BYTES];
	uint8_t made[ROWS_SIGNATURE_BYTES];
	const uint8_t *bytes = (const uint8_t *)message->data;

	if (message->failed)
		return -ERR_NOMEM;
	if (crypto_sign_ed25519_sk_to_pk(public_key, secret) != 0 ||
	    crypto_sign_detached(made, NULL, bytes, message->len_bytes, secret) != 0 ||
	    crypto_sign_verify_detached(made, bytes, message->len_bytes, public_key) != 0)
		return -ERR_CRYPTO;
	memcpy(signature, made, sizeof made);
	return 0;
}

static int verify(const struct buf *message, const uint8_t *public_key, const uint8_t *signature)
{
	if (message->failed)
		return -ERR_NOMEM;
	if (crypto_sign_verify_detached(signature, (const uint8_t *)message->data,
	                                message->len_bytes, public_key) != 0)
		return -ERR_CRYPTO;
	return 0;
}

int chain_checkpoint_sign(struct rows_checkpoint *c, const uint8_t *secret)
{
	auto_buf b = BUF_INIT;

	chain_checkpoint_message(&b, c);
	return sign(&b, secret, c->signature);
}

int chain_checkpoint_verify(const struct rows_checkpoint *c)
{
	auto_buf b = BUF_INIT;

	chain_checkpoint_message(&b, c);
	return verify(&b, c->public_key, c->signature);
}

static void certificate_message(struct buf *out, const struct rows_signer *s, const uint8_t *uuid)
{
	static const uint8_t none[ROWS_UUID_BYTES];

	buf_add(out, CERTIFICATE_TAG, sizeof CERTIFICATE_TAG);
	buf_u8(out, (uint8_t)s->role);
	buf_add(out, s->public_key, sizeof s->public_key);
	buf_add(out, uuid ? uuid : none, ROWS_UUID_BYTES);
	buf_u64(out, s->at_us);
}

int chain_certificate_sign(struct rows_signer *s, const uint8_t *uuid, const uint8_t *by_secret)
{
	auto_buf b = BUF_INIT;

	certificate_message(&b, s, uuid);
	return sign(&b, by_secret, s->certificate);
}

int chain_certificate_verify(const struct rows_signer *s, const uint8_t *uuid,
                             const uint8_t *by_public)
{
	auto_buf b = BUF_INIT;

	certificate_message(&b, s, uuid);
	return verify(&b, by_public, s->certificate);
}

static void put_text(struct buf *out, const struct rows_text *t)
{
	invariant(t->len_bytes <= UINT32_MAX);
	buf_u32(out, (uint32_t)t->len_bytes);
	buf_add(out, t->bytes, t->len_bytes);
}

static void tombstone_message(struct buf *out, const struct rows_tombstone *t)
{
	buf_add(out, TOMBSTONE_TAG, sizeof TOMBSTONE_TAG);
	buf_u64(out, t->id);
	buf_u64(out, t->session);
	buf_add(out, t->uuid, sizeof t->uuid);
	put_text(out, &t->name);
	buf_u64(out, t->at_us);
	put_text(out, &t->reason);
	buf_u64(out, t->checkpoints);
	buf_u64(out, t->events);
	put_text(out, &t->bridges);
	buf_u64(out, t->signer);
	buf_add(out, t->public_key, sizeof t->public_key);
}

int chain_tombstone_sign(struct rows_tombstone *t, const uint8_t *secret)
{
	auto_buf b = {.max_bytes = CHAIN_TOMBSTONE_MAX_BYTES};

	tombstone_message(&b, t);
	return sign(&b, secret, t->signature);
}

int chain_tombstone_verify(const struct rows_tombstone *t)
{
	auto_buf b = {.max_bytes = CHAIN_TOMBSTONE_MAX_BYTES};

	tombstone_message(&b, t);
	return verify(&b, t->public_key, t->signature);
}
