#include "audit/merkle.h"

#include <sodium.h>
#include <string.h>

static void put_node(uint8_t *bytes, const struct chain_hash *left, const struct chain_hash *right)
{
	bytes[0] = 0x01;
	memcpy(bytes + 1, left->bytes, ROWS_HASH_BYTES);
	memcpy(bytes + 1 + ROWS_HASH_BYTES, right->bytes, ROWS_HASH_BYTES);
}

#define NODE_BYTES (1 + 2 * ROWS_HASH_BYTES)

static void node(struct chain_hash *left, const struct chain_hash *right)
{
	uint8_t bytes[NODE_BYTES];

	put_node(bytes, left, right);
	invariant(crypto_generichash(left->bytes, sizeof left->bytes, bytes, sizeof bytes, NULL,
	                             0) == 0);
}

/* The nodes above as many pairs as there are lanes. @out: may be @in. */
static void nodes(const struct chain_hash in[2 * LANES], struct chain_hash out[LANES])
{
	struct lane lanes[LANES];
	const struct lane *const all[LANES] = {&lanes[0], &lanes[1], &lanes[2], &lanes[3]};

	for (size_t i = 0; i < LANES; i++) {
		put_node(lanes[i].bytes, &in[2 * i], &in[2 * i + 1]);
		memset(lanes[i].bytes + NODE_BYTES, 0, sizeof lanes[i].bytes - NODE_BYTES);
		lanes[i].len_bytes = NODE_BYTES;
	}
	lanes_hash(all, out);
}

void merkle_init(struct merkle *m)
{
	m->leaves = 0;
	memset(m->waiting, 0, sizeof m->waiting);
}

void merkle_add(struct merkle *m, const struct chain_hash *leaf)
{
	m->at[0][m->waiting[0]++] = *leaf;
	m->leaves++;
	for (unsigned h = 0; m->waiting[h] == 2 * LANES; h++) {
		invariant(h + 1 < MERKLE_DEPTH_MAX);
		nodes(m->at[h], &m->at[h + 1][m->waiting[h + 1]]);
		m->waiting[h + 1] = (uint8_t)(m->waiting[h + 1] + LANES);
		m->waiting[h] = 0;
	}
}

/* The row above a row of @n, in its place; the last of an odd number goes up as it is, which
 * is the same tree as splitting at powers of two. Returns how many it has. */
static size_t row_above(struct chain_hash *row, size_t n)
{
	size_t to = 0;
	size_t from = 0;

	for (; from + 2 * LANES <= n; from += 2 * LANES, to += LANES)
		nodes(row + from, row + to);
	for (; from + 2 <= n; from += 2, to++) {
		struct chain_hash left = row[from];

		node(&left, &row[from + 1]);
		row[to] = left;
	}
	if (from < n)
		row[to++] = row[from];
	return to;
}

void merkle_root(const struct merkle *m, struct chain_hash *out)
{
	/* What waits at a height, then what came from below it, which is half of the row there,
	 * rounded up: at most as many again. */
	struct chain_hash row[4 * LANES] = {0};
	struct chain_hash below[2 * LANES];
	size_t n = 0;

	memset(out, 0, sizeof *out);
	for (unsigned h = 0; m->leaves >> h; h++) {
		memcpy(below, row, n * sizeof *row);
		memcpy(row, m->at[h], m->waiting[h] * sizeof *row);
		memcpy(row + m->waiting[h], below, n * sizeof *row);
		n += m->waiting[h];
		/* At the height of the largest subtree nothing waits above. */
		while (!(m->leaves >> h >> 1) && n > 1)
			n = row_above(row, n);
		if (m->leaves >> h >> 1)
			n = row_above(row, n);
	}
	if (n)
		*out = row[0];
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
