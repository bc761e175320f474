/* The asker's own process (asker_self.h). */
#include "ask/asker_self.h"

#include "ask/freeze.h"
#include "base/log.h"
#include "base/own.h"
#include "base/uses.h"
#include "trap/filter.h"
#include "trap/privilege.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

USES(getpgrp, ioctl_tty, recvfrom, sendto);
USED_BEFORE(chdir, close_range, epoll_create1, epoll_ctl, getppid, pidfd_open, prctl, prlimit64,
            setpgid);

/* How often a job in the background looks whether it has come to the front. */
#define FOREGROUND_MS 200

static bool is_ours(const struct asker_self *s, const struct card *c, pid_t group)
{
	return group == s->wary_group || group == getpgrp() ||
	       freeze_tree_has_group(c->guardian_pid, group);
}

/* A job in the background must not take the terminal from the shell: waits
 * until it is in front. Returns whether it is; false: another message came, or
 * the terminal is gone. */
static bool wait_for_foreground(struct asker_self *s, const struct card *c, enum dialog_answer *why)
{
	struct pollfd p = {.fd = s->events_fd, .events = POLLIN};

	for (;;) {
		pid_t group = term_group(s->tty_fd);

		*why = DIALOG_LOST;
		if (group < 0)
			return false;
		if (is_ours(s, c, group))
			return true;
		if (!s->told)
			log_notice("a question waits: bring this job to the foreground (fg)");
		s->told = true;
		*why = DIALOG_WITHDRAWN;
		if (poll(&p, 1, FOREGROUND_MS) > 0)
			return false;
	}
}

/* From here on wary can give the terminal back, whatever happens to this
 * process. */
static int take_terminal(struct asker_self *s)
{
	struct asker_shared *shared = s->shared;
	int err;

	shared->term = (struct term){.fd = s->tty_fd};
	shared->saved_group = term_group(s->tty_fd);
	if (shared->saved_group < 0 || tcgetattr(s->tty_fd, &shared->saved) != 0)
		return -ERR_SYS;
	atomic_store(&shared->taken, true);
	err = term_take(&shared->term, s->tty_fd, s->events_fd);
	if (err)
		atomic_store(&shared->taken, false);
	return err;
}

static bool reply(const struct asker_self *s, uint64_t id, const struct dialog_result *result)
{
	const struct asker_reply message = {
		.id = id,
		.answer = result->answer,
		.scope = result->scope,
		.choice = result->choice,
	};

	return send(s->socket_fd, &message, sizeof message, MSG_NOSIGNAL) ==
	       (ssize_t)sizeof message;
}

static void show(struct asker_self *s, const struct card *c, struct dialog_result *out)
{
	static const struct dialog_result frozen = {.answer = DIALOG_FROZEN};
	struct freeze *freeze = NULL;

	*out = (struct dialog_result){.answer = DIALOG_LOST};
	atomic_fetch_add(&s->shared->due, 1);
	if (!wait_for_foreground(s, c, &out->answer))
		return;
	atomic_store(&s->shared->frozen, true);
	if (freeze_begin(c->guardian_pid, term_group(s->tty_fd), &freeze) != 0) {
		/* With the tree running the box could be painted over. */
		log_error("no question can be shown: the supervised processes do not stop");
		out->answer = DIALOG_NO;
	} else if (take_terminal(s) == 0) {
		atomic_fetch_add(&s->shared->due, 1);
		/* Where wary has gone the dialog sees it. */
		(void)!reply(s, c->id, &frozen);
		dialog_run(&s->shared->term, c, out);
		term_give_back(&s->shared->term);
		atomic_store(&s->shared->taken, false);
	}
	if (out->answer == DIALOG_STOP)
		freeze_kill(freeze);
	else
		freeze_end(freeze);
	atomic_store(&s->shared->frozen, false);
}

static void handle_card(struct asker_self *s, const unsigned char *bytes, size_t len_bytes)
{
	struct card c;
	struct dialog_result result;
	uint64_t id;

	if (card_decode(bytes, len_bytes, &c) != 0)
		_exit(1); /* wary's own message: it is broken */
	show(s, &c, &result);
	id = c.id;
	card_free(&c);
	if (!reply(s, id, &result))
		_exit(0);
}

/* Waits for a message. Ends the process where wary has ended. */
static size_t next_message(struct asker_self *s, unsigned char *message)
{
	struct pollfd p[] = {{.fd = s->socket_fd, .events = POLLIN},
	                     {.fd = s->wary_fd, .events = POLLIN}};
	ssize_t n;

	while (poll(p, 2, -1) < 0)
		if (errno != EINTR)
			_exit(1);
	if (p[1].revents)
		_exit(0);
	n = recv(s->socket_fd, message, CARD_MAX_BYTES + 1, MSG_DONTWAIT);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n <= 0)
		_exit(0);
	return (size_t)n;
}

static _Noreturn void run(struct asker_self *s)
{
	unsigned char *message = malloc(CARD_MAX_BYTES + 1);

	if (!message)
		_exit(1);
	for (;;) {
		size_t n = next_message(s, message);

		/* A withdrawal of what has been replied to already is late. */
		if (n > 1 && message[0] == ASKER_CARD)
			handle_card(s, message + 1, n - 1);
	}
}

static void ignore_signals(void)
{
	static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE,
	                              SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2};
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigset_t none;

	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		(void)sigaction(signals[i], &ignore, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Keeps the socket, the terminal and stderr; nothing else is its business. */
static void close_others(const struct asker_self *s)
{
	int kept[] = {STDERR_FILENO, s->socket_fd, s->tty_fd, s->wary_fd};
	size_t n = sizeof kept / sizeof kept[0];
	unsigned from = 0;

	qsort(kept, n, sizeof kept[0], by_number);
	for (size_t i = 0; i < n; i++) {
		unsigned fd = (unsigned)kept[i];

		if (fd > from)
			(void)syscall(SYS_close_range, from, fd - 1, 0);
		from = fd + 1;
	}
	(void)syscall(SYS_close_range, from, ~0u, 0);
}

static void watch(struct asker_self *s)
{
	struct epoll_event event = {.events = EPOLLIN};

	s->events_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->events_fd < 0 || epoll_ctl(s->events_fd, EPOLL_CTL_ADD, s->socket_fd, &event) != 0 ||
	    epoll_ctl(s->events_fd, EPOLL_CTL_ADD, s->wary_fd, &event) != 0)
		_exit(1);
}

void asker_self_run(struct asker_self *s, pid_t wary)
{
	struct rlimit none = {0, 0};

	(void)prctl(PR_SET_NAME, "wary-ask");
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)setrlimit(RLIMIT_CORE, &none);
	ignore_signals();
	s->wary_fd = (int)syscall(SYS_pidfd_open, wary, 0);
	if (s->wary_fd < 0 || getppid() != wary || setpgid(0, 0) != 0 || chdir("/") != 0)
		_exit(1);
	close_others(s);
	watch(s);
	/* It stops processes of the tree, of other users too, and reads /proc. */
	if (privilege_drop(~(PRIVILEGE_BIT(CAP_KILL) | PRIVILEGE_BIT(CAP_SYS_PTRACE))) != 0 ||
	    filter_confine(FILTER_ASKER) != 0)
		_exit(1);
	run(s);
}
