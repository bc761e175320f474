/* While COMMAND runs: its signals, what the guardian tells of it, and what makes
 * wary end it. */
#ifndef WARY_CMD_ATTEND_H
#define WARY_CMD_ATTEND_H

#include <stdbool.h>
#include <stddef.h>

struct launch;
struct supervisor;

struct attend {
	struct launch *launch;        /* that was let go */
	const struct supervisor *sup; /* whose workers run */
	int signal_fd;                /* signalfd of inherit.watched, non-blocking */
	bool end_with_command;        /* what COMMAND leaves running is ended */
	/* What attend_command finds; zero before. */
	bool ended;         /* COMMAND has ended */
	int status;         /* …how: as of wait(2) */
	const char *reason; /* for the closing record; static; NULL: status says it */
	bool stayed;        /* others outlived COMMAND… */
	size_t left;        /* …so many, when wary looked */
	char ended_by[32];  /* what had wary end the tree; "": nothing */
};

/** attend_command: passes on to COMMAND the signals that wary gets, stops when
 * COMMAND stops, and ends the tree when a worker asks for it, when the record
 * can no longer be kept, or when the guardian is gone.
 * Blocks until nothing of the tree is left.  While it does, nobody else takes
 * wary's signals or the launch's messages. */
void attend_command(struct attend *a);

#endif
