#include "trap/inherit.h"

#include "base/own.h"
#include "base/uses.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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

int inherit_take(struct inherit *out)
{
	const struct rlimit no_core = {0, 0};
	struct rlimit nofile;

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
	    getrlimit(RLIMIT_NOFILE, &out->nofile) != 0)
		return -ERR_SYS;
	nofile = out->nofile;
	nofile.rlim_cur = nofile.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &nofile) != 0 || setrlimit(RLIMIT_CORE, &no_core) != 0)
		return -ERR_SYS;
	return 0;
}

int inherit_give(const struct inherit *in)
{
	const struct rlimit no_core = {0, 0};

	for (size_t i = 0; i < INHERIT_CHANGED; i++)
		if (sigaction(changed[i].signal, &in->actions[i], NULL) != 0)
			return -errno;
	if (setrlimit(RLIMIT_NOFILE, &in->nofile) != 0 || setrlimit(RLIMIT_CORE, &no_core) != 0 ||
	    sigprocmask(SIG_SETMASK, &in->mask, NULL) != 0)
		return -errno;
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
