/* The loop and the workers: the only place where the stages meet. */
#ifndef WARY_SUPERVISE_H
#define WARY_SUPERVISE_H

#include "audit/audit.h"
#include "base/err.h"
#include "policy/policy.h"
#include "tracee/lineage.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct ask;
struct arrivals;
struct processes;

/* What every worker may read while a session runs. Set before supervise_go and
 * constant from then on, but for the atomics. */
struct supervisor {
	int listener_fd;
	pid_t wary_pid;
	pid_t guardian_pid;
	pid_t command_pid;
	bool as_root;
	bool signals_scoped; /* the kernel binds the tree's signals to the tree
	                        (launch_info.boundary.signals) */
	const struct policy *policy;
	struct audit *audit;
	struct lineage *lineage;
	struct processes *processes; /* trap/processes.h */
	struct arrivals *arrivals;   /* answer/arrivals.h */
	struct ask *ask;
	struct notice *notice;
	struct stacks *stacks;     /* trap/stack.h */
	struct images *images;     /* answer/images.h; NULL: nothing is kept */
	struct secrets *secrets;   /* secret/grant.h */
	struct listeners *own;     /* net/own.h: what the session listens on */
	struct names *names;       /* net/names.h: addresses by names looked up */
	struct guard *guard;       /* net/guard.h: the tree's name server; NULL: none */
	_Atomic bool lookups_over; /* lookup.c: questions about names are withdrawn */
	dev_t proc_dev;            /* device of /proc */
	ino_t root_ino;            /* wary's own root */
	dev_t root_dev;
	mode_t umask_start;
	_Atomic bool umask_changed;     /* some caller has called umask */
	_Atomic bool creds_changed;     /* some caller has changed ids or caps */
	_Atomic bool root_changed;      /* some caller may have another root */
	const char *const *floor_paths; /* wary's own files: never the tree's */
	bool learn;                     /* --learn: record and allow, but the floor */
	_Atomic bool goes;              /* the record is open: calls may be judged */
	int stop_fd;                    /* eventfd: written when the tree must end */
	struct pool *pool;              /* supervise.c's own */
};

/* One worker thread's own state. */
struct worker {
	struct supervisor *sup;
	int index;
	int proc_self_fd_dir; /* O_PATH of this thread's fd folder */
	mode_t umask_now;
	uid_t fsuid_now;
	gid_t fsgid_now;
	void *creds_now; /* tracee/wear.c: groups and capabilities worn */
	/* Set while in a call that may block, for the watcher (law 12). */
	_Atomic uint64_t blocking_id;
	_Atomic pid_t blocking_tid;
	_Atomic bool cancelled;   /* the call must end: EINTR seen */
	_Atomic bool interrupted; /* … because the caller has a signal */
	_Atomic bool patient;     /* signals do not end it: a question waits */
	struct request *request;  /* buffers, reused */
};

/** worker_block_begin: this worker may now block for the caller: another takes
 * over receiving; the watcher looks after the caller's signals and life.
 * Returns 0, or -ERR_BUSY where no worker would be left to serve others: then
 * the call must not block (refuse it, -EAGAIN).
 * Between begin and end a system call that fails with EINTR must be tried again
 * unless w->cancelled is set; then give up, and answer -512 (ERESTARTSYS) if
 * w->interrupted is set, else -EINTR (the caller is gone). */
must_check int worker_block_begin(struct worker *w, uint64_t id, pid_t tid);

/** worker_block_end: back from where it could block. */
void worker_block_end(struct worker *w);

/** worker_look: before an answer is sent: now and then looks whether another call
 * waits already, for which a second worker should receive.  Its caller is another one
 * certainly, since this one waits still: of one caller, or of processes that each wait
 * for the next, two receivers would only take turns. */
void worker_look(struct worker *w);

/** supervise_start: starts the workers and the watcher, which wait.  Called in the
 * thread that has entered the Landlock domain, so that the workers are bound by it.
 * @s: the listener is set; it outlives the workers.
 * Returns 0, -ERR_NOMEM, -ERR_SYS. */
must_check int supervise_start(struct supervisor *s);

/** supervise_go: all fields are set and the record is open.  A call that comes before
 * would be one that is not on record: the workers abort. */
void supervise_go(struct supervisor *s);

/** supervise_stop: the tree is gone (the listener hangs up): waits for the
 * workers to end and frees what they used. */
void supervise_stop(struct supervisor *s);

#endif
