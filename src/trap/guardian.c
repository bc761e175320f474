#include "trap/guardian.h"

#include "base/clock.h"
#include "base/own.h"
#include "base/uses.h"
#include "trap/filter.h"
#include "trap/privilege.h"
#include "trap/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

USES(kill, recvfrom, sendto, wait4);
USED_BEFORE(clone, prctl, signalfd4);

/* Two signals from one sender (the terminal is sender 0) so close together were
 * one, to the group; long enough for a machine that is busy. */
#define SAME_SIGNAL_NS 10000000000u

struct seen {
	uint64_t at_ns;
	pid_t sender;
};

/* What the guardian knows while it runs. */
struct watch {
	const struct guardian *g;
	pid_t command_pid;
	bool command_ended;
	bool told_stays;
	struct seen seen[_NSIG]; /* by signal number: the last one it got itself */
};

static void tell(const struct watch *w, enum guardian_kind kind, int value)
{
	const struct guardian_message m = {(int32_t)kind, w->command_pid, value};

	/* Fails where wary is gone, which its pidfd says as well. */
	(void)!send(w->g->channel_fd, &m, sizeof m, MSG_NOSIGNAL);
}

static void note_command(struct watch *w, int status)
{
	if (WIFSTOPPED(status)) {
		tell(w, GUARDIAN_STOPPED, WSTOPSIG(status));
	} else if (WIFCONTINUED(status)) {
		tell(w, GUARDIAN_CONTINUED, 0);
	} else {
		w->command_ended = true;
		tell(w, GUARDIAN_ENDED, status);
	}
}

/* Reaps all that have ended. Returns whether any process is left. */
static bool reap(struct watch *w)
{
	int status;
	pid_t pid;

	for (;;) {
		pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED | __WALL);
		if (pid == 0)
			return true;
		if (pid < 0 && errno != EINTR)
			return errno != ECHILD;
		if (pid > 0 && pid == w->command_pid && !w->command_ended)
			note_command(w, status);
	}
}

static void note_signals(struct watch *w, int signal_fd)
{
	struct signalfd_siginfo si;

	while (read(signal_fd, &si, sizeof si) == (ssize_t)sizeof si)
		if (si.ssi_signo < _NSIG)
			w->seen[si.ssi_signo] = (struct seen){clock_mono_ns(), (pid_t)si.ssi_pid};
}

static void forward(struct watch *w, const struct guardian_message *m)
{
	struct seen *s = &w->seen[m->value];

	if (s->at_ns != 0 && s->sender == m->pid && clock_mono_ns() - s->at_ns < SAME_SIGNAL_NS) {
		s->at_ns = 0; /* COMMAND got it as the guardian did */
		return;
	}
	if (!w->command_ended)
		(void)kill(w->command_pid, m->value);
}

static void obey(struct watch *w, int signal_fd)
{
	struct guardian_message m;

	while (recv(w->g->channel_fd, &m, sizeof m, MSG_DONTWAIT) == (ssize_t)sizeof m) {
		note_signals(w, signal_fd);
		if (m.kind == GUARDIAN_FORWARD && m.value > 0 && m.value < _NSIG)
			forward(w, &m);
		if (m.kind == GUARDIAN_END)
			tree_end(w->g->scoped);
	}
}

/* COMMAND's status may have been reaped by tree_end: whoever waits for it is
 * told that it was killed. */
static _Noreturn void leave(struct watch *w)
{
	if (!w->command_ended)
		tell(w, GUARDIAN_ENDED, SIGKILL);
	_exit(0);
}

static _Noreturn void watch_tree(struct watch *w, int signal_fd)
{
	struct pollfd p[] = {
		{.fd = w->g->wary_pidfd, .events = POLLIN},
		{.fd = signal_fd, .events = POLLIN},
		{.fd = w->g->channel_fd, .events = POLLIN},
	};

	for (;;) {
		if (!reap(w))
			leave(w);
		if (w->command_ended && !w->told_stays) {
			tell(w, GUARDIAN_STAYS, 0);
			w->told_stays = true;
		}
		if (poll(p, 3, -1) < 0)
			continue;
		if (p[0].revents) {
			tree_end(w->g->scoped);
			_exit(0);
		}
		if (p[1].revents)
			note_signals(w, signal_fd);
		if (p[2].revents)
			obey(w, signal_fd);
	}
}

/* Nothing of the caller's may stay open because of the guardian. */
static void let_go(const struct guardian *g)
{
	inherit_detach();
	(void)close(g->command.ready_fd);
	(void)close(g->command.go_fd);
}

void guardian_run(const struct guardian *g)
{
	struct watch w = {.g = g};
	sigset_t signals = *g->watched;
	int signal_fd;

	sigaddset(&signals, SIGCHLD);
	(void)prctl(PR_SET_NAME, "wary-guardian");
	if (sigprocmask(SIG_BLOCK, &signals, NULL) != 0 ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
		_exit(1);
	w.command_pid = fork();
	if (w.command_pid == 0)
		command_run(&g->command);
	if (w.command_pid < 0)
		_exit(1);
	let_go(g);
	signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	/* It signals processes of other users of the tree, and no more. */
	if (signal_fd < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ||
	    privilege_drop(~PRIVILEGE_BIT(CAP_KILL)) != 0 || filter_confine(FILTER_GUARDIAN) != 0)
		_exit(1);
	tell(&w, GUARDIAN_STARTED, 0);
	watch_tree(&w, signal_fd);
}
