/* Bytes that are hashed and signed (docs/AUDIT.md, "Bytes that are hashed").
 * Pure.  Every row is a leaf of its session's chain: its hash covers the one
 * before it. */
#ifndef WARY_AUDIT_CHAIN_H
#define WARY_AUDIT_CHAIN_H

#include "audit/rows.h"
#include "base/buf.h"
#include "base/err.h"

/* The hash of a leaf, or of a checkpoint. */
struct chain_hash {
	uint8_t bytes[ROWS_HASH_BYTES];
};

#define CHAIN_HASH_AT 1

/* Each takes the chain's last hash and replaces it by the row's leaf.
 * @chain: or NULL: nothing is hashed, and the bytes have zeros for the last hash, which is
 *   CHAIN_HASH_AT in them.
 * @copy: the bytes whose hash that is are appended, or NULL. */
void chain_opening(struct chain_hash *chain, const struct rows_opening *row, struct buf *copy);
void chain_string(struct chain_hash *chain, const struct rows_string *row, struct buf *copy);
void chain_actor(struct chain_hash *chain, const struct rows_actor *row, struct buf *copy);
void chain_act(struct chain_hash *chain, const struct rows_act *row, struct buf *copy);
void chain_detail(struct chain_hash *chain, const struct rows_detail *row, struct buf *copy);
/* Bits of an event's byte before its result. */
enum chain_event { CHAIN_EVENT_KNOWN = 1, CHAIN_EVENT_HAS_SIZE = 2 };
void chain_event(struct chain_hash *chain, const struct rows_event *row, struct buf *copy);
void chain_closing(struct chain_hash *chain, const struct rows_closing *row, struct buf *copy);

/** chain_mark: what a row carries of its leaf. */
int64_t chain_mark(const struct chain_hash *leaf);

/** chain_checkpoint_message: appends the bytes that a checkpoint's signature
 * is over. */
void chain_checkpoint_message(struct buf *out, const struct rows_checkpoint *c);

/** chain_checkpoint_hash: what the next checkpoint of the store has as prev.
 * Returns 0 or -ERR_NOMEM. */
must_check int chain_checkpoint_hash(const struct rows_checkpoint *c, struct chain_hash *out);

/** chain_checkpoint_sign: sets c->signature.
 * @secret: the Ed25519 secret key (64 bytes) whose public half is
 *   c->public_key.  Its own output is verified.
 * Returns 0, -ERR_NOMEM or -ERR_CRYPTO. */
must_check int chain_checkpoint_sign(struct rows_checkpoint *c, const uint8_t *secret);
/** chain_checkpoint_verify: 0, -ERR_NOMEM or -ERR_CRYPTO. */
must_check int chain_checkpoint_verify(const struct rows_checkpoint *c);

/* Of a session of many millions of batches. */
#define CHAIN_TOMBSTONE_MAX_BYTES ((size_t)512 << 20)

/** chain_tombstone_sign: sets t->signature.
 * @secret: the machine's (64 bytes), whose public half is t->public_key.
 * Returns 0, -ERR_NOMEM or -ERR_CRYPTO. */
must_check int chain_tombstone_sign(struct rows_tombstone *t, const uint8_t *secret);
/** chain_tombstone_verify: 0, -ERR_NOMEM or -ERR_CRYPTO. */
must_check int chain_tombstone_verify(const struct rows_tombstone *t);

/** chain_certificate_sign: sets s->certificate by @by_secret (64 bytes).
 * @uuid: of the session, or NULL for a machine's key.
 * Returns 0, -ERR_NOMEM or -ERR_CRYPTO. */
must_check int chain_certificate_sign(struct rows_signer *s, const uint8_t *uuid,
                                      const uint8_t *by_secret);
/** chain_certificate_verify: whether @by_public made s->certificate.
 * Returns 0, -ERR_NOMEM or -ERR_CRYPTO. */
must_check int chain_certificate_verify(const struct rows_signer *s, const uint8_t *uuid,
                                        const uint8_t *by_public);

#endif
