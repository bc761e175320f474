/* Who calls: process, credentials, folders, lineage — fetched by tid and
 * thrown away when the notification turns out invalid (law 3). */
#ifndef WARY_TRACEE_CALLER_H
#define WARY_TRACEE_CALLER_H

#include "base/err.h"
#include "tracee/lineage.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CALLER_GROUPS_MAX 64

/* Credentials as the kernel would use them for the caller's file access. */
struct caller_creds {
	uid_t fsuid, euid, ruid;
	gid_t fsgid, egid;
	uint64_t cap_effective;
	gid_t groups[CALLER_GROUPS_MAX];
	unsigned groups_n;
	mode_t umask;
};

struct caller {
	pid_t tid;
	pid_t tgid;            /* 0: not looked up yet */
	const struct lineage_entry *program; /* reference held; NULL unknown */
};

#endif
