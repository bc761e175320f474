/* One-time keys that cannot be told again: a stream of keys whose seed is
 * replaced as it advances (fast key erasure).  Pure.
 *
 * Who seizes the state at some moment can make later keys, never earlier ones.
 * Keys come by segment: a master goes from one segment to the next, so that
 * recovery of a long session reaches its last segments quickly.
 */
#ifndef WARY_AUDIT_RATCHET_H
#define WARY_AUDIT_RATCHET_H

#include <stdint.h>

#define RATCHET_SEED_BYTES 32
#define RATCHET_KEY_BYTES 32
#define RATCHET_KEYS 63 /* one ChaCha20 call gives the next seed and these */

/* Belongs into sodium_malloc memory. */
struct ratchet {
	uint8_t master[RATCHET_SEED_BYTES]; /* of the segment after this one */
	uint64_t segment;                   /* from 1; 0: none begun */
	unsigned used;
	struct {
		uint8_t seed[RATCHET_SEED_BYTES];
		uint8_t keys[RATCHET_KEYS][RATCHET_KEY_BYTES];
	} block;
};

/** ratchet_init: the caller wipes its own copy of the master. */
void ratchet_init(struct ratchet *r, const uint8_t master[RATCHET_SEED_BYTES]);

/** ratchet_segment: begins the next segment; what is left of this one's keys
 * is wiped. */
void ratchet_segment(struct ratchet *r);

/** ratchet_next: hands out the segment's next key and wipes it here. */
void ratchet_next(struct ratchet *r, uint8_t key[RATCHET_KEY_BYTES]);

#endif
