/* Wary's own processes, and what the filter of each lets through: the rows that
 * src/gen/uses.awk collects, with the forms of trap/forms.def. */
#ifndef WARY_GEN_SELF_H
#define WARY_GEN_SELF_H

#include "call/call.h"
#include "call/scalar.h"

#include <stddef.h>

#define SELF_RULES_MAX 48u

enum self_answer {
	SELF_ABSENT, /* ENOSYS: nothing in the process calls it */
	SELF_ALLOW,
	SELF_RULES, /* what no rule allows is refused */
};

/** self_role: of the role at this index, or NULL beyond the last. */
const char *self_role(size_t role);

/** self_answer: what a role's filter does with a call.
 * @rules: of SELF_RULES_MAX; @rules_n of them are set for SELF_RULES, the last
 * without a condition. */
enum self_answer self_answer(size_t role, const struct call_row *row, struct scalar_rule *rules,
                             size_t *rules_n);

/** self_check: what a declaration names is a call of the table or a form, and a
 * call that has forms is declared by them. Returns NULL, or the name that is wrong. */
const char *self_check(void);

#endif
