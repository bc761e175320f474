/* What the tree could write at all: the ground under laws 11, 16 and 21. */
#ifndef WARY_POLICY_WRITABLE_H
#define WARY_POLICY_WRITABLE_H

#include "policy/compiled.h"

/** writable_pattern: whether the tree could, without being asked, write or
 * replace some name that a path pattern matches.  True in doubt. */
bool writable_pattern(const struct policy *p, const char *pattern);

#endif
