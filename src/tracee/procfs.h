/* The few numbers of /proc/PID that wary needs of another process.
 *
 * A number may name another process by the time of the next read: the caller
 * pins it (a pidfd that has not become readable since) or checks the
 * notification's validity afterwards (law 3). */
#ifndef WARY_TRACEE_PROCFS_H
#define WARY_TRACEE_PROCFS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct procfs_ids {
	pid_t tgid;
	pid_t ppid;
};

/** procfs_ids: process and parent of a thread.
 * Returns 0, -ERR_GONE, or -ERR_SYS where /proc cannot be read. */
must_check int procfs_ids(pid_t tid, struct procfs_ids *out);

/** procfs_ids_of: the same of a process by its pidfd, without /proc where the
 * kernel can (6.13).  @pidfd: -1: there is none. */
must_check int procfs_ids_of(int pidfd, pid_t tgid, struct procfs_ids *out);

/* Fields of /proc/PID/stat, as proc_pid_stat(5) counts them. */
enum procfs_field {
	PROCFS_STATE = 3,
	PROCFS_USER = 14,
	PROCFS_SYSTEM = 15,
	PROCFS_START = 22,
};

/** procfs_field: where a field begins; NULL: there is none.
 * @stat: the file's text; the process chose the name in it. */
const char *procfs_field(const char *stat, enum procfs_field n);

/** procfs_start: when a process started, in clock ticks since boot.
 * Returns 0, -ERR_GONE or -ERR_FORMAT. */
must_check int procfs_start(pid_t tgid, uint64_t *ticks);

/** procfs_auxv: the auxiliary vector that the kernel made at the last exec.
 * @n_words: capacity in, count out.
 * Returns 0, -ERR_GONE or -ERR_PERM. */
must_check int procfs_auxv(pid_t tgid, uint64_t *words, size_t *n_words);

/** procfs_has_thread: whether @tid is now a thread of @tgid. */
bool procfs_has_thread(pid_t tgid, pid_t tid);

/** procfs_mapping: the file that is mapped at an address where a mapping begins;
 * its name as the kernel shows it, "" for anonymous memory.
 * Returns 0, -ERR_NOTFOUND, -ERR_GONE, -ERR_PERM or -ERR_TOOLONG. */
must_check int procfs_mapping(pid_t tgid, uint64_t start, char *path, size_t cap_bytes);

/** procfs_read: a small file of /proc, whole or cut at @cap_bytes - 1, with a
 * NUL after it.  Returns the length or -ERR_GONE, -ERR_PERM, -ERR_SYS. */
must_check ssize_t procfs_read(const char *path, char *out, size_t cap_bytes);

#endif
