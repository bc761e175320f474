/* A proof: a file that shows one row of the record to be on it, without the
 * record (docs/AUDIT.md, "Proofs").  Pure.
 *
 * It has the row and the rows that this refers to, each with its way to a signed
 * root; the checkpoints; the keys up to the machine's first.  All of it comes from
 * whoever wrote the file: nothing is believed before proof_check. */
#ifndef WARY_AUDIT_PROOF_H
#define WARY_AUDIT_PROOF_H

#include "audit/merkle.h"
#include "audit/rows.h"
#include "base/buf.h"
#include "base/err.h"

#define PROOF_LEAVES_MAX 32
#define PROOF_POINTS_MAX 32
#define PROOF_KEYS_MAX 256
/* Names and arguments may be long. */
#define PROOF_MAX_BYTES ((size_t)192 << 20)

/* A row as it was hashed. */
struct proof_leaf {
	struct buf bytes;    /* whose H is the leaf */
	uint64_t checkpoint; /* the batch's */
	uint64_t place;      /* among the batch's leaves */
	struct chain_hash path[MERKLE_DEPTH_MAX];
	unsigned path_n;
};

struct proof_key {
	struct rows_signer row; /* id and certified_by are not used */
	uint8_t by[ROWS_KEY_BYTES];
};

struct proof {
	uint64_t row; /* the event that it is about */
	struct proof_leaf leaves[PROOF_LEAVES_MAX];
	size_t leaves_n;
	struct rows_checkpoint points[PROOF_POINTS_MAX];
	size_t points_n;
	struct proof_key keys[PROOF_KEYS_MAX]; /* each before the one that certified it */
	size_t keys_n;
};

/** proof_new: an empty one, or NULL. */
struct proof *proof_new(void);
void proof_free(struct proof *p);

/** proof_write: appends the file. Check @out for failure. */
void proof_write(struct buf *out, const struct proof *p);

/** proof_read: reads a file.
 * @text, @len_bytes: from anyone.
 * @out: an empty one; on failure it holds whatever was read.
 * Returns 0, -ERR_NOMEM or -ERR_FORMAT. */
must_check int proof_read(const char *text, size_t len_bytes, struct proof *out);

/* The rows, decoded; texts point into the proof. */
struct proof_rows {
	struct rows_opening opening; /* without its sources */
	struct rows_event event;
	struct rows_actor actor;
	struct rows_act act;
	struct rows_detail detail; /* zeros where the event has none */
	struct rows_string strings[PROOF_LEAVES_MAX];
	size_t strings_n;
	uint8_t machine[ROWS_KEY_BYTES]; /* the key that certified the signer of the event */
	uint64_t time_us;                /* wall time of its beginning */
};

/** proof_decode: one row of a proof.
 * @out: its place is chosen by the first byte: a field of @out is set.
 * Returns 0 or -ERR_FORMAT. */
must_check int proof_decode(const struct buf *bytes, struct proof_rows *out);

/* A checkpoint's message (chain_checkpoint_message). */
#define PROOF_MESSAGE_BYTES 314
/** proof_message_decode: its fields, all but the signature. Whether its label and
 * its signature are right is not looked at. */
void proof_message_decode(const uint8_t message[PROOF_MESSAGE_BYTES], struct rows_checkpoint *c);

/** proof_check: whether a proof shows its row to be on record.
 * @trusted, @trusted_n: the machine keys that are trusted, and whom they certified.
 * @why: what is wrong, as a sentence, where it does not.
 * Returns 0, -ERR_NOMEM, -ERR_FORMAT (no whole proof) or -ERR_CRYPTO (a false one). */
must_check int proof_check(const struct proof *p, const uint8_t (*trusted)[ROWS_KEY_BYTES],
                           size_t trusted_n, struct proof_rows *out, const char **why);

/** proof_text: appends a whole text of the rows by its id, nothing for 0.
 * Returns whether it was there, with its prefix. */
bool proof_text(struct buf *out, const struct proof_rows *rows, uint64_t id);

#endif
