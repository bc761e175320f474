/* Who gets a secret (law 25). */
#ifndef WARY_POLICY_SECRET_H
#define WARY_POLICY_SECRET_H

#include "policy/compiled.h"

/** secret_decide: policy_decide for the class secret: f->object is the name,
 * f->by who would get it. */
void secret_decide(const struct policy *p, const struct facts *f, struct verdict *out);

/** secret_goes_to: whether a statement gives its secret to f->by.
 * @failed: the condition that is no or unknown, or NULL where it is `to`. */
enum fact_state secret_goes_to(const struct secret_rule *s, const struct facts *f,
                               const struct cond **failed);

#endif
