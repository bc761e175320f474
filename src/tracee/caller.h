/* Who calls: process, credentials, limits — fetched by tid and thrown away
 * when the notification turns out invalid (law 3). */
#ifndef WARY_TRACEE_CALLER_H
#define WARY_TRACEE_CALLER_H

#include "base/err.h"
#include "tracee/lineage.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CALLER_GROUPS_MAX 256

/* Credentials as the kernel would use them for the caller's file access. */
struct caller_creds {
	uid_t fsuid, euid, ruid, suid;
	gid_t fsgid, egid, rgid, sgid;
	uint64_t cap_effective, cap_permitted;
	gid_t groups[CALLER_GROUPS_MAX];
	unsigned groups_n;
	mode_t umask;
};

struct caller {
	pid_t tid;
	pid_t tgid;                          /* 0: not looked up yet */
	const struct lineage_entry *program; /* reference held; NULL unknown */
};

/** caller_parse_status: what /proc/TID/status says.
 * @text: its whole text, NUL-terminated.
 * Returns 0, -ERR_FORMAT where a line is missing, -ERR_BOUND for more groups
 * than can be worn. */
must_check int caller_parse_status(const char *text, struct caller_creds *out, pid_t *tgid);

/** caller_creds_of: reads /proc/TID/status (about 10 µs).
 * Returns 0, -ERR_GONE, -ERR_SYS, -ERR_FORMAT or -ERR_BOUND. */
must_check int caller_creds_of(pid_t tid, struct caller_creds *out, pid_t *tgid);

/** caller_status_open: /proc/TID/status, to be read again and again.
 * Returns a descriptor, which the caller owns, -ERR_GONE or -ERR_SYS. */
must_check int caller_status_open(pid_t tid);

/** caller_creds_read: what stands there now. It is the thread's that the descriptor was
 * opened for: when that has left there is nothing to read, whoever has its number by then
 * (proc(5); the kernel's file holds on to the struct pid).
 * Returns as caller_creds_of. */
must_check int caller_creds_read(int status_fd, struct caller_creds *out, pid_t *tgid);

/** caller_tgid: the process of a thread, or -1 where it is gone. */
pid_t caller_tgid(pid_t tid);

/** caller_tty: the controlling terminal; 0 where there is none. */
dev_t caller_tty(pid_t tid);

/** caller_parse_tty: field 7 of /proc/TID/stat, for tests; 0 in doubt. */
dev_t caller_parse_tty(const char *stat_text);

/** caller_fsize_limit: the soft RLIMIT_FSIZE of the caller's process, in bytes;
 * UINT64_MAX: none. Returns 0, -ERR_GONE, -ERR_SYS or -ERR_FORMAT. */
must_check int caller_fsize_limit(pid_t tid, uint64_t *limit_bytes);

/** caller_parse_fsize: that of /proc/TID/limits, for tests. */
must_check int caller_parse_fsize(const char *limits_text, uint64_t *limit_bytes);

#endif
