/* audit/chain, audit/merkle, audit/anchor: the bytes that docs/AUDIT.md says. */
#include "audit/anchor.h"
#include "audit/chain.h"
#include "audit/merkle.h"
#include "base/text.h"
#include "tests/unit/tap.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

static struct rows_text text(const char *s)
{
	return (struct rows_text){s, strlen(s)};
}

static void is_hash(const struct chain_hash *h, const char *want, const char *what)
{
	struct buf b = BUF_INIT;

	text_hex(&b, h->bytes, sizeof h->bytes);
	tap_is_str(buf_text(&b), want, "%s", what);
	buf_free(&b);
}

/* The wanted hashes were made with another BLAKE2b, by hand from the tables of
 * docs/AUDIT.md. */
static void check_leaves(void)
{
	static const struct rows_source source = {{"default.wary", 12}, {"/etc/wary", 9}, {0xaa}};
	const struct rows_opening o = {
		.uuid = {1, 2},
		.id = 3,
		.name = text("0102"),
		.opened_us = 1000000,
		.mono_us = 5,
		.argv = text("npm install"),
		.cwd = text("/"),
		.user = text("ana"),
		.host = text("h"),
		.kernel = text("6.18"),
		.version = text("0"),
		.uid = 1000,
		.public_key = {7},
		.sources = &source,
		.sources_n = 1,
	};
	const struct rows_string string = {9, 8, {"\xff/x", 3}};
	const struct rows_actor actor = {1, 2, 3, 4, 5, 6};
	const struct rows_act act = {1,
	                             2,
	                             3,
	                             4,
	                             5,
	                             text("decision"),
	                             text("read"),
	                             text("openat"),
	                             text("allow"),
	                             text("rule")};
	const struct rows_detail detail = {.id = 1,
	                                   .object2 = 2,
	                                   .cwd = 3,
	                                   .argv = 4,
	                                   .stack = 5,
	                                   .reason = -6,
	                                   .has_sha256 = true,
	                                   .sha256 = {1}};
	const struct rows_event event = {1, 2, 3, 4, 5, 6, 7, 8, true, -2, false, 0, 0};
	const struct rows_event unknown = {1, 2, 3, 4, 5, 6, 7, 8, false, 0, false, 0, 0};
	const struct rows_event sized = {1, 2, 3, 4, 5, 6, 7, 8, true, 0, true, (1ull << 53) + 1,
	                                 2};
	const struct rows_closing closing = {1, 2, -1, 3, 4, 5, 6, 7, text("exited")};
	struct chain_hash h = {{0}};

	chain_opening(&h, &o, NULL);
	is_hash(&h, "cdc38551228872043933db6943a7fb3d4dce305516ce8d473aa53e8336c81ed9",
	        "an opening");
	chain_string(&h, &string, NULL);
	is_hash(&h, "b4d0c62139a0aa89985ffa2fef9bd27543ecefbca28160f30aca024e080d1035", "a string");
	chain_actor(&h, &actor, NULL);
	is_hash(&h, "ecf7961eb1811f89bee7cb2d7ffabef8d3f0a95db22d4a0cc807c1ed89e7ce7d", "an actor");
	chain_act(&h, &act, NULL);
	is_hash(&h, "7ca47aeda6d7aa2a0b38515437e6df1847c108bc21f564872b549fb0589fa7de", "an act");
	chain_detail(&h, &detail, NULL);
	is_hash(&h, "a68d3a5effcaaff6ab85093c6796a846fc53c286c646fa2b5037ed7c1c2e5aca", "a detail");
	chain_event(&h, &event, NULL);
	is_hash(&h, "fdac7c97e2e2194d0e94f631a0ff4a430cea8994e60d704a5213ab4a11c29a3d", "an event");
	tap_ok(chain_mark(&h) == (int64_t)0x4d19e2e2977cacfdu, "its mark");
	chain_event(&h, &unknown, NULL);
	is_hash(&h, "26b14a11c63f2c4446b244e480cf3ac7e170c88c0e36c952b712e9fdfa2ed589",
	        "one with an unknown result");
	chain_event(&h, &sized, NULL);
	is_hash(&h, "481f3c92d6aa000243935eb98b4d8dd6f65e760ea76bff7ed7aeb394cfc67385",
	        "one that took something away");
	chain_closing(&h, &closing, NULL);
	is_hash(&h, "f1b152078d22595f907656e67a19db94a8cedcc41bf29c5ee50e04d87157b6ae",
	        "a closing");
}

static struct rows_checkpoint checkpoint(const uint8_t *public_key)
{
	struct rows_checkpoint c = {
		.id = 4,
		.session = 2,
		.uuid = {1},
		.kind = ROWS_RECOVERED,
		.at_us = 77,
		.skew_us = -5,
		.range = {{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}},
		.first_seq = 11,
		.journal = 12,
		.kinds = 1,
		.classes = 2,
		.answers = 4,
		.prev = {1},
		.chain = {2},
		.root = {3},
		.signer = 6,
	};

	memcpy(c.public_key, public_key, sizeof c.public_key);
	return c;
}

static void check_checkpoint(void)
{
	static const uint8_t seed[crypto_sign_SEEDBYTES] = {42};
	uint8_t public_key[ROWS_KEY_BYTES];
	uint8_t secret[64];
	struct rows_checkpoint c;
	struct rows_checkpoint before;
	struct chain_hash h;
	bool found = true;

	crypto_sign_seed_keypair(public_key, secret, seed);
	c = checkpoint(public_key);
	tap_is_int(chain_checkpoint_hash(&c, &h), 0, "a checkpoint's hash");
	is_hash(&h, "d3a90231cdfff0b54d7e92f729bcc1b570456b95542fa41eedc871dc990ac801",
	        "is the one of its message");
	tap_is_int(chain_checkpoint_sign(&c, secret), 0, "it is signed");
	tap_is_int(chain_checkpoint_verify(&c), 0, "and verifies");
	before = c;
	/* Every byte of it, but what the compiler put between. */
	for (size_t i = 0; i < sizeof c; i++) {
		struct chain_hash changed;
		struct buf a = BUF_INIT;
		struct buf b = BUF_INIT;

		((uint8_t *)&c)[i] ^= 0x10;
		chain_checkpoint_message(&a, &before);
		chain_checkpoint_message(&b, &c);
		if (memcmp(a.data, b.data, a.len_bytes) != 0 ||
		    memcmp(c.signature, before.signature, sizeof c.signature) != 0)
			found &= chain_checkpoint_verify(&c) == -ERR_CRYPTO;
		else
			found &= chain_checkpoint_hash(&c, &changed) == 0;
		c = before;
		buf_free(&a);
		buf_free(&b);
	}
	tap_ok(found, "every change of it is found");
}

static void check_certificate(void)
{
	uint8_t public_key[ROWS_KEY_BYTES];
	uint8_t secret[64];
	uint8_t other[ROWS_KEY_BYTES];
	uint8_t uuid[ROWS_UUID_BYTES] = {5};
	struct rows_signer s = {.role = SIGNER_SESSION, .public_key = {9}, .at_us = 3};

	crypto_sign_keypair(public_key, secret);
	randombytes_buf(other, sizeof other);
	tap_is_int(chain_certificate_sign(&s, uuid, secret), 0, "a certificate");
	tap_is_int(chain_certificate_verify(&s, uuid, public_key), 0, "verifies");
	tap_is_int(chain_certificate_verify(&s, uuid, other), -ERR_CRYPTO, "not by another");
	tap_is_int(chain_certificate_verify(&s, NULL, public_key), -ERR_CRYPTO,
	           "not for another session");
	s.role = SIGNER_RECOVERY;
	tap_is_int(chain_certificate_verify(&s, uuid, public_key), -ERR_CRYPTO,
	           "not for another purpose");
	tap_is_str(signer_role_name(SIGNER_RECOVERY), "recovery", "roles have words");
	tap_is_int(signer_role_find("machine"), SIGNER_MACHINE, "and words roles");
	tap_is_int(signer_role_find("king"), 0, "but not all");
}

#define LEAVES_MAX 70

/* As RFC 6962 writes it, for comparison. */
static struct chain_hash plain_root(const struct chain_hash *leaves, size_t n)
{
	uint8_t bytes[65] = {1};
	struct chain_hash left;
	struct chain_hash right;
	size_t k = 1;

	if (n == 1)
		return leaves[0];
	while (k * 2 < n)
		k *= 2;
	left = plain_root(leaves, k);
	right = plain_root(leaves + k, n - k);
	memcpy(bytes + 1, &left, 32);
	memcpy(bytes + 33, &right, 32);
	crypto_generichash(left.bytes, 32, bytes, sizeof bytes, NULL, 0);
	return left;
}

static void check_merkle(void)
{
	struct chain_hash leaves[LEAVES_MAX];
	struct chain_hash path[MERKLE_DEPTH_MAX];
	bool same = true;
	bool proves = true;
	bool refuses = true;

	randombytes_buf(leaves, sizeof leaves);
	for (size_t n = 1; n <= LEAVES_MAX; n++) {
		struct merkle m;
		struct chain_hash root;
		struct chain_hash want = plain_root(leaves, n);

		merkle_init(&m);
		for (size_t i = 0; i < n; i++)
			merkle_add(&m, &leaves[i]);
		merkle_root(&m, &root);
		same &= memcmp(&root, &want, sizeof root) == 0;
		for (size_t i = 0; i < n; i++) {
			unsigned k = merkle_path(leaves, n, i, path);

			proves &= merkle_path_check(&leaves[i], n, i, path, k, &root);
			refuses &= !merkle_path_check(&leaves[(i + 1) % LEAVES_MAX], n, i, path, k,
			                              &root);
			refuses &= !merkle_path_check(&leaves[i], n, n, path, k, &root);
			refuses &=
				n == 1 || !merkle_path_check(&leaves[i], n, i, path, k - 1, &root);
		}
	}
	tap_ok(same, "roots of 1 to %d leaves", LEAVES_MAX);
	tap_ok(proves, "each leaf's path leads to the root");
	tap_ok(refuses, "no other leaf, place or path does");
}

/* As full as a batch of the writer is, and where the lower rows are odd. */
static void check_large_trees(void)
{
	static const size_t sizes[] = {127, 128, 129, 1000, 4095, 4096, 4097, 9001};
	static struct chain_hash leaves[9001];
	bool same = true;

	randombytes_buf(leaves, sizeof leaves);
	for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
		struct chain_hash want = plain_root(leaves, sizes[k]);
		struct chain_hash root;
		struct merkle m;

		merkle_init(&m);
		for (size_t i = 0; i < sizes[k]; i++)
			merkle_add(&m, &leaves[i]);
		merkle_root(&m, &root);
		same &= memcmp(&root, &want, sizeof root) == 0;
	}
	tap_ok(same, "roots of large trees");
}

/* Each message of each length, in each lane, beside three of other lengths. */
static void check_lanes(void)
{
	struct chain_hash made[LANES];
	struct chain_hash want[LANES];
	bool same = true;

	for (size_t n = 0; n <= LANES_BLOCK_BYTES; n++) {
		struct lane in[LANES] = {0};
		const struct lane *const all[LANES] = {&in[0], &in[1], &in[2], &in[3]};

		for (size_t l = 0; l < LANES; l++) {
			in[l].len_bytes = (n + 31 * l) % (LANES_BLOCK_BYTES + 1);
			randombytes_buf(in[l].bytes, in[l].len_bytes);
		}
		lanes_hash(all, made);
		lanes_hash_plain(all, want);
		same &= memcmp(made, want, sizeof made) == 0;
	}
	tap_ok(same, "four hashes at once are those of libsodium");
}

static void check_anchor(void)
{
	static const char *const wrong[] = {
		"",
		"wary-anchor-1 ",
		"wary-anchor-1 5 00",
		"wary-anchor-2 5 ",
		"wary-anchor-1 99999999999999999999999999999999 00",
		"wary-anchor-1 -1 0000000000000000000000000000000000000000000000000000000000000000",
		"wary-anchor-1 1  000000000000000000000000000000000000000000000000000000000000000",
		("wary-anchor-1 1 "
	         "00000000000000000000000000000000000000000000000000000000000000000")};
	const struct anchor a = {412, {{0xab, 0xcd}}};
	struct anchor back;
	struct buf b = BUF_INIT;
	bool refused = true;

	anchor_write(&b, &a);
	tap_is_str(buf_text(&b),
	           "wary-anchor-1 412 abcd000000000000000000000000000000000000000000000000000000"
	           "000000\n",
	           "an anchor's line");
	tap_is_int(anchor_read(b.data, b.len_bytes, &back), 0, "reads back");
	tap_ok(back.checkpoint == 412 && memcmp(&back.hash, &a.hash, sizeof a.hash) == 0,
	       "the same");
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		refused &= anchor_read(wrong[i], strlen(wrong[i]), &back) == -ERR_FORMAT;
	tap_ok(refused, "what is none is refused");
	buf_free(&b);
}

int main(void)
{
	if (sodium_init() < 0)
		return 1;
	check_leaves();
	check_checkpoint();
	check_certificate();
	check_merkle();
	check_large_trees();
	check_lanes();
	check_anchor();
	return tap_done();
}
