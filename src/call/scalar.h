/* Decisions on register scalars alone, from call/scalar.def: the filter is
 * compiled from these rules, and the decoder looks at them once more to tell
 * what a notification was for. */
#ifndef WARY_CALL_SCALAR_H
#define WARY_CALL_SCALAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scalar_what {
	SCALAR_NONE, /* the call has no rules: its means decides */
	SCALAR_ALLOW,
	SCALAR_STAT, /* allowed while no rule speaks of stat, else notified */
	SCALAR_NOTIFY,
	SCALAR_REFUSE, /* notified, to be refused with the row's errno */
	SCALAR_ZERO,   /* answered 0 and not done */
};

#define SCALAR_CONDS 3

/* (args[arg] & mask) == value; mask 0: no condition. */
struct scalar_cond {
	unsigned arg;
	uint64_t mask;
	uint64_t value;
};

/* All conditions must hold. */
struct scalar_rule {
	enum scalar_what what;
	struct scalar_cond conds[SCALAR_CONDS];
};

/** scalar_rules: the rules of a row, in order; the last has no condition.
 * @row_index: as of call_row_at.
 * @rules_n: set to their number; 0 where the call has none.
 * Returns a constant table, or NULL. */
const struct scalar_rule *scalar_rules(size_t row_index, size_t *rules_n);

/** scalar_first: what the first of these rules that holds says of these arguments
 * (six registers); SCALAR_NONE where none holds. */
enum scalar_what scalar_first(const struct scalar_rule *rules, size_t rules_n,
                              const uint64_t *args);

/** scalar_decide: what the rules say of these arguments (six registers). */
enum scalar_what scalar_decide(size_t row_index, const uint64_t *args);

#endif
