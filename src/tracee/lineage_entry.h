/* Entries of the lineage: made once, never changed, counted. */
#ifndef WARY_TRACEE_LINEAGE_ENTRY_H
#define WARY_TRACEE_LINEAGE_ENTRY_H

#include "tracee/lineage.h"

/** entry_new: an entry with one reference, in one piece of memory.
 * @before: what the process ran until now; NULL: nothing is known.
 * @exec: what it runs from now on; NULL: nothing is known of it.
 * Returns NULL without memory. */
struct lineage_entry *entry_new(const struct lineage_entry *before,
                                const struct lineage_exec *exec);

/** entry_get: one more reference; NULL stays NULL. */
const struct lineage_entry *entry_get(const struct lineage_entry *e);
/** entry_put: one less; frees with the last. */
void entry_put(const struct lineage_entry *e);

/** entry_same_print: whether both stand for the same exec, for certain. */
bool entry_same_print(const struct lineage_print *a, const struct lineage_print *b);

#endif
