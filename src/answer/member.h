/* Processes that a call names by number: they must be of the tree.
 *
 * A number can pass to another process at any moment.  What is judged here is
 * pinned (a descriptor of its folder in /proc), and whether the number still
 * means that process is asked again after whatever was done by number. */
#ifndef WARY_ANSWER_MEMBER_H
#define WARY_ANSWER_MEMBER_H

#include "answer/request.h"

#include <stdbool.h>
#include <sys/types.h>

struct member {
	pid_t pid;   /* of a process or a thread */
	int proc_fd; /* its folder in /proc, owned; -1: none */
};

/** member_open: pins a process or thread that must be of the tree.
 * @pid: as the caller gave it, greater than 0.
 * Returns 0, -ESRCH, -ERR_OUTSIDE, -ERR_NOFD. */
must_check int member_open(struct request *r, pid_t pid, struct member *out);
void member_close(struct member *m);

/** member_still: whether its number has meant the same process all along. */
bool member_still(const struct member *m);

/** member_is_caller: whether a number is the caller's own process, or the
 * thread that calls: those cannot pass to another while the call waits. */
bool member_is_caller(struct request *r, pid_t pid);

/** member_each: calls @each for every process of the tree, once or (those that
 * come meanwhile) until two rounds find nothing new.
 * @group: only those of this process group; 0: all.
 * @each: returns 0 or -errno.
 * Returns how many were met, or the first -errno where none gave 0; -ERR_NOMEM,
 * -ERR_SYS; -ERR_NOFD where one could not be looked at. */
must_check int member_each(struct request *r, pid_t group,
                           int (*each)(void *ctx, const struct member *m), void *ctx);

/** member_group_is_inside: whether every process of a group is of the tree, and
 * there is at least one. */
bool member_group_is_inside(struct request *r, pid_t group);

#endif
