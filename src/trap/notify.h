/* The listener's ioctls (seccomp_unotify(2)): receive, check, add, answer.
 * The only place that says FLAG_CONTINUE. */
#ifndef WARY_TRAP_NOTIFY_H
#define WARY_TRAP_NOTIFY_H

#include "base/err.h"

#include <linux/seccomp.h>
#include <stdint.h>

/** notify_receive: takes the next notification; blocks.
 * Returns 0 or -errno: -EINTR after a signal, -ENOENT when its caller died
 * first, or on newer kernels when nobody is left to notify. */
must_check int notify_receive(int listener_fd, struct seccomp_notif *out);

/** notify_valid: whether the notification still waits for its answer, so that
 * what was fetched by tid before this was the caller's (law 3).
 * Returns 0 or -ERR_GONE. */
must_check int notify_valid(int listener_fd, uint64_t id);

/** notify_add_fd: puts a descriptor into the caller, without answering.
 * @fd: wary's; stays wary's, to be closed before the answer (law 6).
 * @fd_flags: O_CLOEXEC or 0.  @at_fd: the number it must get, or -1.
 * Returns the caller's number, or -errno (EMFILE: its table is full). */
long notify_add_fd(int listener_fd, uint64_t id, int fd, unsigned fd_flags, int at_fd);

/** notify_send: answers with a result, or -errno.  A caller that has gone
 * meanwhile is no error: there is nobody to tell. */
void notify_send(int listener_fd, uint64_t id, long value);

/** notify_continue: lets the kernel run the call as it stands.  Only for what
 * is decided where what can still change decides nothing: each row that does
 * so says why in call/table.def. */
void notify_continue(int listener_fd, uint64_t id);

#endif
