/* A worker acts in the caller's place: with its file ids, groups, capabilities
 * and umask, so that the kernel judges as it would have judged the caller.
 *
 * All of it is per thread: raw system calls, never the C library's, which
 * would change every thread of wary.  Only what differs is changed.  What is
 * fetched from callers (memory, descriptors) needs wary's own credentials:
 * wear_off() comes first.
 */
#ifndef WARY_TRACEE_WEAR_H
#define WARY_TRACEE_WEAR_H

#include "base/err.h"
#include "tracee/caller.h"

#include <stdbool.h>
#include <sys/types.h>

struct wear;

/** wear_new: takes down what this thread has now as its own.
 * To be called in the worker, once, after unshare(CLONE_FS).
 * Returns 0, -ERR_NOMEM, -ERR_SYS. */
must_check int wear_new(struct wear **out);
void wear_free(struct wear *w);

/** wear_on: takes on a caller's ids, groups and effective capabilities.
 * Capabilities that wary itself lacks cannot be worn, and are left out.
 * Returns 0, or -ERR_SYS: then nothing may be done (wear_off was tried). */
must_check int wear_on(struct wear *w, const struct caller_creds *c);

/** wear_names: after wear_on, the caller's real and effective ids too, which the kernel
 * tells the other end of a unix socket (SO_PEERCRED of who connects or listens,
 * SCM_CREDENTIALS of who sends; unix(7)). Others of the real user may then signal this
 * thread: for one call, and what is not the tree's only (its own kills are judged).
 * Returns as wear_on. */
must_check int wear_names(struct wear *w, const struct caller_creds *c);

/** wear_caps: only other effective capabilities, ids as they are. */
must_check int wear_caps(struct wear *w, uint64_t cap_effective);

/** wear_off: back to wary's own; aborts where the kernel refuses, since a worker
 * with foreign credentials must not go on. */
void wear_off(struct wear *w);

/** wear_umask: sets this thread's umask. It is not undone. */
void wear_umask(struct wear *w, mode_t mask);

/** wear_own_caps: wary's own effective capabilities. */
uint64_t wear_own_caps(const struct wear *w);

#endif
