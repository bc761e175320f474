#include "audit/ratchet.h"

#include "base/err.h"

#include <sodium.h>
#include <string.h>

_Static_assert(sizeof(((struct ratchet *)0)->block) == 2048, "as docs/AUDIT.md says");

void ratchet_init(struct ratchet *r, const uint8_t master[RATCHET_SEED_BYTES])
{
	memset(r, 0, sizeof *r);
	memcpy(r->master, master, sizeof r->master);
	r->used = RATCHET_KEYS;
}

static void derive(uint8_t out[RATCHET_SEED_BYTES], const char *label,
                   const uint8_t master[RATCHET_SEED_BYTES])
{
	invariant(crypto_generichash(out, RATCHET_SEED_BYTES, (const uint8_t *)label, strlen(label),
	                             master, RATCHET_SEED_BYTES) == 0);
}

void ratchet_segment(struct ratchet *r)
{
	uint8_t next[RATCHET_SEED_BYTES];

	sodium_memzero(&r->block, sizeof r->block);
	derive(r->block.seed, "segment", r->master);
	derive(next, "next", r->master);
	memcpy(r->master, next, sizeof next);
	sodium_memzero(next, sizeof next);
	r->used = RATCHET_KEYS;
	r->segment++;
}

static void advance(struct ratchet *r)
{
	static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES];
	uint8_t seed[RATCHET_SEED_BYTES];

	memcpy(seed, r->block.seed, sizeof seed);
	/* Overwrites the seed it came from. */
	invariant(crypto_stream_chacha20((uint8_t *)&r->block, sizeof r->block, nonce, seed) == 0);
	sodium_memzero(seed, sizeof seed);
	r->used = 0;
}

void ratchet_next(struct ratchet *r, uint8_t key[RATCHET_KEY_BYTES])
{
	invariant(r->segment > 0);
	if (r->used == RATCHET_KEYS)
		advance(r);
	memcpy(key, r->block.keys[r->used], RATCHET_KEY_BYTES);
	sodium_memzero(r->block.keys[r->used], RATCHET_KEY_BYTES);
	r->used++;
}
