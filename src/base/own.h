/* Ownership: cleanup attributes, and *_take() where it is handed on. */
#ifndef WARY_BASE_OWN_H
#define WARY_BASE_OWN_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static inline void own_fd_drop(const int *fd)
{
	int kept = errno;

	if (*fd >= 0)
		close(*fd);
	errno = kept;
}

static inline void own_ptr_drop(void *where)
{
	free(*(void **)where);
}

static inline void own_file_drop(FILE **f)
{
	if (*f)
		fclose(*f);
}

/* A descriptor closed at the end of its scope; -1 is none. */
#define auto_fd __attribute__((cleanup(own_fd_drop))) int
/* Memory freed at the end of its scope: `auto_free char *p = NULL;` */
#define auto_free __attribute__((cleanup(own_ptr_drop)))
/* A FILE closed at the end of its scope. */
#define auto_file __attribute__((cleanup(own_file_drop))) FILE *

/** fd_take: hands a descriptor on; the holder's variable becomes -1. */
static inline int fd_take(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/** fd_drop: closes now, if held; the variable becomes -1. */
static inline void fd_drop(int *fd)
{
	own_fd_drop(fd);
	*fd = -1;
}

/** fd_share: how many descriptors may be kept for later: @max, but no more than a
 * quarter of what the process may have: calls need theirs (getrlimit(2)). */
static inline size_t fd_share(size_t max)
{
	struct rlimit may = {0};

	(void)getrlimit(RLIMIT_NOFILE, &may);
	return may.rlim_cur / 4 < max ? may.rlim_cur / 4 : max;
}

/** ptr_take: hands memory on; the holder's variable becomes NULL. */
#define ptr_take(p)                       \
	({                                \
		__auto_type taken_ = (p); \
		(p) = NULL;               \
		taken_;                   \
	})

#endif
