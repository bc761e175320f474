/* The guardian (law 1): a process between wary and the tree that outlives
 * wary, holds neither keys nor the listener, reaps what the tree leaves, tells
 * wary what becomes of COMMAND, and ends the tree when wary is gone. */
#ifndef WARY_TRAP_GUARDIAN_H
#define WARY_TRAP_GUARDIAN_H

#include "trap/command.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum guardian_kind {
	GUARDIAN_STARTED,   /* COMMAND was forked: pid */
	GUARDIAN_STOPPED,   /* COMMAND stopped: value is the signal */
	GUARDIAN_CONTINUED, /* COMMAND runs again */
	GUARDIAN_ENDED,     /* COMMAND ended: value is its wait(2) status */
	GUARDIAN_STAYS,     /* it has ended, and others of the tree have not */
	/* To the guardian: */
	GUARDIAN_FORWARD, /* value: a signal that wary got from @pid */
	GUARDIAN_END,     /* end the tree */
};

/* One message, either way, on a SOCK_SEQPACKET pair. */
struct guardian_message {
	int32_t kind;
	int32_t pid;
	int32_t value;
};

struct guardian {
	struct command command;
	int channel_fd; /* its end of the pair */
	int wary_pidfd;
	bool scoped; /* the Landlock signal scope holds */
	const sigset_t *watched;
	void (*orphaned)(const void *ctx, int wary_pidfd); /* or NULL */
	const void *orphaned_ctx;
};

/** guardian_run: forks COMMAND, then waits until no process of the tree is
 * left.  To be called in a child of the launcher thread.
 *
 * Signals: what wary gets by itself and must forward comes as GUARDIAN_FORWARD.
 * The guardian is in the same process group: where it got the same signal from
 * the same sender itself a moment ago, the sender meant the group, and COMMAND
 * has it already.  A hangup of the terminal is told to the session's leader
 * alone, which may be wary: that is forwarded.
 *
 * When the tree has ended, orphaned is called, where wary may be gone: confined as the
 * guardian is (trap/roles.def).
 * Does not return; ends with 0 when the tree has ended. */
_Noreturn void guardian_run(const struct guardian *g);

#endif
