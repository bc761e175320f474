#include "cmd/ender.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Lives as long as the process: its thread waits for one signal more. */
struct ender {
	int fd; /* readable once it shall end */
	sigset_t signals;
	_Atomic int signal; /* the first */
	char why[32];
};

static void *main_of(void *arg)
{
	static const struct sigaction fatal = {.sa_handler = SIG_DFL};
	static const uint64_t one = 1;
	struct ender *e = arg;
	int sig = 0;

	if (sigwait(&e->signals, &sig) != 0)
		return NULL;
	atomic_store(&e->signal, sig);
	while (write(e->fd, &one, sizeof one) < 0 && errno == EINTR)
		;
	if (sigwait(&e->signals, &sig) == 0 && sigaction(sig, &fatal, NULL) == 0) {
		pthread_sigmask(SIG_UNBLOCK, &e->signals, NULL);
		raise(sig);
	}
	return NULL;
}

int ender_start(struct ender **out)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct ender *e = calloc(1, sizeof *e);
	pthread_t thread;

	if (!e)
		return -ERR_NOMEM;
	sigemptyset(&e->signals);
	sigaddset(&e->signals, SIGINT);
	sigaddset(&e->signals, SIGTERM);
	sigaddset(&e->signals, SIGHUP);
	e->fd = eventfd(0, EFD_CLOEXEC);
	if (e->fd < 0 || pthread_sigmask(SIG_BLOCK, &e->signals, NULL) != 0 ||
	    sigaction(SIGPIPE, &ignore, NULL) != 0 ||
	    pthread_create(&thread, NULL, main_of, e) != 0) {
		if (e->fd >= 0)
			close(e->fd);
		free(e);
		return -ERR_NOMEM;
	}
	pthread_detach(thread);
	*out = e;
	return 0;
}

bool ender_wait(struct ender *e, int out_fd, int timeout_ms)
{
	/* Of a pipe without readers POLLERR is told, asked for or not. */
	struct pollfd fds[] = {{.fd = e->fd, .events = POLLIN}, {.fd = out_fd}};

	return poll(fds, 2, timeout_ms) > 0 && (fds[0].revents || fds[1].revents & POLLERR);
}

const char *ender_why(struct ender *e)
{
	int sig = atomic_load(&e->signal);
	const char *name = sig ? sigabbrev_np(sig) : NULL;

	if (!sig)
		return "nobody reads on";
	snprintf(e->why, sizeof e->why, "SIG%s", name ? name : "?");
	return e->why;
}
