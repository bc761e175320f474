/* Limits under which wary cannot do its work. */
#ifndef WARY_CMD_LIMITS_H
#define WARY_CMD_LIMITS_H

#include "base/err.h"

/** limits_enough: whether there are descriptors and stack enough for a session, before
 * one is begun; says so where not. Call after inherit_take. Returns 0 or -ERR_SYS. */
must_check int limits_enough(void);

/** limits_say: after a start that failed: which limits are so low that they may be
 * why. Prints nothing where none is. */
void limits_say(void);

#endif
