#include "audit/lanes.h"

#include <sodium.h>
#include <string.h>

void lanes_hash_plain(const struct lane *const in[LANES], struct chain_hash out[LANES])
{
	for (unsigned l = 0; l < LANES; l++)
		invariant(crypto_generichash(out[l].bytes, sizeof out[l].bytes, in[l]->bytes,
		                             in[l]->len_bytes, NULL, 0) == 0);
}

#ifdef __x86_64__

#include <immintrin.h>

/* The order of the words of a message in each round, in pairs (RFC 7693, 2.7; rounds 10 and
 * 11 are as 0 and 1).  In registers, and so without loops over them. */
/* clang-format off */
#define ROUNDS                                                            \
	ROUND( 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15) \
	ROUND(14, 10,  4,  8,  9, 15, 13,  6,  1, 12,  0,  2, 11,  7,  5,  3) \
	ROUND(11,  8, 12,  0,  5,  2, 15, 13, 10, 14,  3,  6,  7,  1,  9,  4) \
	ROUND( 7,  9,  3,  1, 13, 12, 11, 14,  2,  6,  5, 10,  4,  0, 15,  8) \
	ROUND( 9,  0,  5,  7,  2,  4, 10, 15, 14,  1, 11, 12,  6,  8,  3, 13) \
	ROUND( 2, 12,  6, 10,  0, 11,  8,  3,  4, 13,  7,  5, 15, 14,  1,  9) \
	ROUND(12,  5,  1, 15, 14, 13,  4, 10,  0,  7,  6,  3,  9,  2,  8, 11) \
	ROUND(13, 11,  7, 14, 12,  1,  3,  9,  5,  0, 15,  4,  8,  6,  2, 10) \
	ROUND( 6, 15, 14,  9, 11,  3,  0,  8, 12,  2, 13,  7,  1,  4, 10,  5) \
	ROUND(10,  2,  8,  4,  7,  6,  1,  5, 15, 11,  9, 14,  3, 12, 13,  0) \
	ROUND( 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15) \
	ROUND(14, 10,  4,  8,  9, 15, 13,  6,  1, 12,  0,  2, 11,  7,  5,  3)

#define ROUND(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15) \
	MIX(v0, v4, v8,  v12, m[m0],  m[m1])                                        \
	MIX(v1, v5, v9,  v13, m[m2],  m[m3])                                        \
	MIX(v2, v6, v10, v14, m[m4],  m[m5])                                        \
	MIX(v3, v7, v11, v15, m[m6],  m[m7])                                        \
	MIX(v0, v5, v10, v15, m[m8],  m[m9])                                        \
	MIX(v1, v6, v11, v12, m[m10], m[m11])                                       \
	MIX(v2, v7, v8,  v13, m[m12], m[m13])                                       \
	MIX(v3, v4, v9,  v14, m[m14], m[m15])

#define ADD _mm256_add_epi64
#define XOR _mm256_xor_si256

/* G of RFC 7693, 3.1: rotations right by 32, 24, 16 and 63 bits. */
#define MIX(a, b, c, d, x, y)                                   \
	a = ADD(ADD(a, b), x);                                  \
	d = _mm256_shuffle_epi32(XOR(d, a), 0xb1);              \
	c = ADD(c, d);                                          \
	b = _mm256_shuffle_epi8(XOR(b, c), by_24);              \
	a = ADD(ADD(a, b), y);                                  \
	d = _mm256_shuffle_epi8(XOR(d, a), by_16);              \
	c = ADD(c, d);                                          \
	b = XOR(b, c);                                          \
	b = XOR(_mm256_srli_epi64(b, 63), ADD(b, b));
/* clang-format on */

#define WORDS (LANES_BLOCK_BYTES / 8)
#define WORD(n) _mm256_set1_epi64x((long long)(n))
#define AVX2 __attribute__((target("avx2")))

/* Four words of each of four messages, from words of one to words of all. */
AVX2 static inline void transpose(__m256i *m, const uint8_t *const at[LANES])
{
	__m256i a = _mm256_loadu_si256((const __m256i *)(const void *)at[0]);
	__m256i b = _mm256_loadu_si256((const __m256i *)(const void *)at[1]);
	__m256i c = _mm256_loadu_si256((const __m256i *)(const void *)at[2]);
	__m256i d = _mm256_loadu_si256((const __m256i *)(const void *)at[3]);
	__m256i ab_low = _mm256_unpacklo_epi64(a, b);
	__m256i ab_high = _mm256_unpackhi_epi64(a, b);
	__m256i cd_low = _mm256_unpacklo_epi64(c, d);
	__m256i cd_high = _mm256_unpackhi_epi64(c, d);

	m[0] = _mm256_permute2x128_si256(ab_low, cd_low, 0x20);
	m[1] = _mm256_permute2x128_si256(ab_high, cd_high, 0x20);
	m[2] = _mm256_permute2x128_si256(ab_low, cd_low, 0x31);
	m[3] = _mm256_permute2x128_si256(ab_high, cd_high, 0x31);
}

AVX2 static void load(const struct lane *const in[LANES], __m256i m[WORDS])
{
	for (size_t word = 0; word < WORDS; word += LANES) {
		const uint8_t *const at[LANES] = {in[0]->bytes + 8 * word, in[1]->bytes + 8 * word,
		                                  in[2]->bytes + 8 * word, in[3]->bytes + 8 * word};

		transpose(m + word, at);
	}
}

AVX2 static void store(const __m256i h[LANES], struct chain_hash out[LANES])
{
	const uint8_t *const at[LANES] = {(const uint8_t *)&h[0], (const uint8_t *)&h[1],
	                                  (const uint8_t *)&h[2], (const uint8_t *)&h[3]};
	__m256i by_lane[LANES];

	transpose(by_lane, at);
	for (unsigned l = 0; l < LANES; l++)
		_mm256_storeu_si256((__m256i *)(void *)out[l].bytes, by_lane[l]);
}

/* One block, the last, of each: so there is no state to keep. */
AVX2 static void hash_avx2(const struct lane *const in[LANES], struct chain_hash out[LANES])
{
	const __m256i by_24 =
		_mm256_setr_epi8(3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10, 3, 4, 5, 6,
	                         7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10);
	const __m256i by_16 =
		_mm256_setr_epi8(2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9, 2, 3, 4, 5,
	                         6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9);
	const __m256i iv0 = WORD(0x6a09e667f3bcc908), iv1 = WORD(0xbb67ae8584caa73b);
	const __m256i iv2 = WORD(0x3c6ef372fe94f82b), iv3 = WORD(0xa54ff53a5f1d36f1);
	/* Of the parameters: 32 bytes of output, no key, one leaf. */
	const __m256i first = XOR(iv0, WORD(0x01010000 ^ ROWS_HASH_BYTES));
	__m256i v0 = first, v1 = iv1, v2 = iv2, v3 = iv3;
	__m256i v4 = WORD(0x510e527fade682d1), v5 = WORD(0x9b05688c2b3e6c1f);
	__m256i v6 = WORD(0x1f83d9abfb41bd6b), v7 = WORD(0x5be0cd19137e2179);
	__m256i v8 = iv0, v9 = iv1, v10 = iv2, v11 = iv3;
	__m256i v12 = XOR(
		v4, _mm256_setr_epi64x((long long)in[0]->len_bytes, (long long)in[1]->len_bytes,
	                               (long long)in[2]->len_bytes, (long long)in[3]->len_bytes));
	__m256i v13 = v5, v14 = XOR(v6, WORD(-1)), v15 = v7;
	__m256i m[WORDS];

	load(in, m);
	ROUNDS;
	{
		const __m256i h[LANES] = {XOR(first, XOR(v0, v8)), XOR(iv1, XOR(v1, v9)),
		                          XOR(iv2, XOR(v2, v10)), XOR(iv3, XOR(v3, v11))};

		store(h, out);
	}
}

void lanes_hash(const struct lane *const in[LANES], struct chain_hash out[LANES])
{
	if (__builtin_cpu_supports("avx2"))
		hash_avx2(in, out);
	else
		lanes_hash_plain(in, out);
}

#else

void lanes_hash(const struct lane *const in[LANES], struct chain_hash out[LANES])
{
	lanes_hash_plain(in, out);
}

#endif
