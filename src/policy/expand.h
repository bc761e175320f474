/* From one written word to the patterns it stands for: ~, ${NAME}, {a,b}. */
#ifndef WARY_POLICY_EXPAND_H
#define WARY_POLICY_EXPAND_H

#include "policy/message.h"
#include "policy/world.h"

/* Law 32. */
#define EXPAND_MAX 256

struct texts {
	const char **v; /* cooked */
	size_t n, cap;
};

/* A variable of one file. */
struct variable {
	const char *name;
	struct texts values;
	struct spot at;
};

/* The variables that a file sees (law 9): its own `let` and the world's. */
struct scope {
	const struct policy_world *world;
	const char *tenant; /* value of TENANT, or NULL */
	VEC(struct variable) lets;
	struct arena *arena;   /* for what an expansion gives */
	struct arena *lasting; /* for the variables */
	struct policy_report *report;
};

/** scope_let: defines NAME; an error where it is defined already. */
void scope_let(struct scope *s, const struct word *name, struct texts values);

/** scope_home: cooked other home of this user (law 9), or NULL. */
const char *scope_home(struct scope *s);

/** expand_word: the texts that a word stands for, at least one.
 * Returns false with messages. */
bool expand_word(struct scope *s, const struct word *w, struct texts *out);

/** expand_path: the same for a path pattern: each text is checked and brought
 * into the canonical form of glob.h (`P/` becomes `P` and `**` below).
 * @other_home: for deny and ask: what begins with ~ or ${HOME} also means the
 * home of the user database where that differs. */
bool expand_path(struct scope *s, const struct word *w, bool other_home, struct texts *out);

/** expand_is_path: whether a word begins like a path of the grammar, so that
 * expand_path has the better message. */
bool expand_is_path(const struct word *w);

#endif
