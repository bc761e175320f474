/* At the exec stop: what the kernel has loaded against what was judged. */
#ifndef WARY_ANSWER_PROGRAM_SAME_H
#define WARY_ANSWER_PROGRAM_SAME_H

#include "answer/program.h"
#include "tracee/startup.h"

#include <stdbool.h>

/** program_same: whether the program at its exec stop is the one that was
 * judged: image, loader, arguments.  Nothing of it has run yet; it is the tree's
 * doing if anything differs.
 * @p: as program_resolve has found it.
 * @s: what the new image starts with, read at the stop; bytes chosen by the child.
 * Reads /proc of the stopped process, and the image where its hash decided: as
 * long as that takes.
 * Returns false where anything cannot be told. */
bool program_same(const struct program *p, const struct startup *s);

#endif
