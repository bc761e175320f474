/* The environment that COMMAND starts with. */
#ifndef WARY_CMD_ENVIRONMENT_H
#define WARY_CMD_ENVIRONMENT_H

#include "base/err.h"
#include "policy/policy.h"

#include <stdbool.h>

/** environment_make: what `env drop`, `env pass` and `env set` of the policy
 * make of an environment; secrets have been taken out of it before.
 * @lookups: the DNS guard answers: the C library must ask it by TCP, since by UDP
 *   it takes answers from its own server's address alone (resolv.conf(5)).
 * @envp: not changed. @out: NULL-terminated; environment_free().
 * Returns 0 or -ERR_NOMEM. */
must_check int environment_make(const struct policy *p, char *const *envp, bool lookups,
                                char ***out);

/** environment_free: NULL is fine. */
void environment_free(char **envp);

#endif
