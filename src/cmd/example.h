/* An example that a rule speaks of: one object for a pattern. */
#ifndef WARY_CMD_EXAMPLE_H
#define WARY_CMD_EXAMPLE_H

#include "base/buf.h"
#include "policy/facts.h"

#include <stdbool.h>

/** example_object: appends an object of @class that @pattern (as a compiled
 * rule lists it, wildcards and escapes of the language in it) matches.
 * Returns false where none can be written: sets that only a running session
 * knows. */
bool example_object(enum policy_class class, const char *pattern, struct buf *out);

/** example_next_object: the next object of a rule as written, for classes whose
 * objects are no patterns.
 * @rest: the rule, behind its classes; moved on.
 * Returns memory (free(3)), NULL at the first condition or option. */
char *example_next_object(const char **rest);
/** example_skip_head: the rule as written, behind verdict and classes. */
const char *example_skip_head(const char *rule);

/** example_conditions: appends the facts that a rule's conditions ask for, as
 * a question writes them: " by P under A argv W…", from the rule as written.
 * Returns false where they cannot be stated. */
bool example_conditions(const char *rule, struct buf *out);

#endif
