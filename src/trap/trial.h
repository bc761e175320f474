/* A trial of the listener before anything runs: what a machine does not allow
 * is said then, and not found out with a program half way. */
#ifndef WARY_TRAP_TRIAL_H
#define WARY_TRAP_TRIAL_H

#include "base/err.h"

#include <sys/types.h>

/* What failed; both texts constant. */
struct trial_failure {
	const char *what; /* "adding a descriptor (SECCOMP_IOCTL_NOTIF_ADDFD)" */
	const char *hint; /* what may be the reason, or NULL */
	int error;        /* errno, or 0 */
};

/** trial_kernel: whether the kernel's structures are those that wary was built
 * for. Returns 0 or -ERR_UNSUPPORTED with *why set. */
must_check int trial_kernel(struct trial_failure *why);

/** trial_listener: answers the call that COMMAND makes on being told to (see
 * trap/command.h), the way that every call will be answered: received, its
 * memory read, its validity checked, a descriptor put into it.  Blocks until
 * COMMAND has made it, for 30 s at most.
 * @go_fd: the pipe by which COMMAND is told.
 * Returns 0 or -ERR_UNSUPPORTED with *why set. */
must_check int trial_listener(int listener_fd, int go_fd, struct trial_failure *why);

#endif
