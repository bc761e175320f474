#include "ask/asker.h"

#include "ask/asker_self.h"
#include "ask/freeze.h"
#include "audit/life.h"
#include "base/log.h"
#include "base/own.h"
#include "base/uses.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

USES(open_any, recvfrom, sendto, shutdown, wait4);
USED_BEFORE(clone, fcntl, getpgrp, socketpair);

/* How long, and how often, the end of a session waits for what it says last. */
#define SETTLE_NS 5000000
#define SETTLE_LOOKS 1000

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
	struct asker_self s = {.wary_group = getpgrp()};
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
		asker_self_run(&s, wary);
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
