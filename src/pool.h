/* The workers: threads that each take a notification from receipt to answer.
 *
 * Invariants:
 * 1. A worker receives only while it holds a slot; there are few slots, since
 *    every thread that waits in RECV beyond the first makes each call dearer.
 * 2. A worker gives its slot up before it may block for a caller, and only
 *    if another can then receive: the tree never waits for itself.
 * 3. Threads are made only by the watcher, which wears no caller's
 *    credentials, and is in the same Landlock domain as the first workers.
 */
#ifndef WARY_POOL_H
#define WARY_POOL_H

#include "base/err.h"
#include "supervise.h"

#include <linux/seccomp.h>

/* At most so many callers are served at once, blocked ones included; each
 * costs a thread of 192 KiB of address space. */
#define POOL_WORKERS_MAX 256

struct pool_ops {
	/* Takes one notification from receipt to answer, or finds it gone. */
	void (*serve)(struct worker *w, const struct seccomp_notif *n);
	/* Frees what serve left in the worker; called in its thread. */
	void (*done)(struct worker *w);
};

/** pool_start: starts the first workers and the watcher, in the calling
 * thread's Landlock domain.
 * @ops: lives as long as the pool.
 * Returns 0, -ERR_NOMEM, -ERR_SYS. */
must_check int pool_start(struct supervisor *s, const struct pool_ops *ops, struct pool **out);

/** pool_stop: the listener has hung up: waits for all threads, frees. */
void pool_stop(struct pool *p);

#endif
