/* What a supervised open+close costs at the least on this machine: the bare
 * mechanism in three steps (read the path, add the descriptor, close it here,
 * answer), with no policy, no record and no resolution.  `make bench` puts wary
 * beside it.  Usage: floor COUNT [recv|sync|pinned].  sync (what wary does too):
 * an answer hands the processor over; pinned: both on one processor as well.
 * Prints microseconds a round. */
#include "tests/bench/trap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

#define FILE_OPENED "/etc/passwd"

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof set, &set) != 0)
		fail("sched_setaffinity");
}

static void caller(int out, long count)
{
	int listener = trap_openat();
	double begin;
	double took;

	if (listener < 0 || write(out, &listener, sizeof listener) != sizeof listener)
		fail("listener");
	begin = now_us();
	for (long i = 0; i < count; i++) {
		int fd = open(FILE_OPENED, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			fail("open");
		close(fd);
	}
	took = now_us() - begin;
	printf("%.3f\n", took / (double)count);
	exit(0);
}

/* One notification in three steps. Returns false when the caller has gone. */
static bool serve(int listener)
{
	struct seccomp_notif n = {0};
	struct seccomp_notif_resp answer = {0};
	struct seccomp_notif_addfd add = {.newfd_flags = O_CLOEXEC};
	char path[4096];
	struct iovec local = {path, sizeof FILE_OPENED};
	struct iovec remote;
	int fd;

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) != 0)
		return errno == EINTR;
	remote = (struct iovec){(void *)(uintptr_t)n.data.args[1], sizeof FILE_OPENED};
	if (process_vm_readv((pid_t)n.pid, &local, 1, &remote, 1, 0) < 0 ||
	    ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &n.id) != 0)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	add.id = answer.id = n.id;
	add.srcfd = (unsigned)fd;
	answer.val = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	close(fd);
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
	const char *mode = argc > 2 ? argv[2] : "sync";
	int number = -1;
	int ends[2];
	int listener;
	int pidfd;
	pid_t pid;

	if (strcmp(mode, "pinned") == 0)
		pin();
	if (count < 1 || pipe2(ends, O_CLOEXEC) != 0)
		fail("pipe");
	pid = fork();
	if (pid == 0)
		caller(ends[1], count);
	close(ends[1]);
	if (pid < 0 || read(ends[0], &number, sizeof number) != sizeof number)
		fail("caller");
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	listener = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	if (listener < 0)
		fail("pidfd_getfd");
	if (strcmp(mode, "recv") != 0 &&
	    ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP) != 0)
		fail("this kernel has no SYNC_WAKE_UP");
	while (serve(listener))
		;
	return waitpid(pid, NULL, 0) == pid ? 0 : 1;
}
