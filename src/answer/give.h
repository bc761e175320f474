/* Secrets for a program that is about to run: who gets which, and the putting
 * in and taking out of variables at the exec stop (law 9). */
#ifndef WARY_ANSWER_GIVE_H
#define WARY_ANSWER_GIVE_H

#include "answer/execution.h"
#include "tracee/startup.h"

/** give_prepare: decides which secrets the program is to get; those that a
 * person must be asked for become questions.
 * Returns 0 or -ERR_NOMEM. */
must_check int give_prepare(struct request *r, struct execution *x);

/** give_environment: makes the new program's environment: variables that only
 * wary sets, and those that the policy drops, are taken out; its secrets are
 * put in, each on record first.  Sets x->identity.fixed to whether the
 * environment leaves the program its own.
 * Returns 0; on failure the program must not run. */
must_check int give_environment(struct request *r, struct execution *x, struct startup *s);

/** give_any: whether any secret is to be given. */
bool give_any(const struct execution *x);

#endif
