/* The asker as seen from within: the process that asker_start forks (ask/asker.h
 * has its messages).  A part of its own, so that what it may ask of the kernel is
 * what this process does, and nothing of wary's (trap/roles.def). */
#ifndef WARY_ASK_ASKER_SELF_H
#define WARY_ASK_ASKER_SELF_H

#include "ask/asker.h"

#include <stdbool.h>
#include <sys/types.h>

struct asker_self {
	int socket_fd, tty_fd;
	int events_fd;    /* epoll: a message has come, or wary is gone */
	int wary_fd;      /* pidfd: others may hold the socket's other end */
	pid_t wary_group; /* the group that wary and COMMAND were started in */
	struct asker_shared *shared;
	bool told; /* that a question waits in the background */
};

/** asker_self_run: becomes the asker: confines itself and shows what it is sent
 * until its socket or wary ends. To be called in a child of wary's, which has one thread.
 * @s: its descriptors, group and shared page are set.
 * @wary: its parent. Does not return. */
_Noreturn void asker_self_run(struct asker_self *s, pid_t wary);

#endif
