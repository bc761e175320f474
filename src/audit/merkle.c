#include "audit/merkle.h"

#include <sodium.h>
#include <string.h>

static void node(struct chain_hash *left, const struct chain_hash *right)
{
	uint8_t bytes[1 + 2 * ROWS_HASH_BYTES];

	bytes[0] = 0x01;
	memcpy(bytes + 1, left->bytes, ROWS_HASH_BYTES);
	memcpy(bytes + 1 + ROWS_HASH_BYTES, right->bytes, ROWS_HASH_BYTES);
	invariant(crypto_generichash(left->bytes, sizeof left->bytes, bytes, sizeof bytes, NULL,
	                             0) == 0);
}

void merkle_init(struct merkle *m)
{
	m->height = 0;
	m->leaves = 0;
}

void merkle_add(struct merkle *m, const struct chain_hash *leaf)
{
	invariant(m->height < MERKLE_DEPTH_MAX);
	m->stack[m->height++] = *leaf;
	/* As many subtrees are now of equal size as a carry ripples. */
	for (uint64_t n = m->leaves++; n & 1; n >>= 1) {
		node(&m->stack[m->height - 2], &m->stack[m->height - 1]);
		m->height--;
	}
}

void merkle_root(const struct merkle *m, struct chain_hash *out)
{
	struct chain_hash right;

	if (!m->height) {
		memset(out, 0, sizeof *out);
		return;
	}
	right = m->stack[m->height - 1];
	for (unsigned i = m->height - 1; i > 0; i--) {
		struct chain_hash left = m->stack[i - 1];

		node(&left, &right);
		right = left;
	}
	*out = right;
}

/* The largest power of two below @n, for n > 1. */
static uint64_t split(uint64_t n)
{
	uint64_t k = 1;

	while (k < n - k)
		k *= 2;
	return k;
}

static void root_of(const struct chain_hash *leaves, uint64_t count, struct chain_hash *out)
{
	struct merkle m;

	merkle_init(&m);
	for (uint64_t i = 0; i < count; i++)
		merkle_add(&m, &leaves[i]);
	merkle_root(&m, out);
}

unsigned merkle_path(const struct chain_hash *leaves, uint64_t count, uint64_t index,
                     struct chain_hash *out)
{
	struct chain_hash down[MERKLE_DEPTH_MAX];
	unsigned n = 0;

	invariant(index < count);
	while (count > 1) {
		uint64_t k = split(count);

		invariant(n < MERKLE_DEPTH_MAX);
		if (index < k) {
			root_of(leaves + k, count - k, &down[n++]);
			count = k;
		} else {
			root_of(leaves, k, &down[n++]);
			leaves += k;
			index -= k;
			count -= k;
		}
	}
	for (unsigned i = 0; i < n; i++)
		out[i] = down[n - 1 - i];
	return n;
}

bool merkle_path_check(const struct chain_hash *leaf, uint64_t count, uint64_t index,
                       const struct chain_hash *path, unsigned path_n,
                       const struct chain_hash *root)
{
	bool right[MERKLE_DEPTH_MAX]; /* the leaf's side at each level, from the top */
	struct chain_hash at = *leaf;
	unsigned n = 0;

	if (index >= count || count > (uint64_t)1 << (MERKLE_DEPTH_MAX - 1))
		return false;
	for (; count > 1; n++) {
		uint64_t k = split(count);

		right[n] = index >= k;
		index -= right[n] ? k : 0;
		count = right[n] ? count - k : k;
	}
	if (n != path_n)
		return false;
	for (unsigned i = 0; i < n; i++) {
		struct chain_hash left = right[n - 1 - i] ? path[i] : at;

		node(&left, right[n - 1 - i] ? &at : &path[i]);
		at = left;
	}
	return sodium_memcmp(at.bytes, root->bytes, sizeof at.bytes) == 0;
}
