/* Installs: the packages that a program is about to fetch, as questions. */
#ifndef WARY_ANSWER_INSTALL_H
#define WARY_ANSWER_INSTALL_H

#include "answer/execution.h"
#include "tracee/startup.h"

/** install_prepare: if the program is a package manager that installs, fetches
 * its environment, reads the project's files as the caller would, and states a
 * question for each package.  What the same process was asked before (a script
 * that env(1) starts anew) is not asked again.
 * Returns 0, -ERR_NOMEM, -ERR_GONE, or a negative errno (EFAULT, E2BIG). */
must_check int install_prepare(struct request *r, struct execution *x);

/** install_fetch_environment: the variables of the new program, fetched once;
 * mem_valid must follow.  Returns 0 or a negative errno (EFAULT, E2BIG). */
must_check int install_fetch_environment(struct request *r, struct execution *x);

/** install_note: each package as a row of the record.
 * Returns 0 or -ERR_RECORD. */
must_check int install_note(struct request *r, const struct execution *x);

/** install_registry: where all that was asked for is to come from: "host:port",
 * or "registry:MANAGER"; NULL where it is not one place. */
const char *install_registry(const struct execution *x);

/** install_same: whether the environment that the program was really given is
 * the one that the questions were made from, as far as managers read it. */
bool install_same(const struct execution *x, const struct startup *s);

#endif
