/* base/sha256: by the processor's instructions and by libsodium the same. */
#include "base/sha256.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>

#define MOST 700u

static uint8_t bytes[MOST];

static void fill(void)
{
	uint32_t x = 1;

	for (size_t i = 0; i < sizeof bytes; i++) {
		x = x * 1664525u + 1013904223u;
		bytes[i] = (uint8_t)(x >> 24);
	}
}

/* FIPS 180-4's own example. */
static void check_known(void)
{
	static const char text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	uint8_t is[SHA256_BYTES];
	char hex[2 * SHA256_BYTES + 1];
	struct sha256 h;

	sha256_begin(&h);
	tap_note("%s", h.own ? "the processor has instructions for it" : "by libsodium alone");
	sha256_add(&h, text, sizeof text - 1);
	sha256_end(&h, is);
	sodium_bin2hex(hex, sizeof hex, is, sizeof is);
	tap_is_str(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
	           "the standard's example");
}

/* Of every length, in two pieces and in many. */
static void check_lengths(void)
{
	struct sha256 begun;
	struct sha256 soft;
	unsigned wrong = 0;

	sha256_begin(&begun);
	sha256_begin_soft(&soft);
	for (size_t len = 0; len <= MOST; len++) {
		uint8_t want[SHA256_BYTES];
		uint8_t is[3][SHA256_BYTES];
		size_t cut = len ? bytes[len - 1] % (len + 1) : 0;
		size_t step = 1 + len % 130;
		struct sha256 two = begun;
		struct sha256 many = begun;
		struct sha256 other = soft;

		crypto_hash_sha256(want, bytes, len);
		sha256_add(&two, bytes, cut);
		sha256_add(&two, bytes + cut, len - cut);
		sha256_end(&two, is[0]);
		for (size_t at = 0; at < len; at += step)
			sha256_add(&many, bytes + at, len - at < step ? len - at : step);
		sha256_end(&many, is[1]);
		sha256_add(&other, bytes, len);
		sha256_end(&other, is[2]);
		for (size_t i = 0; i < 3; i++)
			wrong += memcmp(is[i], want, sizeof want) != 0;
	}
	tap_is_int(wrong, 0, "every length up to %u, in pieces: as libsodium says", MOST);
}

int main(void)
{
	if (sodium_init() < 0)
		return 1;
	fill();
	check_known();
	check_lengths();
	return tap_done();
}
