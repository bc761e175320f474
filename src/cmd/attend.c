#include "cmd/attend.h"

#include "ask/ask.h"
#include "audit/life.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/own.h"
#include "base/uses.h"
#include "supervise.h"
#include "tracee/procfs.h"
#include "trap/launch.h"
#include "trap/tree.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

USES(ioctl_tty_look, kill, open_read);

#define WAIT_NOTE_MS 2000

/* Whether COMMAND is stopped now: it may run again meanwhile. */
static bool command_is_stopped(const struct attend *a)
{
	auto_buf text = BUF_INIT;
	char path[64];
	const char *state;

	(void)snprintf(path, sizeof path, "/proc/%d/stat", a->sup->command_pid);
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || buf_read_file(&text, fd) != 0 || !text.data)
		return false;
	state = procfs_field(text.data, PROCFS_STATE);
	return state && *state == 'T';
}

/* Stops as COMMAND stopped, so that the shell sees its job stop in the same
 * way; returns when wary is continued. */
static void stop_alike(int signal_nr)
{
	bool by_terminal = signal_nr == SIGTSTP || signal_nr == SIGTTIN || signal_nr == SIGTTOU;
	struct sigaction stop = {.sa_handler = SIG_DFL}, kept;
	sigset_t set;

	if (!by_terminal) {
		(void)kill(getpid(), SIGSTOP);
		return;
	}
	sigemptyset(&set);
	sigaddset(&set, signal_nr);
	(void)sigaction(signal_nr, &stop, &kept);
	(void)kill(getpid(), signal_nr);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	(void)sigaction(signal_nr, &kept, NULL);
}

/* wary ends the tree: the first reason is on record. */
static void end_tree(struct attend *a, const char *by, bool guardian_gone)
{
	if (!a->ended_by[0])
		(void)snprintf(a->ended_by, sizeof a->ended_by, "%s", by);
	launch_kill(a->launch, guardian_gone);
}

static void signal_text(char *out, size_t size, int signal_nr)
{
	const char *name = sigabbrev_np(signal_nr);

	(void)snprintf(out, size, name ? "SIG%s" : "signal %s%d", name ? name : "", signal_nr);
}

static void count_one(void *ctx, pid_t pid)
{
	(void)ctx;
	(void)pid;
}

static void on_message(struct attend *a, const struct guardian_message *m)
{
	if (m->kind == GUARDIAN_STAYS) {
		a->stayed = true;
		a->left = tree_each(a->sup->guardian_pid, count_one, NULL, NULL);
	}
	if (m->kind != GUARDIAN_ENDED)
		return;
	a->ended = true;
	a->status = m->value;
	if (a->end_with_command)
		end_tree(a, "--end", false);
}

/* On record before wary stops as well: whatever becomes of it then. */
static void stop_on_record(struct attend *a, int signal_nr)
{
	char name[32];

	signal_text(name, sizeof name, signal_nr);
	life_note(a->sup->audit, LIFE_STOPPED, name);
	stop_alike(signal_nr);
	life_note_resumed(a->sup->audit, LIFE_STOPPED, name);
}

/* Takes all messages; only the last stop counts. Returns whether the guardian
 * still lives. */
static bool on_messages(struct attend *a)
{
	struct guardian_message m;
	int stopped_by = 0, err;

	while ((err = launch_event(a->launch, &m)) == 0) {
		on_message(a, &m);
		stopped_by = m.kind == GUARDIAN_STOPPED ? m.value : 0;
	}
	/* A stop that a question made is not one that a person wanted. */
	if (stopped_by && !ask_frozen(a->sup->ask) && command_is_stopped(a))
		stop_on_record(a, stopped_by);
	return err != -ERR_GONE;
}

/* What the terminal sends to its foreground group, COMMAND has got with wary
 * (tty_ioctl(4): by the kernel); a hangup it sends to its session's leader as well. */
static bool came_by_terminal(const struct signalfd_siginfo *info)
{
	static const int signals[] = {SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH};

	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		if ((int)info->ssi_signo == signals[i])
			return info->ssi_code == SI_KERNEL;
	return false;
}

static bool ends_what_is_left(int signal_nr)
{
	return signal_nr == SIGINT || signal_nr == SIGTERM || signal_nr == SIGHUP ||
	       signal_nr == SIGQUIT;
}

static void on_signals(struct attend *a)
{
	struct signalfd_siginfo info;
	char name[32];

	while (read(a->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
		int signal_nr = (int)info.ssi_signo;

		signal_text(name, sizeof name, signal_nr);
		if (a->ended && ends_what_is_left(signal_nr))
			end_tree(a, name, false);
		else if (!came_by_terminal(&info))
			launch_forward(a->launch, signal_nr, (pid_t)info.ssi_pid);
	}
}

static void on_stop(struct attend *a)
{
	uint64_t count;

	if (read(a->sup->stop_fd, &count, sizeof count) < 0)
		return;
	a->reason = "stopped";
	end_tree(a, "an answer", false);
}

static void on_record_failed(struct attend *a)
{
	log_error("the record can no longer be kept: the command and all that it started are "
	          "ended");
	a->reason = "record failed";
	end_tree(a, "the record", false);
}

static void note_waiting(struct attend *a)
{
	size_t n = tree_each(a->sup->guardian_pid, count_one, NULL, NULL);

	if (n > 0 && isatty(STDERR_FILENO))
		log_notice("the command has ended; wary stays with %zu process%s that it left "
		           "running (Ctrl-C ends %s)",
		           n, n == 1 ? "" : "es", n == 1 ? "it" : "them");
}

void attend_command(struct attend *a)
{
	struct pollfd fds[] = {
		{.fd = launch_event_fd(a->launch), .events = POLLIN},
		{.fd = a->signal_fd, .events = POLLIN},
		{.fd = a->sup->stop_fd, .events = POLLIN},
		{.fd = audit_failed_fd(a->sup->audit), .events = POLLIN},
	};
	bool noted = false, alive = true;

	while (alive) {
		int ready = poll(fds, 4, a->ended && !noted ? WAIT_NOTE_MS : -1);

		if (ready < 0)
			continue;
		if (ready == 0) {
			note_waiting(a);
			noted = true;
		}
		/* Signals first: a message may have wary stop, and what came before
		 * that is not to be passed on when it is continued. */
		if (fds[1].revents || fds[0].revents)
			on_signals(a);
		if (fds[0].revents)
			alive = on_messages(a);
		if (fds[2].revents)
			on_stop(a);
		if (fds[3].revents) {
			fds[3].fd = -1;
			on_record_failed(a);
		}
	}
	if (!a->ended) { /* the guardian was killed: nothing goes on without it */
		a->reason = "guardian ended";
		a->status = SIGKILL;
		end_tree(a, "the guardian's end", true);
	}
}
