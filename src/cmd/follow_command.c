/* wary audit follow --to command: each batch to a run of its own, whose exit
 * status 0 says that it was taken.  What is in a pipe could be lost with its
 * reader; what a run has said yes to cannot. */
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

/* As much as it reads: a run may say yes without having read all. */
static void feed(struct follow_link *l, int fd, const struct buf *text)
{
	size_t done = 0;

	while (done < text->len_bytes) {
		ssize_t n = write(fd, text->data + done, text->len_bytes - done);

		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno != EAGAIN && errno != EINTR)
			return;
		else if (follow_wait(l, fd, POLLOUT, -1) < 0)
			return;
	}
}

/* Its wait(2) status; where it shall end, the run is ended too. */
static int reap(struct follow_link *l, pid_t pid)
{
	auto_fd pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int status = 0;

	if (pidfd >= 0 && follow_wait(l, pidfd, POLLIN, -1) < 0)
		kill(pid, SIGTERM);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static enum follow_result deliver(struct follow_link *l, const struct follow_batch *b)
{
	auto_free char *shown = text_printable_str(l->argv[0], 256);
	int ends[2];
	pid_t pid = 0;
	int err;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return FOLLOW_AWAY;
	err = fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0 ? start(l->argv, ends[0], &pid) : errno;
	close(ends[0]);
	if (!err)
		feed(l, ends[1], &b->text);
	close(ends[1]);
	if (!err)
		return reap(l, pid) == 0 ? FOLLOW_TAKEN : FOLLOW_AWAY;
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
