/* Names and globs of names: hosts, packages, words.  A glob is found by its
 * literal beginning, so that many of them cost as little as one. */
#ifndef WARY_POLICY_NAME_INDEX_H
#define WARY_POLICY_NAME_INDEX_H

#include "policy/glob.h"
#include "policy/hash.h"

/* Beginnings of globs are kept apart up to this length. */
#define NAME_PREFIX_MAX 255

struct name_glob {
	const char *glob;
	uint32_t objects; /* the head of a list */
	uint32_t next;    /* of the same beginning; 0: none */
};

struct name_index {
	struct arena *arena;
	struct text_map exact;                      /* to a list of objects */
	struct text_map prefixes;                   /* to the first glob */
	VEC(struct name_glob) globs;                /* [0] unused */
	uint64_t lengths[NAME_PREFIX_MAX / 64 + 1]; /* that beginnings have */
};

void name_index_begin(struct name_index *ix, struct arena *a);

/** name_index_at: where the objects of a cooked glob or name are listed. */
uint32_t *name_index_at(struct name_index *ix, const char *glob);

/* What matches a name: name_index_first, then name_index_next until it is 0;
 * each is the head of a list of objects. */
struct name_walk {
	const struct name_index *ix;
	struct slice name;
	size_t len;    /* of the beginning to look at next */
	uint32_t glob; /* the next glob to look at */
	bool exact_done;
};
void name_walk_begin(struct name_walk *w, const struct name_index *ix, const char *name);
uint32_t name_walk_next(struct name_walk *w);

#endif
