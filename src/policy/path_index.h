/* Path patterns as a tree of their parts, walked as a set of states.
 *
 * Invariants: node 0 is "none", node 1 the root.  A node has one parent, and
 * is reached at most once for one beginning of a name unless it is a `**` node
 * below another one; so the states of a name are few, and walking a name
 * costs (parts of the name) × (states), never the number of patterns. */
#ifndef WARY_POLICY_PATH_INDEX_H
#define WARY_POLICY_PATH_INDEX_H

#include "policy/glob.h"
#include "policy/hash.h"

#define PATH_ROOT 1u
/* More states at once than policies that people write can have; a name that
 * needs more is refused (fail closed). */
#define PATH_STATES_MAX 1024

enum path_node_kind { PATH_LITERAL, PATH_GLOB, PATH_ANY };

/* What walking a name looks at: four to a cache line. */
struct path_node {
	uint32_t objects; /* list of what ends here; 0: nothing */
	uint32_t star;    /* the child for `**`, or 0 */
	uint32_t globs;   /* first child that is a glob, or 0 */
	uint8_t kind;
	bool may_repeat; /* a `**` below another */
};

/* The rest of a node. */
struct path_more {
	struct slice part; /* of a glob */
	uint32_t next_glob;
	uint32_t children, next_child; /* of every kind */
};

/* A literal child: found by its parent and the part's bytes in one look. */
#define EDGE_INLINE_BYTES 20
struct path_edge {
	uint32_t parent;
	uint32_t child; /* 0: free */
	uint32_t n;
	char bytes[EDGE_INLINE_BYTES]; /* where n is not more; else a pointer */
};

struct path_index {
	VEC(struct path_node) nodes;
	VEC(struct path_more) more; /* of the same numbers */
	struct path_edge *edges;    /* a hash table of edges_cap slots */
	size_t edges_n, edges_cap;
	struct arena *arena;
};

struct path_states {
	uint32_t v[PATH_STATES_MAX];
	size_t n;
	bool overflow; /* fail closed */
};

void path_index_begin(struct path_index *ix, struct arena *a);

/** path_index_add: the node of a canonical pattern (glob.h), made if new. */
uint32_t path_index_add(struct path_index *ix, const char *pattern);

/** path_index_find: the node of a canonical pattern, or 0. */
uint32_t path_index_find(const struct path_index *ix, const char *pattern);

/** path_index_states: the nodes that a canonical name leads to: what ends
 * there matches the name. */
void path_index_states(const struct path_index *ix, const char *name, struct path_states *out);

#endif
