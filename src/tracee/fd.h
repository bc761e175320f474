/* Descriptors of the caller.  They are as mutable as pointers (law 4):
 * whatever depends on what a descriptor is, is done on one got from here.
 *
 * Everything is fetched by thread number: mem_valid() must follow before what
 * was got is used. */
#ifndef WARY_TRACEE_FD_H
#define WARY_TRACEE_FD_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

/** fd_get: a duplicate of the caller's descriptor: the same open file, with its
 * offset, flags and locks.  To be closed before the caller is answered, else
 * its own close would not be the last.
 * @tid: the thread that makes the call; its own table is meant, also where it
 *   has unshared that.
 * Returns a descriptor (owned, O_CLOEXEC) or -EBADF, -EMFILE (wary's own), or
 * -ERR_UNSUPPORTED where this kernel cannot tell the thread's table. */
must_check int fd_get(pid_t tid, int n);

/** fd_get_many: fd_get for several of one thread, at the cost of one lookup.
 * @out: -1 or descriptors; all are closed again on failure.
 * Returns 0 or as fd_get. */
must_check int fd_get_many(pid_t tid, const int *n, size_t count, int *out);

/** fd_open_path: an O_PATH descriptor of what the caller's descriptor @n
 * refers to, or of its working folder for AT_FDCWD.
 * Returns a descriptor (owned), -EBADF, or another -errno. */
must_check int fd_open_path(pid_t tid, int n);

#endif
