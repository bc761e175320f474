/* A tree is ended, or not said to be. */
#include "trap/tree.h"

#include "tests/unit/tap.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Until tree_end is sure to have looked once. */
#define LOOK_US 100000

static const struct rlimit none = {0, 256};
static const struct rlimit some = {256, 256};

static void *give_descriptors(void *arg)
{
	(void)arg;
	usleep(LOOK_US);
	setrlimit(RLIMIT_NOFILE, &some);
	return NULL;
}

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static void count(void *ctx, pid_t pid)
{
	(void)pid;
	++*(size_t *)ctx;
}

/* In a process of its own, with limits of its own. Returns what failed, 0: nothing. */
static int end_without_descriptors(void)
{
	pthread_t later;
	size_t n = 0;
	bool whole = true;
	pid_t pid;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || setrlimit(RLIMIT_NOFILE, &none) != 0)
		return 1;
	pid = sleeper();
	(void)tree_each(getpid(), count, &n, &whole);
	if (whole || n != 0)
		return 2;
	if (pthread_create(&later, NULL, give_descriptors, NULL) != 0)
		return 3;
	tree_end(false);
	if (kill(pid, 0) == 0 || errno != ESRCH)
		return 4;
	pthread_join(later, NULL);
	(void)tree_each(getpid(), count, &n, &whole);
	return whole && n == 0 ? 0 : 5;
}

static int in_process(int (*run)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(run());
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
	size_t n = 0;
	bool whole = false;
	pid_t pid = sleeper();

	(void)tree_each(getpid(), count, &n, &whole);
	tap_ok(n == 1 && whole, "one child is seen, and that is all");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tap_is_int(in_process(end_without_descriptors), 0,
	           "without descriptors nothing is taken for ended; with some again it is ended");
	return tap_done();
}
