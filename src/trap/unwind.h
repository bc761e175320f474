/* libunwind, kept away from what a hostile program can make of it.
 *
 * It runs in a worker of wary's, with data that the child chooses: registers,
 * stack, unwinding tables in memory, and the files that are mapped.  So
 * 1. files are parsed by libunwind only where the tree has no hand in them: below
 *    /usr, /lib or /bin, of root and writable by nobody else, and where no rule
 *    lets the tree write them (it may run as root);
 * 2. of other files only the names of functions are read, here, every offset
 *    checked; unwinding through them goes by frame pointers and by chance;
 * 3. whatever is read of the child's memory counts: a table that makes the
 *    unwinder go round in circles ends the walk (each step of it is a read);
 * 4. nothing is ever written into the child. */
#ifndef WARY_TRAP_UNWIND_H
#define WARY_TRAP_UNWIND_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

/* Words of the child's memory that one walk may read. */
#define UNWIND_READS_MAX 20000u

struct unwind; /* one walker for all, used by one thread at a time */

/** unwind_new: see the head of this file.
 * @fixed: asked with @ctx whether neither policy nor file system lets the tree
 *   write a file; its path is absolute, and the child's choice.
 * Returns 0, or -ERR_NOMEM, -ERR_UNSUPPORTED with a reason in @why. */
must_check int unwind_new(bool (*fixed)(const void *ctx, const char *path), const void *ctx,
                          struct unwind **out, const char **why);
void unwind_free(struct unwind *u);

/** unwind_walk: the call stack of a task that this thread traces and that is
 * stopped.
 * @maps: text of its /proc/TID/maps ("" where it could not be read).
 * @out: gets a line a frame: "#0  libc.so.6+0x12345 openat", printable; at most
 *   @frames_max. */
void unwind_walk(struct unwind *u, pid_t tid, const char *maps, int frames_max, struct buf *out);

#endif
