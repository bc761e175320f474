#include "policy/range_index.h"

#include <string.h>

void range_index_begin(struct range_index *ix, struct arena *a)
{
	*ix = (struct range_index){.arena = a};
	*vec_push(a, &ix->nodes) = (struct range_node){0};
}

static unsigned bit_at(const uint8_t *ip, unsigned i)
{
	return ip[i / 8] >> (7 - i % 8) & 1u;
}

/* How many of the first @max bits are the same. */
static unsigned common_bits(const uint8_t *a, const uint8_t *b, unsigned max)
{
	unsigned n = 0;

	while (n + 8 <= max && a[n / 8] == b[n / 8])
		n += 8;
	while (n < max && bit_at(a, n) == bit_at(b, n))
		n++;
	return n;
}

static uint32_t node_new(struct range_index *ix, const uint8_t *ip, uint8_t bits)
{
	struct range_node node = {.bits = bits};

	memcpy(node.ip, ip, 16);
	*vec_push(ix->arena, &ix->nodes) = node;
	return (uint32_t)(ix->nodes.n - 1);
}

/* Puts a node of @bits bits above @below and returns it. */
static uint32_t node_above(struct range_index *ix, uint32_t below, uint8_t bits)
{
	uint8_t ip[16];
	uint32_t id;

	memcpy(ip, ix->nodes.v[below].ip, 16);
	id = node_new(ix, ip, bits);
	ix->nodes.v[id].child[bit_at(ip, bits)] = below;
	return id;
}

/* Links a node where its parent (0: the root) refers to it. */
static void node_link(struct range_index *ix, uint32_t parent, unsigned side, uint32_t node)
{
	if (parent)
		ix->nodes.v[parent].child[side] = node;
	else
		ix->root = node;
}

uint32_t *range_index_at(struct range_index *ix, const uint8_t *ip, uint8_t bits)
{
	uint32_t parent = 0;
	unsigned side = 0;
	uint32_t node = ix->root;
	uint32_t fresh;

	while (node) {
		uint8_t have = ix->nodes.v[node].bits;
		unsigned max = have < bits ? have : bits;
		unsigned same = common_bits(ix->nodes.v[node].ip, ip, max);

		if (same < have) {
			node = node_above(ix, node, (uint8_t)same);
			node_link(ix, parent, side, node);
			have = (uint8_t)same;
		}
		if (have == bits)
			return &ix->nodes.v[node].entries;
		parent = node;
		side = bit_at(ip, have);
		node = ix->nodes.v[node].child[side];
	}
	fresh = node_new(ix, ip, bits);
	node_link(ix, parent, side, fresh);
	return &ix->nodes.v[fresh].entries;
}

static bool holds(const struct range_node *n, const uint8_t *ip)
{
	return common_bits(n->ip, ip, n->bits) == n->bits;
}

uint32_t range_index_next(const struct range_index *ix, const uint8_t *ip, unsigned bits_max,
                          uint32_t *node)
{
	for (;;) {
		const struct range_node *n;

		if (!*node)
			*node = ix->root;
		else if (ix->nodes.v[*node].bits >= bits_max)
			*node = 0;
		else
			*node = ix->nodes.v[*node].child[bit_at(ip, ix->nodes.v[*node].bits)];
		n = &ix->nodes.v[*node];
		if (!*node || !holds(n, ip)) {
			*node = 0;
			return 0;
		}
		if (n->entries)
			return n->entries;
	}
}
