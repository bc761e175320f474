/* Between the files of the checker. */
#ifndef WARY_POLICY_CHECKS_H
#define WARY_POLICY_CHECKS_H

#include "policy/compiled.h"

/* One check under way. */
struct checking {
	struct policy *p;
	const struct policy_world *world;
	struct policy_report *report;
	/* Objects that may cover others: with a wildcard, of a rule without
	 * conditions. */
	VEC(uint32_t) wide;
};

const struct rule *check_rule_of(const struct checking *k, uint32_t object);
/** check_covers: whether the object @by covers @object. */
bool check_covers(const struct checking *k, uint32_t by, uint32_t object);

/** check_programs: conditions that a copy of the program evades (law 21). */
void check_programs(const struct checking *k);
/** check_secrets: secrets that nobody can receive. */
void check_secrets(const struct checking *k);
/** check_costs: notes on what rules cost or do not mean here. */
void check_costs(const struct checking *k);

#endif
