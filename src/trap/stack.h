/* The caller's call stack, taken before a question is put (law 13).
 *
 * The caller is stopped by ptrace and its notification is answered with
 * "restart" (ERESTARTNOINTR), so that it stands still with all its registers;
 * libunwind walks; it is let go and notifies again.  Whoever asks keeps the
 * capture until then, by struct stack_key.
 *
 * What is captured comes from the child's memory and files: it informs a
 * person, and decides nothing.
 */
#ifndef WARY_TRAP_STACK_H
#define WARY_TRAP_STACK_H

#include "base/buf.h"
#include "base/err.h"
#include "call/call.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define STACK_FRAMES_MAX 48

/* One and the same call of one thread. */
struct stack_key {
	pid_t tid;
	int nr;
	uint64_t ip, sp;
	uint64_t args[CALL_ARGS];
};

/* Captures that wait for their call to come again; thread-safe, bounded, and
 * forgotten after a while. */
struct stacks;

/** stacks_new: @wanted: whether any will be; else none can be taken.  @fixed, @ctx: as
 * unwind_new.  Before wary confines itself. */
must_check int stacks_new(bool wanted, bool (*fixed)(const void *ctx, const char *path),
                          const void *ctx, struct stacks **out);
void stacks_free(struct stacks *s);

/** stacks_find: the text of a capture for this very call, taken out of the
 * store (free(3)); NULL where there is none.
 * One frame a line: "#0  libc.so.6+0x12345 openat", printable. */
char *stacks_find(struct stacks *s, const struct call *c);

/** stacks_take: stops the caller, answers its notification with a restart,
 * walks its stack and keeps the text.
 * Call between worker_block_begin and worker_block_end: it waits for the stop.
 * @listener_fd: for the answer.
 * Returns 0 when the notification has been answered (the caller will notify
 * again, or has died); -ERR_PERM, -ERR_GONE or -ERR_NOMEM when it has not:
 * then go on without a stack. */
must_check int stacks_take(struct stacks *s, int listener_fd, const struct call *c);

#endif
