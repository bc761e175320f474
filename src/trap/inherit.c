#include "trap/inherit.h"

#include "base/own.h"
#include "base/uses.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

USES(dup3, open_any);
USED_BEFORE(fcntl, prlimit64);

static const struct {
	int signal;
	void (*handler)(int);
} changed[INHERIT_CHANGED] = {
	{SIGPIPE, SIG_IGN},
	{SIGXFSZ, SIG_IGN}, /* the store must not die of the tree's limit */
	{SIGCHLD, SIG_DFL}, /* ignored, the guardian's end would be lost */
};

/* All that a process may be sent and that is not its own fault. */
static const int watched[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF,
	SIGIO,  SIGPWR, SIGURG,  SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGWINCH,
};

static const enum __rlimit_resource limited[INHERIT_LIMITS] = {
	RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_FSIZE, RLIMIT_NPROC, RLIMIT_STACK, RLIMIT_CPU,
};

static int fill_standard(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* The lowest free number is this one. */
		if (open("/dev/null", (fd == 0 ? O_RDONLY : O_WRONLY) | O_CLOEXEC) != fd)
			return -ERR_SYS;
	}
	return 0;
}

/* The C library has made the stacks of threads as small as the first one was to be. */
static int widen_stacks(void)
{
	pthread_attr_t attr;
	int err;

	if (pthread_attr_init(&attr) != 0)
		return -ERR_SYS;
	err = pthread_attr_setstacksize(&attr, INHERIT_STACK_BYTES);
	if (err == 0)
		err = pthread_setattr_default_np(&attr);
	pthread_attr_destroy(&attr);
	return err == 0 ? 0 : -ERR_SYS;
}

/* A soft limit is the tree's to meet; wary's own work is not to fail by it. */
static int raise_limits(struct inherit *out)
{
	for (size_t i = 0; i < INHERIT_LIMITS; i++) {
		struct rlimit most;

		if (getrlimit(limited[i], &out->limits[i]) != 0)
			return -ERR_SYS;
		most = out->limits[i];
		most.rlim_cur = most.rlim_max;
		if (limited[i] == RLIMIT_STACK) {
			if (out->limits[i].rlim_cur >= INHERIT_STACK_BYTES)
				continue;
			if (widen_stacks() != 0)
				return -ERR_SYS;
		}
		if (setrlimit(limited[i], &most) != 0)
			return -ERR_SYS;
	}
	return 0;
}

int inherit_take(struct inherit *out)
{
	const struct rlimit no_core = {0, 0};

	if (fill_standard() != 0)
		return -ERR_SYS;
	sigemptyset(&out->watched);
	for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++)
		sigaddset(&out->watched, watched[i]);
	for (size_t i = 0; i < INHERIT_CHANGED; i++) {
		struct sigaction action = {.sa_handler = changed[i].handler};

		if (sigaction(changed[i].signal, &action, &out->actions[i]) != 0)
			return -ERR_SYS;
	}
	if (pthread_sigmask(SIG_BLOCK, &out->watched, &out->mask) != 0 ||
	    setrlimit(RLIMIT_CORE, &no_core) != 0)
		return -ERR_SYS;
	return raise_limits(out);
}

size_t inherit_room(size_t most)
{
	struct rlimit may = {0};
	size_t room = 0;

	(void)getrlimit(RLIMIT_NOFILE, &may);
	for (int fd = 0; room < most && fd < INT_MAX && (rlim_t)fd < may.rlim_cur; fd++)
		room += fcntl(fd, F_GETFD) < 0;
	return room;
}

int inherit_give(const struct inherit *in)
{
	const struct rlimit no_core = {0, 0};

	for (size_t i = 0; i < INHERIT_CHANGED; i++)
		if (sigaction(changed[i].signal, &in->actions[i], NULL) != 0)
			return -errno;
	if (setrlimit(RLIMIT_CORE, &no_core) != 0 || sigprocmask(SIG_SETMASK, &in->mask, NULL) != 0)
		return -errno;
	return 0;
}

int inherit_limit(const struct inherit *in, pid_t child)
{
	for (size_t i = 0; i < INHERIT_LIMITS; i++) {
		const struct rlimit64 give = {in->limits[i].rlim_cur, in->limits[i].rlim_max};

		if (syscall(SYS_prlimit64, child, limited[i], &give, NULL) != 0)
			return -ERR_SYS;
	}
	return 0;
}

void inherit_detach(void)
{
	auto_fd null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null_fd < 0)
		return; /* they only stay open longer */
	for (int fd = 0; fd <= 1; fd++)
		if (dup3(null_fd, fd, O_CLOEXEC) < 0)
			return;
}
