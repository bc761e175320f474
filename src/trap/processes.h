/* The tree's processes on record: which program each began to run, where it
 * comes from, and how it ended.
 *
 * A process gets a row when it stands at an exec stop, before its first
 * instruction.  One that only forks gets a row ("forked") with its first call that
 * wary sees, or when a child of it is to be placed below it.  Ends are told by the
 * kernel through pidfds, to a thread of their own; since 6.15 with the status.
 */
#ifndef WARY_TRAP_PROCESSES_H
#define WARY_TRAP_PROCESSES_H

#include "audit/audit.h"
#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

struct lineage;
struct processes;

/** processes_start: starts the thread.
 * @l: is told to settle whenever no process ends for a while; outlives this.
 * @guardian: pid of the guardian: nothing above it is of the tree.
 * Returns 0, -ERR_NOMEM, -ERR_SYS. */
must_check int processes_start(struct audit *a, struct lineage *l, pid_t guardian,
                               struct processes **out);

/** processes_loaded: a process is at its exec stop; a row is made of it.
 * @image: its pid, uid, program, object, argv, cwd and sha256; the rest is
 * filled in.  Any thread.
 * Returns 0 or -ERR_RECORD, -ERR_NOMEM: then it must not run. */
must_check int processes_loaded(struct processes *p, const struct audit_event *image);

/** processes_forked: a process that has run no program yet makes its first call that
 * is seen: a row is made of it, unless it has one; with a parent of 0 where wary has
 * no descriptor left to ask by.  Any thread.
 * @listener_fd, @id: the call's notification: where it no longer stands when the
 * process has been looked at, there is no row.
 * Returns 0 or -ERR_RECORD, -ERR_NOMEM. */
must_check int processes_forked(struct processes *p, pid_t pid, int listener_fd, uint64_t id);

/** processes_stop: the tree is gone: rows of ends that are still to come, then
 * frees. @p: or NULL. */
void processes_stop(struct processes *p);

#endif
