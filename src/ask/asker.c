#include "ask/asker.h"

#include "ask/freeze.h"
#include "audit/life.h"
#include "base/log.h"
#include "base/own.h"
#include "trap/filter.h"
#include "trap/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How often a job in the background looks whether it has come to the front. */
#define FOREGROUND_MS 200
/* How long, and how often, the end of a session waits for what it says last. */
#define SETTLE_NS 5000000
#define SETTLE_LOOKS 1000

/* Of the process itself. */
struct self {
	int socket_fd, tty_fd;
	int events_fd;    /* epoll: a message has come, or wary is gone */
	int wary_fd;      /* pidfd: others may hold the socket's other end */
	pid_t wary_group; /* the group that wary and COMMAND were started in */
	struct asker_shared *shared;
	bool told; /* that a question waits in the background */
};

/* ---- in the asker's process --------------------------------------------- */

static bool is_ours(const struct self *s, const struct card *c, pid_t group)
{
	return group == s->wary_group || group == getpgrp() ||
	       freeze_tree_has_group(c->guardian_pid, group);
}

/* A job in the background must not take the terminal from the shell: waits
 * until it is in front. Returns whether it is; false: another message came, or
 * the terminal is gone. */
static bool wait_for_foreground(struct self *s, const struct card *c, enum dialog_answer *why)
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
static int take_terminal(struct self *s)
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

static bool reply(const struct self *s, uint64_t id, const struct dialog_result *result)
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

static void show(struct self *s, const struct card *c, struct dialog_result *out)
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

static void handle_card(struct self *s, const unsigned char *bytes, size_t len_bytes)
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
static size_t next_message(struct self *s, unsigned char *message)
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

static _Noreturn void run(struct self *s)
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
static void close_others(const struct self *s)
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

static void watch(struct self *s)
{
	struct epoll_event event = {.events = EPOLLIN};

	s->events_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->events_fd < 0 || epoll_ctl(s->events_fd, EPOLL_CTL_ADD, s->socket_fd, &event) != 0 ||
	    epoll_ctl(s->events_fd, EPOLL_CTL_ADD, s->wary_fd, &event) != 0)
		_exit(1);
}

static _Noreturn void become_asker(struct self *s, pid_t wary)
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
	    filter_confine() != 0)
		_exit(1);
	run(s);
}

/* ---- in wary -------------------------------------------------------------- */

/* Descriptors 0 to 2 may be closed in wary: the asker's own are above them. */
static int above_stdio(int fd)
{
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (fd >= 0)
		close(fd);
	return high;
}

int asker_start(struct asker *out)
{
	struct self s = {.wary_group = getpgrp()};
	auto_fd tty_fd = -1;
	auto_fd ours = -1;
	auto_fd theirs = -1;
	pid_t wary = getpid();
	int ends[2];
	void *page = mmap(NULL, sizeof(struct asker_shared), PROT_READ | PROT_WRITE,
	                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return -ERR_NOMEM;
	*out = (struct asker){.socket_fd = -1, .shared = page};
	tty_fd = above_stdio(open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
	if (tty_fd < 0)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return -ERR_SYS;
	ours = above_stdio(ends[0]);
	theirs = above_stdio(ends[1]);
	if (ours < 0 || theirs < 0)
		return -ERR_SYS;
	s.socket_fd = theirs;
	s.tty_fd = tty_fd;
	s.shared = out->shared;
	out->pid = fork();
	if (out->pid < 0)
		return -ERR_SYS;
	if (out->pid == 0)
		become_asker(&s, wary);
	out->socket_fd = fd_take(&ours);
	return 0;
}

int asker_show(const struct asker *a, const struct card *c)
{
	struct buf message = {.max_bytes = CARD_MAX_BYTES};
	int err = -ERR_GONE;

	buf_u8(&message, ASKER_CARD);
	card_encode(&message, c);
	if (buf_text(&message) && send(a->socket_fd, message.data, message.len_bytes,
	                               MSG_NOSIGNAL) == (ssize_t)message.len_bytes)
		err = 0;
	buf_free(&message);
	return err;
}

void asker_withdraw(const struct asker *a, uint64_t id)
{
	unsigned char message[9] = {ASKER_WITHDRAW};

	memcpy(message + 1, &id, sizeof id);
	/* Lost with the asker: then no reply comes either, and that is seen. */
	(void)send(a->socket_fd, message, sizeof message, MSG_NOSIGNAL);
}

static void note_pause(struct asker *a, bool paused)
{
	if (!a->audit || a->paused == paused)
		return;
	a->paused = paused;
	if (paused)
		life_note(a->audit, LIFE_QUESTION, NULL);
	else
		life_note_resumed(a->audit, LIFE_QUESTION, NULL);
}

int asker_reply_read(struct asker *a, struct asker_reply *out)
{
	bool frozen;
	ssize_t n;

	do
		n = recv(a->socket_fd, out, sizeof *out, 0);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof *out)
		return -ERR_GONE;
	frozen = out->answer == DIALOG_FROZEN;
	if (out->answer == DIALOG_STOP)
		atomic_store(&a->was_stopped, true);
	note_pause(a, frozen);
	atomic_fetch_add(&a->read, 1);
	return frozen ? -ERR_BUSY : 0;
}

void asker_settle(const struct asker *a)
{
	static const struct timespec pause = {.tv_nsec = SETTLE_NS};

	for (int i = 0; i < SETTLE_LOOKS; i++) {
		if (atomic_load(&a->shared->due) == atomic_load(&a->read))
			return;
		nanosleep(&pause, NULL);
	}
}

/* Nothing more is to be read. */
static void forget(struct asker *a)
{
	if (!a->shared)
		return;
	atomic_store(&a->read, atomic_load(&a->shared->due));
}

void asker_leave(struct asker *a)
{
	forget(a);
	/* Processes forked since hold this end as well: closing is not enough. */
	if (a->socket_fd >= 0)
		(void)shutdown(a->socket_fd, SHUT_RDWR);
	fd_drop(&a->socket_fd);
}

static void wait_for_end(struct asker *a)
{
	pid_t got;

	if (a->pid <= 0)
		return;
	do
		got = waitpid(a->pid, NULL, 0);
	while (got < 0 && errno == EINTR);
	a->pid = 0;
}

void asker_mend(struct asker *a, pid_t guardian)
{
	struct asker_shared *shared = a->shared;
	auto_fd tty_fd = -1;

	wait_for_end(a);
	forget(a);
	if (!atomic_load(&shared->frozen)) {
		note_pause(a, false);
		return;
	}
	tty_fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (tty_fd >= 0 && atomic_load(&shared->taken)) {
		struct term t = shared->term;

		t.fd = tty_fd;
		t.saved = shared->saved;
		t.saved_group = shared->saved_group;
		term_give_back(&t);
	}
	freeze_undo(guardian);
	atomic_store(&shared->taken, false);
	atomic_store(&shared->frozen, false);
	note_pause(a, false);
	log_error("the process that asks was killed: the question counts as a no, and no other "
	          "can be asked on this terminal");
}

void asker_stop(struct asker *a)
{
	asker_leave(a);
	wait_for_end(a);
}
