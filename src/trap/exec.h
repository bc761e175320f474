/* The exec stop: lets a trapped execve run under ptrace, so that what it
 * loaded is looked at before its first instruction (law 8).
 *
 * How it works.  The thread that received the notification seizes the caller,
 * checks that the notification still stands (so that it was the caller that
 * was seized), interrupts it, answers "continue" and waits.  The caller then
 * stops exactly once more: where the new program is loaded, or, because of the
 * interrupt, where the call has failed.
 *
 * Invariants:
 * 1. Nothing continues unverified: where the caller cannot be traced the
 *    notification is not answered here, and the caller gets EAGAIN.
 * 2. The function returns only when wait says that this thread has no tracee
 *    left: one left attached becomes a zombie that its parent never sees.
 * 3. A program whose exec stop nobody expected is killed, not let go.
 */
#ifndef WARY_TRAP_EXEC_H
#define WARY_TRAP_EXEC_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum exec_end {
	EXEC_LOADED,   /* the program was loaded, looked at, and runs */
	EXEC_KILLED,   /* it was loaded and refused: killed */
	EXEC_FAILED,   /* the kernel refused: the caller has error's errno */
	EXEC_RESTARTS, /* interrupted: the call comes again, notified anew */
	EXEC_DIED,     /* the caller died in it, past the point of no return */
	EXEC_GONE,     /* the caller had left, or another thread's exec took it */
	EXEC_BUSY,     /* it could not be traced: not answered, see error */
};

struct exec_result {
	enum exec_end end;
	int error; /* EXEC_FAILED: positive errno; EXEC_BUSY: of the seize */
};

struct exec_watch {
	/* The new program stands at its first instruction, as process @pid
	 * (the leader's number, whichever thread called).  Called by the
	 * tracing thread.  Returns whether it may run; if not it is killed. */
	bool (*loaded)(void *ctx, pid_t pid);
	void *ctx;
};

/** exec_run: lets one notified execve or execveat run, and looks.
 * @listener_fd, @id, @tid: of the notification; the thread that calls must be
 *   the one that may wait for the tracee, and have no other tracee or child.
 * Blocks for as long as the kernel needs to load the program.
 * With EXEC_BUSY the notification is still to be answered; else it is not. */
void exec_run(int listener_fd, uint64_t id, pid_t tid, const struct exec_watch *watch,
              struct exec_result *out);

#endif
