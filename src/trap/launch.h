/* Starting the tree: the launcher thread enters the second boundary, forks the
 * guardian, takes the listener, and stays as the one place inside the boundary
 * where the rest of wary can have something done. */
#ifndef WARY_TRAP_LAUNCH_H
#define WARY_TRAP_LAUNCH_H

#include "base/err.h"
#include "policy/policy.h"
#include "trap/boundary.h"
#include "trap/guardian.h"
#include "trap/inherit.h"
#include "trap/trial.h"

#include <stdbool.h>
#include <sys/types.h>

struct launch;

struct launch_config {
	char *const *argv; /* COMMAND and its arguments */
	char *const *envp; /* without what is kept from the tree */
	const struct inherit *inherit;
	const struct policy *policy;
	bool stat; /* the policy speaks of stat: those calls are trapped */
	void (*orphaned)(const void *ctx, int wary_pidfd); /* struct guardian */
	const void *orphaned_ctx;
};

struct launch_info {
	int listener_fd; /* owned by the launch */
	pid_t guardian_pid;
	pid_t command_pid;
	struct boundary boundary;
};

/** launch_begin: makes wary a subreaper, starts the launcher thread, and
 * returns once it has forked the guardian: keys may be read from then on, no
 * sooner (law 1).
 * @c: everything in it outlives the launch.
 * Returns 0, or -ERR_SYS, -ERR_UNSUPPORTED with *why set. */
must_check int launch_begin(const struct launch_config *c, struct launch **out,
                            struct trial_failure *why);

/** launch_listen: waits until COMMAND is under the filter, takes the listener
 * and tries it.
 * Returns 0, or -ERR_UNSUPPORTED with *why set: then launch_stop and launch_free; nothing
 * has run. */
must_check int launch_listen(struct launch *l, struct launch_info *out, struct trial_failure *why);

/** launch_inside: has the launcher thread run a function, in the boundary;
 * waits for it. Returns what it returns. */
int launch_inside(struct launch *l, int (*run)(void *ctx), void *ctx);

/** launch_go: lets COMMAND execute. Returns 0 or -ERR_SYS. */
must_check int launch_go(struct launch *l);

/** launch_event_fd: polls readable when launch_event has something. */
int launch_event_fd(const struct launch *l);

/** launch_event: the guardian's next message; does not block.
 * Returns 0, -ERR_BUSY where there is none, or -ERR_GONE once the guardian has
 * ended: the tree is then gone, if it ended with GUARDIAN_ENDED said. */
must_check int launch_event(struct launch *l, struct guardian_message *out);

/** launch_forward: passes a signal that wary itself got on to COMMAND.
 * @sender: the process that sent it, 0 unknown. */
void launch_forward(struct launch *l, int signal, pid_t sender);

/** launch_kill: ends the tree. The guardian does it; where that has gone, the
 * launcher thread, which then waits until nobody is left. */
void launch_kill(struct launch *l, bool guardian_gone);

/** launch_stop: waits until the guardian has ended, and with it the tree; a
 * COMMAND that has not been let go is ended.  The listener then hangs up, so
 * that whoever receives from it stops; only afterwards launch_free. */
void launch_stop(struct launch *l);

/** launch_free: ends the launcher thread, closes the listener, frees. After
 * launch_stop. NULL is fine. */
void launch_free(struct launch *l);

#endif
