/* wary audit follow --to command: each batch to a run of its own, whose exit
 * status 0 says that it was taken.  What is in a pipe could be lost with its
 * reader; what a run has said yes to cannot. */
#include "base/clock.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/follow.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A run that has not ended so long after its start is ended, and its rows go to
 * another one; so long it has from SIGTERM to SIGKILL. */
#define RUN_MS 300000
#define END_MS 5000

extern char **environ;

static int check(struct follow_link *l)
{
	if (l->argv[0] && !l->at)
		return 0;
	log_error("audit follow --to command: the command stands at the end, after --");
	return AUDIT_USAGE;
}

static void put_row(struct buf *out, const struct export_row *x, bool again, size_t cut)
{
	(void)again;
	follow_json_line(out, x, cut);
	buf_chr(out, '\n');
}

/* Signals as a command expects them. */
static int set_signals(posix_spawnattr_t *attr)
{
	sigset_t none, defaults;
	int err;

	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	err = posix_spawnattr_setsigmask(attr, &none);
	if (!err)
		err = posix_spawnattr_setsigdefault(attr, &defaults);
	return err ? err
	           : posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/* Returns 0 or an errno. */
static int start(char *const *argv, int in_fd, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return err;
	err = posix_spawnattr_init(&attr);
	if (!err) {
		err = set_signals(&attr);
		if (!err)
			err = posix_spawn_file_actions_adddup2(&actions, in_fd, STDIN_FILENO);
		if (!err)
			err = posix_spawnp(pid, argv[0], &actions, &attr, argv, environ);
		posix_spawnattr_destroy(&attr);
	}
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

/* As much as it reads: a run may say yes without having read all. Returns
 * whether it may go on. */
static bool feed(struct follow_link *l, int fd, const struct buf *text, uint64_t end_ns)
{
	size_t done = 0;

	while (done < text->len_bytes) {
		ssize_t n = write(fd, text->data + done, text->len_bytes - done);

		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno != EAGAIN && errno != EINTR)
			return true;
		else if (follow_wait(l, fd, POLLOUT, follow_left(end_ns, RUN_MS)) <= 0)
			return false;
	}
	return true;
}

/* Ends a run: it is asked to, then it is made to. */
static void end_run(pid_t pid, int pidfd)
{
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};
	uint64_t end_ns = clock_mono_ns() + (uint64_t)END_MS * 1000000;
	int n = 0;

	kill(pid, SIGTERM);
	while (pidfd >= 0 && (n = poll(&ended, 1, follow_left(end_ns, END_MS))) < 0 &&
	       errno == EINTR)
		;
	if (n <= 0)
		kill(pid, SIGKILL);
}

/* Its wait(2) status; where it shall end (@goes is false, or the follower's
 * signal, or the time), the run is ended first: nothing waits without a bound. */
static int reap(struct follow_link *l, pid_t pid, bool goes, uint64_t end_ns)
{
	auto_fd pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int status = 0;

	if (goes && pidfd >= 0)
		goes = follow_wait(l, pidfd, POLLIN, follow_left(end_ns, RUN_MS)) > 0;
	else
		goes = false;
	if (!goes)
		end_run(pid, pidfd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static enum follow_result deliver(struct follow_link *l, const struct follow_batch *b)
{
	auto_free char *shown = text_printable_str(l->argv[0], 256);
	uint64_t end_ns = clock_mono_ns() + (uint64_t)RUN_MS * 1000000;
	bool goes = true;
	int ends[2];
	pid_t pid = 0;
	int err;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return FOLLOW_AWAY;
	err = fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0 ? start(l->argv, ends[0], &pid) : errno;
	close(ends[0]);
	if (!err)
		goes = feed(l, ends[1], &b->text, end_ns);
	close(ends[1]);
	if (!err)
		return reap(l, pid, goes, end_ns) == 0 ? FOLLOW_TAKEN : FOLLOW_AWAY;
	if (err == EAGAIN || err == ENOMEM)
		return FOLLOW_AWAY;
	log_error("audit follow: %s cannot be run: %s", shown, strerrordesc_np(err));
	return FOLLOW_REFUSED;
}

const struct follow_kind follow_command = {
	.name = "command",
	.cut_bytes = FOLLOW_CUT_BYTES,
	.check = check,
	.row = put_row,
	.deliver = deliver,
};
