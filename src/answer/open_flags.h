/* What the flags of open(2) and openat2(2) mean to the kernel, before any name
 * is looked at.  Pure. */
#ifndef WARY_ANSWER_OPEN_FLAGS_H
#define WARY_ANSWER_OPEN_FLAGS_H

#include "base/err.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>

/* The kernel's value; the C library's O_LARGEFILE is 0 on 64-bit machines. */
#if defined __aarch64__
#define OPEN_LARGEFILE 0400000
#else
#define OPEN_LARGEFILE 0100000
#endif

/* The bit by itself: the C library's O_TMPFILE has O_DIRECTORY in it. */
#define OPEN_TMPFILE (O_TMPFILE & ~O_DIRECTORY)

struct open_args {
	uint64_t flags;
	uint64_t mode;
	uint64_t resolve; /* RESOLVE_ bits */
};

/** open_flags_old: arguments of open, openat and creat: what they do not know
 * they ignore. */
void open_flags_old(struct open_args *a);

/** open_flags_check: what the kernel refuses in them, whatever the name is.
 * Returns 0, -EINVAL, or -EAGAIN for RESOLVE_CACHED with what cannot be. */
must_check int open_flags_check(const struct open_args *a);

/** open_flags_reads, open_flags_writes: what an existing file is opened for.
 * Access mode 3 is for ioctl only, and needs both permissions. */
bool open_flags_reads(uint64_t flags);
bool open_flags_writes(uint64_t flags);

#endif
