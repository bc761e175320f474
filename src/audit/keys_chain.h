/* The machine's former keys, each of which certified the next: the file keys/former
 * (docs/AUDIT.md, "Key rotation"). */
#ifndef WARY_AUDIT_KEYS_CHAIN_H
#define WARY_AUDIT_KEYS_CHAIN_H

#include "audit/keys.h"

#define KEYS_SEAL_BYTES 32
/* Rotations; a proof has every key twice (PROOF_KEYS_MAX). */
#define KEYS_FORMER_MAX 100

/* One key. As in the file, where integers are the machine's. */
struct keys_link {
	uint8_t public_key[ROWS_KEY_BYTES];
	uint64_t made_us;
	uint8_t certificate[ROWS_SIGNATURE_BYTES]; /* by the one before, of the first by itself */
	/* What follows is of former keys: */
	uint8_t back[ROWS_SIGNATURE_BYTES]; /* its certificate by the one after */
	uint8_t seal[KEYS_SEAL_BYTES];      /* for journals of sessions that it certified */
};
_Static_assert(sizeof(struct keys_link) == 200, "no padding");

/* Allocated by sodium_malloc; keys_chain_free wipes. */
struct keys_chain {
	size_t former_n;
	size_t known_n; /* links whose seals are known: more than former_n where the
	                   machine's key is not the file's last */
	struct keys_link links[KEYS_FORMER_MAX + 1]; /* links[former_n] is the machine's now */
};

/** keys_chain_load: with the machine's key as its last.
 * @why: set on failure to a sentence; free(3).
 * Returns 0 or -ERR_NOMEM, -ERR_PERM, -ERR_DAMAGED, -ERR_CRYPTO. */
must_check int keys_chain_load(const struct keys *machine, struct keys_chain **out, char **why);
void keys_chain_free(struct keys_chain *c);

/** keys_chain_row: key @i as the row that certifies it; its ids are not set.
 * @back: by the one after it, whose row is in the store, instead. */
struct rows_signer keys_chain_row(const struct keys_chain *c, size_t i, bool back);

/** keys_chain_extend: @fresh comes after the machine's key. Pure.
 * Returns 0 or -ERR_BOUND, -ERR_NOMEM, -ERR_CRYPTO. */
must_check int keys_chain_extend(struct keys_chain *c, const struct keys *machine,
                                 const struct keys *fresh);

/** keys_chain_write: the file, synced, under a name in the folder that must be free.
 * Returns 0, -ERR_NOMEM or -ERR_SYS (errno says more). */
must_check int keys_chain_write(const struct keys_chain *c, int folder_fd, const char *name);

/** keys_trusted: the machine's public key, then its former ones; none where there is
 * no key, and for no other reason.
 * @out: free(3). @why: set on failure to a sentence, or NULL; free(3).
 * Returns 0 or -ERR_NOMEM, -ERR_PERM, -ERR_DAMAGED, -ERR_FORMAT, -ERR_FULL: a file of keys
 * is there, or may be, and cannot be used. */
must_check int keys_trusted(uint8_t (**out)[ROWS_KEY_BYTES], size_t *n, char **why);

#endif
