/* Reading a dead session's journal: entries that verify, in order.
 *
 * Nothing in the file is believed before its tag was checked.  Entries that
 * are missing or do not verify (a power cut tears pages out) are passed over:
 * what comes after them and verifies is evidence all the same.
 */
#ifndef WARY_AUDIT_REPLAY_H
#define WARY_AUDIT_REPLAY_H

#include "audit/decode.h"

struct replay;

/** replay_open: @fd: the journal, locked; borrowed.
 * @seal_key: 32 bytes, keys_seal_key().
 * Returns 0, -ERR_NOTFOUND where its making never came to an end (no entry was
 * ever in it), -ERR_CRYPTO where it was made for another machine's key,
 * -ERR_NOMEM, -ERR_SYS. */
must_check int replay_open(int fd, const uint8_t *seal_key, struct replay **out);
void replay_free(struct replay *r);

const struct journal_header *replay_header(const struct replay *r);

/** replay_next: the next entry.
 * @e: points into memory of @r, valid until the next call.
 * @there: false at the end.
 * Returns 0, -ERR_NOMEM, -ERR_SYS (the file cannot be read). */
must_check int replay_next(struct replay *r, uint64_t *index, struct journal_entry *e, bool *there);

/** replay_lost: how many entries so far were missing or did not verify; a last
 * one that was torn counts. */
uint64_t replay_lost(const struct replay *r);

#endif
