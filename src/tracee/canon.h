/* The canonical name of an object, read from a descriptor. */
#ifndef WARY_TRACEE_CANON_H
#define WARY_TRACEE_CANON_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/** canon_of_fd: the name by which the kernel knows what @fd refers to.
 * @self_fd_dir: O_PATH of wary's own /proc/self/fd.
 * @st: of the object.
 * @out: @cap_bytes, NUL-terminated.  Of a deleted object the name it had,
 *   without the kernel's " (deleted)"; a file that is really called so keeps it.
 * @unnamed: set where the object has no name in any folder ("pipe:[1]").
 * Returns 0, or -ENAMETOOLONG, -ENOENT, another -errno. */
must_check int canon_of_fd(int self_fd_dir, int fd, const struct stat *st, char *out,
                           size_t cap_bytes, bool *unnamed);

/** canon_join: @out becomes @out/@rest without empty and "." components.
 * Returns 0, -ENAMETOOLONG, or -EINVAL where @rest has a ".." component: then
 * @out is joined with what stands before that. */
must_check int canon_join(char *out, size_t cap_bytes, const char *rest);

/** canon_proc_pid: N where @name is /proc/N or below it, else 0.
 * @below: set to what follows the number, "" or "/…". */
pid_t canon_proc_pid(const char *name, const char **below);

#endif
