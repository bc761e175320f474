/* Numbers in order of first sight: for lists that name each thing once. */
#ifndef WARY_AUDIT_PLACES_H
#define WARY_AUDIT_PLACES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct places {
	uint64_t *keys; /* key + 1; 0 is free */
	uint32_t *values;
	size_t cap; /* a power of two */
	uint32_t n;
};

/** places_put: the number of @key, from 0; a new one's is the count so far.
 * @key: anything but UINT64_MAX.
 * @fresh: set where it is new.
 * Returns 0 or -ERR_NOMEM. */
must_check int places_put(struct places *m, uint64_t key, uint32_t *place, bool *fresh);

/** places_find: whether @key has a number, which is then in @place. */
bool places_find(const struct places *m, uint64_t key, uint32_t *place);

/** places_free: frees what it holds; it may be used again. */
void places_free(struct places *m);

/* The same for things of a store, where one thing may have several ids: a
 * writer forgets what it has seen long ago. Each gets one number, by a hash of
 * what it is (keyed, since a child chooses much of it). */
struct places_same {
	struct places ids, hashes;
	uint32_t *number; /* of an id's place */
	size_t cap;
};

/** places_same_find: whether @id has been seen; its number is then in @place. */
bool places_same_find(const struct places_same *s, uint64_t id, uint32_t *place);

/** places_same_add: an id that has not been seen.
 * @hash: of what it is.  @fresh: set where nothing equal was there before.
 * Returns 0 or -ERR_NOMEM. */
must_check int places_same_add(struct places_same *s, uint64_t id, uint64_t hash, uint32_t *place,
                               bool *fresh);

void places_same_free(struct places_same *s);

#endif
