/* The machine's key: made on first use, kept in the state folder, mode 0600.
 * It certifies a key for each session, and seals journals. */
#ifndef WARY_AUDIT_KEYS_H
#define WARY_AUDIT_KEYS_H

#include "audit/rows.h"
#include "base/buf.h"
#include "base/err.h"

#define KEYS_SECRET_BYTES 64 /* Ed25519: seed and public key */

/* Allocated by sodium_malloc; keys_free wipes. */
struct keys {
	uint8_t secret[KEYS_SECRET_BYTES];
	uint8_t public_key[ROWS_KEY_BYTES];
	uint64_t made_us; /* wall time */
};

/** keys_state_folder: appends the state folder: $XDG_STATE_HOME/wary where
 * that is absolute, else ~/.local/state/wary.
 * Returns 0 or -ERR_NOTFOUND where there is no home either. */
must_check int keys_state_folder(struct buf *out);

/** keys_store_default: appends the default store's path; errors likewise. */
must_check int keys_store_default(struct buf *out);

/** keys_machine: the machine's key; made where it is missing and @make.
 * @why: set on failure to a sentence; free(3).
 * Returns 0, -ERR_NOTFOUND (not there, not @make), -ERR_PERM (not to be read
 * or written, or open to others), -ERR_DAMAGED, -ERR_FULL, -ERR_NOMEM. */
must_check int keys_machine(bool make, struct keys **out, char **why);

/** keys_is_current: whether that is the machine's key now; false where it cannot be
 * told.  Reads a public half only. */
bool keys_is_current(const uint8_t public_key[ROWS_KEY_BYTES]);

/** keys_machine_public: only the public half, without reading the secret one: of the key
 * in force, or what machine.pub says where there is no other file.
 * @why: set to a sentence where one of them is there and cannot be used, else to NULL;
 * free(3).
 * Returns 0, -ERR_NOTFOUND (there is neither), -ERR_PERM, -ERR_DAMAGED, -ERR_FORMAT,
 * -ERR_NOMEM, -ERR_FULL. */
must_check int keys_machine_public(uint8_t out[ROWS_KEY_BYTES], char **why);

/** keys_public_read: a public key from a file as keys/machine.pub, or from
 * 64 hexadecimal digits. Returns 0 or -ERR_NOTFOUND, -ERR_FORMAT. */
must_check int keys_public_read(const char *file_or_hex, uint8_t out[ROWS_KEY_BYTES]);

/** keys_new: a fresh key. Returns 0 or -ERR_NOMEM. */
must_check int keys_new(struct keys **out);
void keys_free(struct keys *k);

/** keys_name: appends how people tell a public key: "7a41…c2". */
void keys_name(struct buf *out, const uint8_t public_key[ROWS_KEY_BYTES]);

/** keys_seal_key: the key under which journals are sealed for this machine. */
void keys_seal_key(const struct keys *machine, uint8_t out[32]);

#endif
