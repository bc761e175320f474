/* A bounded memory of what the store has already: text or tuple to id.
 * Forgetting costs a row once more, never a wrong one.  Not thread-safe. */
#ifndef WARY_AUDIT_INTERN_H
#define WARY_AUDIT_INTERN_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct intern;

/* 128 bits under a random key: a child cannot make two names fall together. */
struct intern_key {
	uint8_t bytes[16];
};

/** intern_new: @entries: a power of two, at least 8; memory is taken as it is
 * used. Returns 0 or -ERR_NOMEM. */
must_check int intern_new(size_t entries, struct intern **out);
/** intern_forget: everything, and keeps the room. */
void intern_forget(struct intern *i);
void intern_free(struct intern *i);

void intern_key(const struct intern *i, const void *bytes, size_t len_bytes,
                struct intern_key *out);
/** intern_find: the id remembered for a key, or 0. */
uint64_t intern_find(const struct intern *i, const struct intern_key *key);
void intern_add(struct intern *i, const struct intern_key *key, uint64_t id);

#endif
