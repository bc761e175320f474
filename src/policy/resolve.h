/* Links that a policy's own patterns go through, looked up while it loads. */
#ifndef WARY_POLICY_RESOLVE_H
#define WARY_POLICY_RESOLVE_H

#include "policy/hash.h"
#include "policy/world.h"

struct looked {
	enum policy_kind kind;
	bool has_identity;
	const char *target;
	uint64_t dev, ino;
};

/* Canonical names of the links passed. */
struct links {
	const char **v;
	size_t n, cap;
};

/* What a path leads to. */
struct resolved {
	const char *canon; /* "": the root */
	struct links links;
	bool bottom; /* nothing is below it, as far as is known */
};

/* A folder of which names were asked for. */
struct listed {
	unsigned asked;
	bool done;         /* it was tried to list it */
	const char *names; /* as world.list gave them, or NULL */
};

/* Remembers every answer of the world, so that each name is asked once. */
struct resolver {
	const struct policy_world *world;
	struct arena *arena;
	struct text_map names;         /* to an index in looked */
	VEC(struct looked) looked;     /* [0] unused */
	struct text_map folders;       /* to an index in listed */
	VEC(struct listed) listed;     /* [0] unused */
	struct text_map paths;         /* to an index in resolved */
	VEC(struct resolved) resolved; /* [0] unused */
};

void resolver_begin(struct resolver *r, struct arena *a, const struct policy_world *world);

/** resolve_path: the canonical form of an absolute plain path; what does not
 * exist is kept as it is written.  Never follows into /proc, whose links mean
 * something else for everyone.
 * @follow_last: false: the last name is kept even where it is a link.
 * @links: appended to. */
const char *resolve_path(struct resolver *r, const char *path, bool follow_last,
                         struct links *links);

/** resolve_identity: device and inode of a canonical path that is no folder. */
bool resolve_identity(struct resolver *r, const char *path, uint64_t *dev, uint64_t *ino);

#endif
