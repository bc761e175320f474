/* One supervised run: start-up order, the loop, the end. */
#ifndef WARY_CMD_SESSION_H
#define WARY_CMD_SESSION_H

#include <stdbool.h>

struct session_options {
	char **argv;           /* COMMAND and its arguments; NULL-terminated */
	const char *policy;    /* -p, or NULL */
	const char *db;        /* -o, or NULL */
	const char *rules;     /* of the command line, a line each, or NULL */
	bool learn;            /* record, and refuse only what the floor does */
	bool audit_sync;       /* what matters waits for the disk */
	bool end_with_command; /* what COMMAND leaves running is ended */
};

/** session_run: runs COMMAND under supervision.
 * Returns the exit status; where COMMAND died by a signal, ends this process
 * by the same signal. */
int session_run(const struct session_options *o);

#endif
