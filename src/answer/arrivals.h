/* Installed packages on record.
 *
 * A run is a process that was allowed to install, from its exec stop to its
 * end, with all that it starts.  What its processes write below node_modules or
 * site-packages is known from their calls.  When it has ended, a thread inside
 * the boundary looks at just those packages: what is there, what it says it is,
 * and its hash; a row for each (docs/AUDIT.md, "Installed packages").  What is
 * written there later, by something that the run left behind, is looked at when
 * the session ends.
 */
#ifndef WARY_ANSWER_ARRIVALS_H
#define WARY_ANSWER_ARRIVALS_H

#include "audit/audit.h"
#include "base/err.h"

#include <stdint.h>

struct arrivals; /* thread-safe */

/* The number of what has no run of its own; not 0: that is of no manager. */
#define ARRIVALS_LATE UINT32_MAX

/* What is known of a run before it starts; strings are copied. */
struct arrivals_run {
	pid_t pid; /* stands at its exec stop */
	uid_t uid;
	const char *manager;  /* "npm" */
	const char *program;  /* canonical path */
	const char *registry; /* where all of its packages were to come from; NULL */
	uint32_t before;      /* the run that the process belongs to already; 0 */
};

/** arrivals_new: Returns 0 or -ERR_NOMEM. */
must_check int arrivals_new(struct audit *a, struct arrivals **out);

/** arrivals_start: starts the thread; called by one inside the boundary.
 * Returns 0, -ERR_NOMEM, -ERR_SYS. */
must_check int arrivals_start(struct arrivals *a);

/** arrivals_begin: a manager is about to run.  One that executes itself anew
 * goes on with its run.
 * Returns the run's number, for arrivals_touch.  Where there are too many it is
 * that of the run before, or ARRIVALS_LATE: what it writes is looked at when the
 * session ends. */
uint32_t arrivals_begin(struct arrivals *a, const struct arrivals_run *run);

/** arrivals_touch: a process of a run has created, changed or removed something.
 * Cheap for what is in no package.
 * @run: 0: not known of which run.  @path: canonical. */
void arrivals_touch(struct arrivals *a, uint32_t run, const char *path);

/** arrivals_seen: whether there ever was a run: else nothing can be touched. */
bool arrivals_seen(const struct arrivals *a);

/** arrivals_finish: the tree is gone: looks at all that is left (within its
 * bounds) and ends the thread; before the record is closed. */
void arrivals_finish(struct arrivals *a);
void arrivals_free(struct arrivals *a);

#endif
