/* The machine's keys as rows of a store. */
#ifndef WARY_AUDIT_MACHINE_H
#define WARY_AUDIT_MACHINE_H

#include "audit/keys_chain.h"
#include "audit/store.h"

/** machine_put: within a batch: the machine's key and its former ones, where they are
 * not in the store yet.
 * @id: set to the row of the machine's key.
 * Returns 0, -ERR_CRYPTO (a later key has taken over in this store: this one was
 * replaced) or an error of store_open. */
must_check int machine_put(struct store *s, const struct keys_chain *c, uint64_t *id);

/** machine_certify: within a batch: the same, and the row of a key that signs.
 * @chain: replaced where the machine's key was replaced since it was loaded: then the
 *   certificate is made anew, so that none by a former key comes after the new one.
 * @signer: its certificate by the machine's key; its id and certified_by are set.
 * Returns likewise, or an error of keys_machine, keys_chain_load. */
must_check int machine_certify(struct store *s, struct keys_chain **chain,
                               struct rows_signer *signer, const uint8_t *uuid);

#endif
