#include "tracee/fd.h"

#include "base/own.h"
#include "base/uses.h"
#include "tracee/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

USES(kcmp, open_read, pidfd_getfd, pidfd_open);

#ifndef PIDFD_THREAD /* 6.9 */
#define PIDFD_THREAD O_EXCL
#endif

/* Before 6.9 a pidfd stands for a whole process, whose leader's table is
 * meant: good only while the thread shares that. */
static int leader_pidfd(pid_t tid)
{
	pid_t tgid = caller_tgid(tid);

	if (tgid <= 0)
		return -EBADF;
	if (tgid != tid && syscall(SYS_kcmp, tid, tgid, KCMP_FILES, 0, 0) != 0)
		return -ERR_UNSUPPORTED;
	return (int)syscall(SYS_pidfd_open, tgid, 0);
}

static int pidfd_of(pid_t tid)
{
	int fd = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD);

	if (fd >= 0)
		return fd;
	if (errno == EINVAL)
		fd = leader_pidfd(tid);
	if (fd < 0)
		return fd == -1 ? (errno == EMFILE ? -EMFILE : -EBADF) : fd;
	return fd;
}

int fd_get_many(pid_t tid, const int *n, size_t count, int *out)
{
	auto_fd pidfd = pidfd_of(tid);
	int err = 0;

	for (size_t i = 0; i < count; i++)
		out[i] = -1;
	if (pidfd < 0)
		return pidfd;
	for (size_t i = 0; i < count && err == 0; i++) {
		out[i] = (int)syscall(SYS_pidfd_getfd, pidfd, n[i], 0);
		if (out[i] < 0)
			err = errno == EMFILE || errno == ENFILE ? -EMFILE : -EBADF;
	}
	for (size_t i = 0; i < count && err != 0; i++)
		fd_drop(&out[i]);
	return err;
}

int fd_get(pid_t tid, int n)
{
	int out;
	int err = fd_get_many(tid, &n, 1, &out);

	return err != 0 ? err : out;
}

int fd_open_path(pid_t tid, int n)
{
	char path[64];
	int fd;

	if (n == AT_FDCWD)
		snprintf(path, sizeof path, "/proc/%d/cwd", (int)tid);
	else if (n < 0)
		return -EBADF;
	else
		snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)tid, n);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? (n == AT_FDCWD ? -ENOENT : -EBADF) : -errno;
	return fd;
}
