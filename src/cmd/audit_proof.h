/* wary audit verify --proof: what a proof shows. */
#ifndef WARY_CMD_AUDIT_PROOF_H
#define WARY_CMD_AUDIT_PROOF_H

#include "audit/rows.h"

#include <stddef.h>

/** audit_proof_verify: checks a proof, without a record, and prints its row.
 * @file: from anyone.
 * @keys, @keys_n: the machine keys that are trusted.
 * Returns AUDIT_FINE, AUDIT_WRONG (it shows nothing) or AUDIT_USAGE (it could not be
 * read, or no key is known). */
int audit_proof_verify(const char *file, const uint8_t (*keys)[ROWS_KEY_BYTES], size_t keys_n);

#endif
