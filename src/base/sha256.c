#include "base/sha256.h"

#include <string.h>

/* How it works: the instructions do four rounds in two halves, on the eight words of
 * the state in the order that they want (ABEF and CDGH), and make four words of the
 * message schedule from the sixteen before (Intel SDM, SHA256RNDS2, SHA256MSG1 and
 * SHA256MSG2). tests/unit/base_sha256.c compares with libsodium. */

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#define HAS_SHA (1u << 29)    /* cpuid 7, EBX */
#define HAS_SSE4_1 (1u << 19) /* cpuid 1, ECX */
#define HAS_SSSE3 (1u << 9)

static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static bool has_instructions(void)
{
	unsigned a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & HAS_SSE4_1) || !(c & HAS_SSSE3))
		return false;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & HAS_SHA);
}

/* The next four words of the schedule, in place of @w[i]. */
__attribute__((target("sha,sse4.1"))) static inline void extend(__m128i w[4], unsigned i)
{
	__m128i x = _mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]);

	x = _mm_add_epi32(x, _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4));
	w[i % 4] = _mm_sha256msg2_epu32(x, w[(i + 3) % 4]);
}

/* One block into the state, which is in the instructions' order. */
__attribute__((target("sha,sse4.1"))) static void mix(__m128i *abef, __m128i *cdgh,
                                                      const uint8_t *bytes)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
	__m128i s0 = *abef;
	__m128i s1 = *cdgh;
	__m128i w[4];

	for (unsigned i = 0; i < 4; i++) {
		memcpy(&w[i], bytes + 16 * (size_t)i, sizeof w[i]);
		w[i] = _mm_shuffle_epi8(w[i], swap);
	}
#pragma GCC unroll 16
	for (unsigned i = 0; i < 16; i++) {
		__m128i m;

		memcpy(&m, k + 4 * (size_t)i, sizeof m);
		m = _mm_add_epi32(m, w[i % 4]);
		s1 = _mm_sha256rnds2_epu32(s1, s0, m);
		s0 = _mm_sha256rnds2_epu32(s0, s1, _mm_shuffle_epi32(m, 0x0e));
		if (i < 12)
			extend(w, i);
	}
	*abef = _mm_add_epi32(*abef, s0);
	*cdgh = _mm_add_epi32(*cdgh, s1);
}

__attribute__((target("sha,sse4.1"))) static void mix_all(uint32_t state[8], const uint8_t *bytes,
                                                          size_t blocks)
{
	__m128i low, high, abef, cdgh;

	memcpy(&low, state, sizeof low);
	memcpy(&high, state + 4, sizeof high);
	low = _mm_shuffle_epi32(low, 0xb1);
	high = _mm_shuffle_epi32(high, 0x1b);
	abef = _mm_alignr_epi8(low, high, 8);
	cdgh = _mm_blend_epi16(high, low, 0xf0);
	for (size_t i = 0; i < blocks; i++)
		mix(&abef, &cdgh, bytes + i * SHA256_BLOCK_BYTES);
	abef = _mm_shuffle_epi32(abef, 0x1b);
	cdgh = _mm_shuffle_epi32(cdgh, 0xb1);
	low = _mm_blend_epi16(abef, cdgh, 0xf0);
	high = _mm_alignr_epi8(cdgh, abef, 8);
	memcpy(state, &low, sizeof low);
	memcpy(state + 4, &high, sizeof high);
}
#else
static bool has_instructions(void)
{
	return false;
}

static void mix_all(uint32_t state[8], const uint8_t *bytes, size_t blocks)
{
	(void)state;
	(void)bytes;
	(void)blocks;
}
#endif

void sha256_begin_soft(struct sha256 *h)
{
	h->own = false;
	crypto_hash_sha256_init(&h->soft);
}

void sha256_begin(struct sha256 *h)
{
	static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

	sha256_begin_soft(h);
	h->own = has_instructions();
	memcpy(h->state, first, sizeof first);
	h->len_bytes = 0;
}

/* What does not fill a block yet is kept. */
static size_t fill_rest(struct sha256 *h, const uint8_t *bytes, size_t len_bytes)
{
	size_t have = h->len_bytes % SHA256_BLOCK_BYTES;
	size_t n = SHA256_BLOCK_BYTES - have;

	if (n > len_bytes)
		n = len_bytes;
	memcpy(h->rest + have, bytes, n);
	h->len_bytes += n;
	if (have + n == SHA256_BLOCK_BYTES)
		mix_all(h->state, h->rest, 1);
	return n;
}

void sha256_add(struct sha256 *h, const void *bytes, size_t len_bytes)
{
	const uint8_t *at = bytes;
	size_t n;

	if (len_bytes == 0)
		return;
	if (!h->own) {
		crypto_hash_sha256_update(&h->soft, at, len_bytes);
		return;
	}
	if (h->len_bytes % SHA256_BLOCK_BYTES != 0) {
		n = fill_rest(h, at, len_bytes);
		at += n;
		len_bytes -= n;
	}
	n = len_bytes / SHA256_BLOCK_BYTES * SHA256_BLOCK_BYTES;
	mix_all(h->state, at, n / SHA256_BLOCK_BYTES);
	h->len_bytes += n;
	if (len_bytes > n)
		(void)fill_rest(h, at + n, len_bytes - n);
}

static void put_big_endian(uint8_t *out, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		out[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

void sha256_end(struct sha256 *h, uint8_t out[SHA256_BYTES])
{
	static const uint8_t padding[SHA256_BLOCK_BYTES] = {0x80};
	uint64_t len_bytes = h->len_bytes;
	size_t have = len_bytes % SHA256_BLOCK_BYTES;
	uint8_t bits[8];

	if (!h->own) {
		crypto_hash_sha256_final(&h->soft, out);
		return;
	}
	put_big_endian(bits, len_bytes * 8, sizeof bits);
	sha256_add(h, padding, (have < 56 ? 56 : 120) - have);
	sha256_add(h, bits, sizeof bits);
	for (unsigned i = 0; i < 8; i++)
		put_big_endian(out + 4 * (size_t)i, h->state[i], 4);
}
