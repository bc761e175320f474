/* Files that are doors out of supervision: whoever opens them makes the kernel
 * run programs outside the tree, types into other terminals, or reads and writes
 * below every file system.  Part of the floor: no rule opens them. */
#ifndef WARY_ANSWER_DOORS_H
#define WARY_ANSWER_DOORS_H

#include "tracee/place.h"

#include <stdbool.h>

/** doors_is_shut: whether an existing object must not be opened.
 * @p: resolved, with its object.  @writes: opened for writing. */
bool doors_is_shut(const struct place *p, bool writes);

#endif
