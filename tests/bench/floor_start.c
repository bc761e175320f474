/* What the start and end of a supervised command cost at the least on this
 * machine: the bare mechanism, with no policy, no boundary, no packages and no
 * chain.  A record is opened and a session begun in it, a guardian and the
 * command are forked, the command gets a filter of one call, its listener is
 * taken, one thread answers, its exec is stopped at and looked at, the record
 * gets a row for the exec and one for the end.  `make bench` puts wary beside it.
 * Usage: floor_start STORE COMMAND [ARG...].  Ends as COMMAND ended. */
#include "tests/bench/trap.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct pair {
	int ends[2];
};

static struct pair channel(void)
{
	struct pair p;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p.ends) != 0)
		fail("socketpair");
	return p;
}

static void put(int fd, int value)
{
	if (write(fd, &value, sizeof value) != sizeof value)
		fail("write");
}

static int get(int fd)
{
	int value;

	if (read(fd, &value, sizeof value) != sizeof value)
		fail("read");
	return value;
}

/* ---- the record ----------------------------------------------------------- */

static void sql(sqlite3 *db, const char *text)
{
	if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK) {
		fprintf(stderr, "%s: %s\n", text, sqlite3_errmsg(db));
		exit(125);
	}
}

static sqlite3 *open_record(const char *file)
{
	sqlite3 *db;

	if (sodium_init() < 0 || sqlite3_open(file, &db) != SQLITE_OK)
		fail(file);
	sql(db, "PRAGMA journal_mode = WAL");
	sql(db, "PRAGMA synchronous = NORMAL");
	sql(db, "CREATE TABLE IF NOT EXISTS event (id INTEGER PRIMARY KEY, what TEXT)");
	sql(db, "INSERT INTO event (what) VALUES ('opened')");
	return db;
}

/* ---- the command ---------------------------------------------------------- */

static _Noreturn void command(int fd, char **argv)
{
	int listener = trap_openat();

	if (listener < 0)
		fail("seccomp");
	put(fd, listener);
	(void)get(fd); /* traced, and told to go */
	execvp(argv[0], argv);
	fail(argv[0]);
}

/* The command's parent, which ends it should wary end. */
static _Noreturn void guardian(int fd, int command_fd, char **argv)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		command(command_fd, argv);
	put(fd, pid);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		fail("guardian");
	put(fd, status);
	_exit(0);
}

/* ---- the supervisor ------------------------------------------------------- */

/* Lets each call go on as it is: this is no supervisor but its price. */
static void *answer(void *listener)
{
	int fd = *(int *)listener;
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	struct seccomp_notif n = {0};

	/* It hangs up with the last of the tree. */
	while (poll(&ready, 1, -1) > 0 && !(ready.revents & POLLHUP) &&
	       ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &n) == 0) {
		struct seccomp_notif_resp r = {.id = n.id,
		                               .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

		(void)ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &r);
		n = (struct seccomp_notif){0};
	}
	return NULL;
}

static int take_listener(pid_t pid, int number)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);

	if (fd < 0)
		fail("pidfd_getfd");
	close(pidfd);
	return fd;
}

static void stop_at_exec(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, __WALL) != pid ||
	    status >> 8 != (SIGTRAP | PTRACE_EVENT_EXEC << 8))
		fail("the exec stop");
	if (ptrace(PTRACE_DETACH, pid, 0, 0) != 0)
		fail("detach");
}

int main(int argc, char **argv)
{
	struct pair to_guardian = channel();
	struct pair to_command = channel();
	pthread_t thread;
	sqlite3 *db;
	pid_t pid;
	int listener;
	int status;

	if (argc < 3)
		return 125;
	pid = fork();
	if (pid == 0)
		guardian(to_guardian.ends[1], to_command.ends[1], argv + 2);
	db = open_record(argv[1]);
	pid = get(to_guardian.ends[0]);
	listener = take_listener(pid, get(to_command.ends[0]));
	if (pthread_create(&thread, NULL, answer, &listener) != 0)
		fail("a thread");
	if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXEC) != 0)
		fail("seize");
	put(to_command.ends[0], 1);
	stop_at_exec(pid);
	sql(db, "INSERT INTO event (what) VALUES ('exec')");
	status = get(to_guardian.ends[0]);
	sql(db, "INSERT INTO event (what) VALUES ('end')");
	(void)pthread_join(thread, NULL);
	sqlite3_close(db);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
