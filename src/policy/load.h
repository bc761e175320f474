/* Loading, between the files of policy/. */
#ifndef WARY_POLICY_LOAD_H
#define WARY_POLICY_LOAD_H

#include "policy/compiled.h"

/** load_policy: policy_load, and @after on the compiled policy before what is
 * needed only for messages goes; @after may be NULL. */
must_check int load_policy(const struct policy_world *world, const char *const *files,
                           void (*after)(struct policy *p, const struct policy_world *w,
                                         struct policy_report *r),
                           struct policy **out, struct policy_report **report);

#endif
