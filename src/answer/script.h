/* Install scripts of packages: what a package manager starts on behalf of a
 * package that it has just unpacked (npm's postinstall and the like). */
#ifndef WARY_ANSWER_SCRIPT_H
#define WARY_ANSWER_SCRIPT_H

#include "answer/execution.h"

/** script_prepare: if a manager starts the install script of a package, states
 * a question of class script, and has the new program marked "script:NAME".
 * The scripts of the project itself are none.
 * Returns 0, -ERR_NOMEM, -ERR_GONE, or a negative errno (EFAULT, E2BIG). */
must_check int script_prepare(struct request *r, struct execution *x);

#endif
