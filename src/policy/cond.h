/* Conditions: pure functions of the facts (law 31), with "unknown" as an
 * answer of its own (law 2). */
#ifndef WARY_POLICY_COND_H
#define WARY_POLICY_COND_H

#include "policy/address.h"
#include "policy/tree.h"

/* A program of `by` or a path of `under`. */
struct program_pattern {
	const char *pattern; /* canonical path pattern */
	const char *literal; /* the same as plain text, or NULL */
};

enum ancestor_kind { ANCESTOR_PATH, ANCESTOR_INSTALL, ANCESTOR_SCRIPT };
struct ancestor {
	enum ancestor_kind kind;
	struct program_pattern path;
	const char *glob; /* install: manager, script: package */
};

/* One argument of argv: any number of them, or one of some globs. */
struct argument {
	bool any_number;
	const char *const *globs; /* alternatives */
	size_t n;
};

struct cond {
	enum cond_kind kind;
	const char *text; /* as written */
	bool negated;
	unsigned facts;
	uint64_t until_s;
	const uint8_t *sha256;
	const char *word;         /* COND_VERSION: range; COND_FROM: word */
	const char *const *hosts; /* COND_FROM: of a registry; NULL-terminated */
	size_t n;
	union {
		const struct program_pattern *programs;
		const struct ancestor *ancestors;
		const struct ip_range *ranges;
		const struct argument *arguments; /* COND_ARGV, COND_HAS */
	};
};

/* How an object was met, as far as conditions depend on it. */
struct cond_context {
	const struct facts *facts;
	enum policy_answer answer; /* of the rule: an allow is held to more */
	bool by_root;              /* a package met as what pulled it in */
};

/** cond_holds: one condition.
 * @image_only: set where `by` held for the image and not for its script, so
 *   that argv then counts from the script on; NULL where that does not matter. */
enum fact_state cond_holds(const struct cond *c, const struct cond_context *x, bool *image_only);

/** conds_hold: all of them: no as soon as one is no.
 * @failed: the condition that is no or unknown, where it is so; may be NULL. */
enum fact_state conds_hold(const struct cond *conds, size_t n, const struct cond_context *x,
                           const struct cond **failed);

/** program_matches: whether one of some patterns is this canonical path. */
bool program_matches(const struct program_pattern *patterns, size_t n, const char *path);

#endif
