#include "answer/open_flags.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>

#define WILL_CREATE (O_CREAT | OPEN_TMPFILE)
#define KNOWN                                                                                   \
	(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC |   \
	 O_DSYNC | O_ASYNC | O_DIRECT | OPEN_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | \
	 O_CLOEXEC | O_PATH | OPEN_TMPFILE)
#define WITH_PATH (O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC)
#define RESOLVES                                                                           \
	(RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | \
	 RESOLVE_IN_ROOT | RESOLVE_CACHED)
#define MODES 07777u

void open_flags_old(struct open_args *a)
{
	a->flags &= KNOWN;
	if (a->flags & O_PATH)
		a->flags &= WITH_PATH;
	a->mode &= MODES;
	if (!(a->flags & WILL_CREATE))
		a->mode = 0;
	a->resolve = 0;
}

static bool check_create(const struct open_args *a)
{
	if (!(a->flags & WILL_CREATE))
		return a->mode == 0;
	return (a->mode & ~(uint64_t)MODES) == 0;
}

static bool check_tmpfile(uint64_t flags)
{
	if (!(flags & OPEN_TMPFILE))
		return true;
	return (flags & O_DIRECTORY) && (flags & O_ACCMODE) != O_RDONLY;
}

int open_flags_check(const struct open_args *a)
{
	const uint64_t scopes = RESOLVE_BENEATH | RESOLVE_IN_ROOT;

	if ((a->flags & ~(uint64_t)KNOWN) || (a->resolve & ~(uint64_t)RESOLVES))
		return -EINVAL;
	if ((a->resolve & scopes) == scopes)
		return -EINVAL;
	if (!check_create(a) || !check_tmpfile(a->flags))
		return -EINVAL;
	if ((a->flags & (O_DIRECTORY | O_CREAT)) == (O_DIRECTORY | O_CREAT))
		return -EINVAL;
	if ((a->flags & O_PATH) && (a->flags & ~(uint64_t)WITH_PATH))
		return -EINVAL;
	if ((a->resolve & RESOLVE_CACHED) && (a->flags & (O_TRUNC | WILL_CREATE)))
		return -EAGAIN;
	return 0;
}

bool open_flags_reads(uint64_t flags)
{
	return (flags & O_ACCMODE) != O_WRONLY;
}

bool open_flags_writes(uint64_t flags)
{
	return (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);
}
