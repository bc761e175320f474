/* What a command that goes on until it is told to end waits with: a signal, or that
 * nobody reads its output any more. */
#ifndef WARY_CMD_ENDER_H
#define WARY_CMD_ENDER_H

#include "base/err.h"

#include <stdbool.h>

struct ender;

/** ender_start: from now on SIGINT, SIGTERM and SIGHUP only ask for the end (of several the
 * first; one more ends the process at once, should it hang), and SIGPIPE is ignored.
 * Starts a thread; before other threads, which must not take these signals.
 * Returns 0 or -ERR_NOMEM. */
must_check int ender_start(struct ender **out);

/** ender_wait: waits up to @timeout_ms, or until it shall end.
 * @out_fd: where output goes; -1: nowhere that can be closed.
 * Returns whether it shall end. */
bool ender_wait(struct ender *e, int out_fd, int timeout_ms);

/** ender_why: a phrase for people: "SIGINT", or that nobody reads on. */
const char *ender_why(struct ender *e);

#endif
