/* The processes below one, by /proc: to end them where the kernel has no scope
 * for signals, and to count them. */
#ifndef WARY_TRAP_TREE_H
#define WARY_TRAP_TREE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** tree_each: every living descendant of a process, parents before children.
 * Processes may come and go meanwhile: one that is forked during the walk by
 * one already visited can be missed. Blocks on /proc only.
 * @whole: false where something could not be looked at (no descriptor, no
 * memory); NULL: not asked.  Returns how many were visited. */
size_t tree_each(pid_t root, void (*each)(void *ctx, pid_t pid), void *ctx, bool *whole);

/** tree_end: kills every process below the calling one, which is their
 * subreaper, and waits until none is left; blocks.
 * @scoped: the kernel's signal scope holds for the calling thread, so that
 * kill(-1) reaches the domain at once, forks in progress included, and nothing
 * else; a child outside the domain stays.  Else rounds of looking and killing,
 * until a round finds nobody.  A round that could not look everywhere is none. */
void tree_end(bool scoped);

#endif
