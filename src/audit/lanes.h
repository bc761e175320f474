/* BLAKE2b with 32 bytes of output (docs/AUDIT.md, "Bytes that are hashed"; RFC 7693) of four
 * short messages at once.  Pure.
 *
 * A row's hash covers the one before it, so one chain is hashed one after the other; but nodes
 * of a tree, and chains of several batches, do not wait for each other.  Where the processor
 * has AVX2 a word of each of four messages is in one register, which takes half the time of
 * four times libsodium, or less; elsewhere it is libsodium's, four times.
 *
 * Why own code, where all other hashing, signing and randomness is libsodium's: that hashes one
 * message at a time, and two blocks a row of it leave half of the time that a million rows a
 * second allow for verifying (docs/BENCH.md).  It holds no secret.  A unit test compares
 * every length in every lane with libsodium, a row that verify does not find right with it is
 * read again with libsodium's (audit/verify_ahead.h), and examples/verify.py, which has none
 * of it, must agree.
 */
#ifndef WARY_AUDIT_LANES_H
#define WARY_AUDIT_LANES_H

#include "audit/chain.h"

#define LANES 4
#define LANES_BLOCK_BYTES 128

/* One message, of one block. */
struct lane {
	uint8_t bytes[LANES_BLOCK_BYTES]; /* zeros behind the message */
	size_t len_bytes;                 /* LANES_BLOCK_BYTES at most */
};

/** lanes_hash: the hash of each. */
void lanes_hash(const struct lane *const in[LANES], struct chain_hash out[LANES]);

/** lanes_hash_plain: the same, by libsodium; for tests, to compare. */
void lanes_hash_plain(const struct lane *const in[LANES], struct chain_hash out[LANES]);

#endif
