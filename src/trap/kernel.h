/* What newer kernels have and this one lacks, found by trying, never by its
 * version: distributions carry features back, containers take them away. */
#ifndef WARY_TRAP_KERNEL_H
#define WARY_TRAP_KERNEL_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

/** kernel_lacks: names what is lacking, with a comma between: system calls that
 * wary would emulate, and flags. Nothing where nothing lacks.
 * @out: empty; trusted text. Where memory lacks it has failed (buf_text). */
void kernel_lacks(struct buf *out);

/** kernel_binds: likewise, in a word each, what the second boundary (Landlock) binds
 * here besides wary. */
void kernel_binds(struct buf *out);

/** kernel_leaves_unbound: likewise, what it does not bind here, so that wary alone
 * refuses it. */
void kernel_leaves_unbound(struct buf *out);

/** kernel_pidfd_of_thread: whether a pidfd can stand for one thread
 * (PIDFD_THREAD, Linux 6.9). */
bool kernel_pidfd_of_thread(void);

/** kernel_hide_absent: has system calls and flags that this kernel lacks and that
 * wary knows answered as the kernel itself would, ENOSYS and EINVAL, by a filter
 * of the calling process; cannot be undone.  A program that tries what is new and
 * falls back does so under wary as well. No_new_privs must be set; to be called
 * before filter_trap, by the only thread.
 * Returns 0, also where nothing is absent, or -errno. */
must_check int kernel_hide_absent(void);

#endif
