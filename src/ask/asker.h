/* The process that owns the terminal during a question.
 *
 * Messages on its socket (SOCK_SEQPACKET): to it, a type byte and then a card
 * (ASKER_CARD) or the id of one (ASKER_WITHDRAW); from it, struct asker_reply: perhaps
 * DIALOG_FROZEN, once the tree stands still, and then the reply, when it runs again.
 * One card at a time: the next is sent when the last has been replied to.  The
 * end of the socket ends the process, with the terminal as it was.
 */
#ifndef WARY_ASK_ASKER_H
#define WARY_ASK_ASKER_H

#include "ask/dialog.h"
#include "ask/term.h"
#include "base/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

enum asker_message { ASKER_CARD = 'c', ASKER_WITHDRAW = 'w' };

struct audit;

struct asker_reply {
	uint64_t id;
	uint32_t answer; /* enum dialog_answer */
	uint32_t scope;  /* enum dialog_scope */
	uint32_t choice;
};

/* What asker and wary share: enough to undo what it did, should it be killed. */
struct asker_shared {
	_Atomic bool frozen;  /* the tree stands still */
	_Atomic bool taken;   /* the terminal is as a question needs it */
	_Atomic uint32_t due; /* messages that it has sent, or must send yet: one for each
	                         card, from asker_show on, and one for each pause */
	struct termios saved;
	pid_t saved_group;
	struct term term;
};

struct asker {
	pid_t pid;
	int socket_fd; /* owned; -1: there is no terminal */
	int tty_fd;    /* the terminal, and a handle of the asker: owned, and open as */
	int pidfd;     /* long as it may be killed with the terminal in its hands */
	struct asker_shared *shared;
	struct audit *audit;      /* pauses of the tree are put on it; NULL: none */
	bool paused;              /* as was noted last */
	_Atomic uint32_t read;    /* of its messages: how many were read */
	_Atomic bool was_stopped; /* one of them: it has ended the tree */
};

/** asker_start: forks it, where there is a terminal (/dev/tty).
 * No thread may exist yet. Without a terminal socket_fd is -1 and pid 0.
 * Returns 0, -ERR_SYS, -ERR_NOMEM. */
must_check int asker_start(struct asker *out);

/** asker_show: sends a card. Returns 0 or -ERR_GONE. */
must_check int asker_show(const struct asker *a, const struct card *c);

/** asker_withdraw: takes a card back; a reply (DIALOG_WITHDRAWN, or the answer
 * that crossed it) still comes. */
void asker_withdraw(const struct asker *a, uint64_t id);

/** asker_reply_read: the next reply. Returns 0, -ERR_BUSY (it was DIALOG_FROZEN, which is
 * on record now) or -ERR_GONE. */
must_check int asker_reply_read(struct asker *a, struct asker_reply *out);

/** asker_settle: waits, a few seconds at most, until all that it has to say was read, by
 * another thread: the tree has ended, so that no question can stay. */
void asker_settle(const struct asker *a);

/** asker_leave: nothing can be asked there any more: it ends by itself. */
void asker_leave(struct asker *a);

/** asker_mend: its socket has ended without a word, so that it was killed: waits
 * for it, gives the terminal back and lets the tree go on, where it had not.
 * Everything of the tree that stands still goes on, jobs too that a person had
 * stopped before.
 * Call in a thread that blocks SIGTTOU and is outside the boundary. */
void asker_mend(struct asker *a, pid_t guardian);

/** asker_left_terminal: whether the asker has not given the terminal back; where it has
 * ended, *out is then what term_give_back needs. */
static inline bool asker_left_terminal(const struct asker *a, struct term *out)
{
	const struct asker_shared *shared = a->shared;

	if (!shared || !atomic_load(&shared->taken))
		return false;
	*out = shared->term;
	out->fd = a->tty_fd;
	out->group = a->pid; /* it leads a group of its own */
	out->saved = shared->saved;
	out->saved_group = shared->saved_group;
	return true;
}

/** asker_stop: ends it and waits. */
void asker_stop(struct asker *a);

#endif
