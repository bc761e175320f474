/* Secrets that a session holds, and what is put into a program's environment
 * at its exec stop (law 9).
 *
 * Values live in one piece of memory that is locked, not dumped, and not there
 * in any process that wary forks afterwards.
 */
#ifndef WARY_SECRET_GRANT_H
#define WARY_SECRET_GRANT_H

#include "base/buf.h"
#include "base/err.h"
#include "policy/policy.h"
#include "tracee/startup.h"

#include <stdbool.h>
#include <stddef.h>

struct secrets; /* constant once taken; NULL: none */

/** secrets_take: takes the values that the policy's secrets name out of wary's
 * own environment: the strings themselves are overwritten, so that neither the
 * tree's environment nor /proc/WARY/environ has them.  Before anything forks.
 * @envp: wary's environ; shortened in place.
 * A variable that is not set gives a secret without a value: nobody gets it.
 * Returns 0, -ERR_NOMEM, -ERR_SYS, or -ERR_BOUND for more than about 80 KiB. */
must_check int secrets_take(const struct policy *p, char **envp, struct secrets **out);

/** secrets_free: overwrites and frees; NULL is fine. */
void secrets_free(struct secrets *s);

/** secrets_manages: whether an entry "NAME=value" of an environment is a
 * variable that only wary sets: it is removed at every exec stop. */
bool secrets_manages(const struct secrets *s, const char *entry);

/** secrets_has: whether secret @i of the policy has a value. */
bool secrets_has(const struct secrets *s, size_t i);

/** secrets_put: adds secret @i to a program's environment.
 * Returns 0, -ERR_NOTFOUND without a value, -ERR_BOUND, -ERR_NOMEM. */
must_check int secrets_put(const struct secrets *s, size_t i, struct startup *to);

/** secrets_redact: for the record: appends @text to @out with each value
 * replaced by "[NAME]", also in the encoded forms of secret/redact.h.
 * @secrets: a struct secrets.
 * Returns whether it differs; @out is then what may be shown. */
bool secrets_redact(void *secrets, const char *text, size_t len_bytes, struct buf *out);

#endif
