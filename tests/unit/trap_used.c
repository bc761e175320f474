/* trap/used: what a process uses, however long its /proc/PID/status is. */
#include "trap/used.h"

#include "tests/unit/tap.h"

#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 2000u

static void look(const char *what, bool many_groups)
{
	struct used used = {0};
	char ready = 0;
	int ends[2];
	pid_t pid;
	int pidfd;

	if (pipe(ends) != 0)
		return;
	pid = fork();
	if (pid == 0) {
		gid_t groups[MANY];

		for (unsigned i = 0; i < MANY; i++)
			groups[i] = 1000000u + i;
		if (many_groups && setgroups(MANY, groups) != 0)
			_exit(1);
		(void)!write(ends[1], "r", 1);
		for (;;)
			pause();
	}
	tap_is_int(read(ends[0], &ready, 1), 1, "%s: it runs", what);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	used_look(&used, pid, pidfd);
	tap_ok(used.timed, "%s: its times are known", what);
	tap_ok(used.peak_kib > 0, "%s: its peak of memory is known", what);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(pidfd);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	look("a process", false);
	if (geteuid() == 0) /* who may set them */
		look("a process of many groups", true);
	return tap_done();
}
