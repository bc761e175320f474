#include "call/scalar.h"

#include "call/index.h"
#include "call/rule.h"

#include <netinet/in.h>
#include <sys/socket.h>

#define SCALAR(name, ...) static const struct scalar_rule rules_##name[] = {__VA_ARGS__};
#include "call/scalar.def"
#undef SCALAR

struct rules {
	const struct scalar_rule *rules;
	size_t n;
};

static const struct rules rules_by_row[ROW_COUNT] = {
#define SCALAR(name, ...) \
	[ROW_##name] = {rules_##name, sizeof rules_##name / sizeof rules_##name[0]},
#include "call/scalar.def"
#undef SCALAR
};

const struct scalar_rule *scalar_rules(size_t row_index, size_t *rules_n)
{
	if (row_index >= ROW_COUNT) {
		*rules_n = 0;
		return NULL;
	}
	*rules_n = rules_by_row[row_index].n;
	return rules_by_row[row_index].rules;
}

static bool rule_holds(const struct scalar_rule *r, const uint64_t *args)
{
	for (size_t i = 0; i < SCALAR_CONDS; i++)
		if ((args[r->conds[i].arg] & r->conds[i].mask) != r->conds[i].value)
			return false;
	return true;
}

enum scalar_what scalar_first(const struct scalar_rule *rules, size_t rules_n, const uint64_t *args)
{
	for (size_t i = 0; i < rules_n; i++)
		if (rule_holds(&rules[i], args))
			return rules[i].what;
	return SCALAR_NONE;
}

enum scalar_what scalar_decide(size_t row_index, const uint64_t *args)
{
	size_t n;
	const struct scalar_rule *rules = scalar_rules(row_index, &n);

	return scalar_first(rules, n, args);
}
