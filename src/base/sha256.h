/* SHA-256 (FIPS 180-4), by the processor's own instructions where it has them: they
 * take a tenth of the time of libsodium's code, which is used everywhere else.  For
 * what is read in bulk: packages, programs. */
#ifndef WARY_BASE_SHA256_H
#define WARY_BASE_SHA256_H

#include <sodium.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32
#define SHA256_BLOCK_BYTES 64u

/* A hash being made. A copy goes on by itself. */
struct sha256 {
	bool own; /* by instructions: the rest is used; else only @soft */
	crypto_hash_sha256_state soft;
	uint32_t state[8];
	uint64_t len_bytes; /* so far */
	uint8_t rest[SHA256_BLOCK_BYTES];
};

/** sha256_begin: asks the processor, which in a virtual machine can take 20 µs: who
 * makes many hashes copies one that was begun. */
void sha256_begin(struct sha256 *h);

/** sha256_begin_soft: by libsodium, whatever the processor has; for tests. */
void sha256_begin_soft(struct sha256 *h);

/** sha256_add: @bytes: any. */
void sha256_add(struct sha256 *h, const void *bytes, size_t len_bytes);

/** sha256_end: @h is used up. */
void sha256_end(struct sha256 *h, uint8_t out[SHA256_BYTES]);

#endif
