/* Deciding: what matches is found through the indexes and weighed as it is
 * found, so that no list of candidates is kept. */
#ifndef WARY_POLICY_MATCH_H
#define WARY_POLICY_MATCH_H

#include "policy/compiled.h"
#include "policy/cond.h"

/* What one layer has been found to say, by the numbers of objects.
 *
 * Invariant (law 2): a rule whose condition is unknown may decide; only the
 * latest such rule of each answer matters, and of finals the first. */
struct tally {
	uint32_t sure;
	uint32_t maybe[ANSWER_KILL + 1];
	uint32_t final_sure;
	uint32_t final_maybe[ANSWER_KILL + 1];
};

struct decision {
	const struct policy *policy;
	const struct facts *facts;
	enum policy_class class;
	const char *path; /* the canonical name that path patterns are held
	                         against: object, socket, or an inode's name */
	bool loosest;     /* what could be allowed at all, whoever acts */
	bool overflow;    /* too many patterns at once: refused */
	bool is_delegate, is_special;
	struct tally tallies[LAYER_COUNT];
};

void decision_begin(struct decision *d, const struct policy *p, const struct facts *f);

/** decision_walk: weighs all rules that speak of the object. */
void decision_walk(struct decision *d);

/** decision_choose: what a layer says: an object's number, or 0: its default.
 * *sure: no rule or default with an unknown condition had a part in it; may be
 * NULL. */
uint32_t decision_choose(const struct decision *d, enum layer layer, bool *sure);

/** decision_verdict: the verdict of all layers together, answers included. */
void decision_verdict(const struct decision *d, struct verdict *out);

/** verdict_of_object, verdict_of_default: the verdict of one layer alone. */
void verdict_of_object(const struct policy *p, uint32_t object, struct verdict *out);
/** Returns false where no default reaches the class. */
bool verdict_of_default(const struct policy *p, enum layer layer, enum policy_class class,
                        struct verdict *out);

/** match_object: whether and why an object that speaks of the facts applies:
 * everything but conditions. *why: where not. */
enum fact_state match_object(const struct decision *d, const struct object *o, bool by_root,
                             enum policy_why *why);

/** match_names: whether an object's pattern speaks of the facts' object at
 * all, without any index: for explaining. *by_root: as what pulled it in. */
bool match_names(const struct decision *d, const struct object *o, bool *by_root);

/** floor_opened: whether a floor object is one that the machine's policy
 * opened (law 6). */
bool floor_opened(const struct decision *d, uint32_t object);

/** policy_decide_any: the verdict, conditions of the loosest kind: as if every
 * condition could hold. For may_write. Returns the answer. */
enum policy_answer decide_loosest(const struct policy *p, enum policy_class class,
                                  const char *path);

#endif
