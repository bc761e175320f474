/* What whoever started wary gave it, and what the tree gets of that: as if
 * wary were not there. */
#ifndef WARY_TRAP_INHERIT_H
#define WARY_TRAP_INHERIT_H

#include "base/err.h"

#include <signal.h>
#include <sys/resource.h>

#define INHERIT_CHANGED 3
#define INHERIT_LIMITS 7
/* More than any thread of wary takes. */
#define INHERIT_STACK_BYTES ((size_t)512 << 10)

struct inherit {
	sigset_t mask;                             /* blocked signals */
	struct sigaction actions[INHERIT_CHANGED]; /* of the signals that wary changes */
	struct rlimit limits[INHERIT_LIMITS];      /* those that wary raises for itself */
	sigset_t watched;                          /* signals that wary now blocks, to be read from
	                                              a signalfd and forwarded */
};

/** inherit_take: the first thing that wary does, while it has one thread:
 * remembers what it was given, then takes what it needs itself: signals that
 * are forwarded are blocked, SIGPIPE and SIGXFSZ ignored, as much as it may have
 * of what soft limits keep from it (descriptors, memory, size of a file…), no core
 * dumps; and opens what is closed of descriptors 0 to 2, so that no file of its own
 * gets their numbers (the tree does not inherit those). Returns 0 or -ERR_SYS. */
must_check int inherit_take(struct inherit *out);

/** inherit_room: how many descriptors wary can open, @most at most. */
size_t inherit_room(size_t most);

/** inherit_give: in a child that is to run COMMAND: signals back. Core dumps are
 * off for good: a core is a file that nobody decided. Async-signal-safe.
 * Returns 0 or -errno. */
must_check int inherit_give(const struct inherit *in);

/** inherit_limit: gives that child its limits back, from outside and at last: what
 * it does for wary before it runs COMMAND is not to meet them.
 * Returns 0 or -ERR_SYS (errno says why). */
must_check int inherit_limit(const struct inherit *in, pid_t child);

/** inherit_detach: lets go of standard input and output, so that a pipe ends
 * when the tree lets go of it; standard error stays, for what wary says. */
void inherit_detach(void);

#endif
