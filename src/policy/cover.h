/* How the objects of two rules lie to each other. */
#ifndef WARY_POLICY_COVER_H
#define WARY_POLICY_COVER_H

#include "policy/compiled.h"

/** object_covers: whether @a matches everything that @b matches; false in
 * doubt. */
bool object_covers(const struct object *a, const struct object *b);

/** object_overlaps: whether both match something; true in doubt. */
bool object_overlaps(const struct object *a, const struct object *b);

#endif
