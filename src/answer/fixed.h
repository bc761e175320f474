/* Which files the tree can neither write nor replace: what a rule or a secret
 * may name as the program that it trusts (law 21 of the language). */
#ifndef WARY_ANSWER_FIXED_H
#define WARY_ANSWER_FIXED_H

#include "tracee/place.h"

#include <stdbool.h>

struct supervisor;

/** fixed_path: whether neither the policy nor the file system lets the tree
 * change what an absolute, canonical name stands for: the file, and every
 * folder on the way to it.  Called with wary's own credentials. */
bool fixed_path(const struct supervisor *s, const char *canon);

/** fixed_file: the same for what was resolved: false also for files without a
 * name, deleted ones, and those reached through procfs. */
bool fixed_file(const struct supervisor *s, const struct place *p);

/** fixed_way: whether the name as it was written will lead to the same file
 * when somebody (a script's interpreter) opens it again: no link and no folder
 * on its way that the tree can change. */
bool fixed_way(const struct supervisor *s, const struct place *p);

#endif
