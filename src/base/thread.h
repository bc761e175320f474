/* The signals of wary's threads. */
#ifndef WARY_BASE_THREAD_H
#define WARY_BASE_THREAD_H

#include "base/err.h"

#include <pthread.h>
#include <signal.h>

/** thread_mask: what a thread of wary's own blocks: every signal, since those
 * to the process are the first thread's, but SIGBUS, which is of the thread's
 * own making (a page of the record's journal that the disk cannot give;
 * audit/bus.h): a fault whose signal is blocked ends the process instead. */
static inline void thread_mask(sigset_t *out)
{
	sigfillset(out);
	sigdelset(out, SIGBUS);
}

/** thread_begin: a thread that has that mask from its first instruction.
 * @attr: NULL for the usual one.  Returns 0 or -ERR_NOMEM. */
must_check int thread_begin(pthread_t *out, const pthread_attr_t *attr, void *(*run)(void *),
                            void *arg);

#endif
