/* The terminal during a question: taken, put into a known state, given back.
 *
 * What the tree wrote before may have left it in any state (half an escape
 * sequence, another character set, a scroll region): taking it ends and resets
 * what could hide or move text.  What the terminal itself sends (reports that
 * the tree asked for) is swallowed: term_key never makes keys of it.
 */
#ifndef WARY_ASK_TERM_H
#define WARY_ASK_TERM_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

enum term_key {
	TERM_NONE, /* something came that is no key */
	TERM_CHAR, /* a printable ASCII character */
	TERM_ENTER,
	TERM_ESCAPE,
	TERM_UP,
	TERM_DOWN,
	TERM_INTERRUPT, /* Ctrl-C, Ctrl-D, Ctrl-\ */
	TERM_OTHER,     /* the other descriptor is readable */
	TERM_LOST,      /* the terminal is gone */
};

struct term {
	int fd;       /* owned by the caller */
	int other_fd; /* watched beside it while waiting for a key; -1: none */
	int columns;
	bool utf8;
	bool screen;  /* shown on the alternate screen */
	bool cleared; /* shown over a full-screen program's own screen */
	pid_t group;  /* that has the terminal meanwhile */
	struct termios saved;
	pid_t saved_group;
};

/** term_take: becomes the foreground group, sets raw mode, throws away what
 * was typed before, resets the state of the terminal.
 * Call in a process whose group is its own and that ignores SIGTTOU.
 * Returns 0 or -ERR_SYS (the terminal is gone). */
must_check int term_take(struct term *t, int fd, int other_fd);

/** term_give_back: modes, screen and foreground as they were; what another has
 * changed or taken meanwhile (a shell, whose job was killed) stays as that wants it. */
void term_give_back(struct term *t);

/** term_key: waits for a key. @c: set for TERM_CHAR. */
enum term_key term_key(struct term *t, char *c);

/** term_write: the text as it is; printable already. */
void term_write(struct term *t, const char *text);

/** term_group: the terminal's foreground group, -1 where there is none. */
pid_t term_group(int fd);

#endif
