/* Conditions: pure functions of the facts (law 31), with "unknown" as an
 * answer of its own (law 2). */
#ifndef WARY_POLICY_COND_H
#define WARY_POLICY_COND_H

#include "policy/compiled.h"

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
