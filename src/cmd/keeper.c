#include "cmd/keeper.h"

#include "audit/folder.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "base/uses.h"
#include "cmd/audit.h"
#include "cmd/retain.h"
#include "trap/filter.h"
#include "trap/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

USES(flock, ftruncate, newfstatat, open_any, pwrite64);
USED_BEFORE(chdir, clone, close_range, dup2, dup3, fcntl, pipe2, prctl, prlimit64, setpriority,
            setsid);

/* How it works.  Looking costs a walk over the record's checkpoints, so it is done once an
 * hour at most: the file below tells when that was, and what could not be done.
 * Invariants:
 * 1. The tree has ended, and is on record to its end, before the machine's key is read.
 * 2. What says that something goes was read before the tree began, from where no tree
 *    writes (policy_world.lasting).
 * 3. Whatever fails, or kills it, nothing is half removed: a session goes in one
 *    transaction, with its tombstone. */
#define EVERY_S 3600
#define LOW_PRIORITY 19
#define STATE_MAX_BYTES 1024

/* Beside the journals, which are told from it by their names. */
static void state_path(struct buf *out, const char *db)
{
	folder_journals(out, db);
	buf_str(out, "/retention");
}

/* A time that is to come is of a clock that was wrong. */
static bool is_recent(const struct stat *st)
{
	int64_t now_s = (int64_t)(clock_wall_ns() / 1000000000);

	return st->st_size > 0 && st->st_mtime <= now_s && now_s - st->st_mtime < EVERY_S;
}

/* ---- in the keeper's process ---------------------------------------------- */

/* The caller's descriptors, terminal and group are none of its business; the pipe
 * becomes 3. */
static int let_go(int fd)
{
	int opened_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	int null_fd = opened_fd < 0 ? -1 : fcntl(opened_fd, F_DUPFD_CLOEXEC, 4);

	if (null_fd < 0 || setsid() < 0 || chdir("/") != 0)
		return -1;
	if (fd != 3 && dup3(fd, 3, O_CLOEXEC) != 3)
		return -1;
	for (int i = 0; i < 3; i++)
		if (dup2(null_fd, i) != i)
			return -1;
	return (int)syscall(SYS_close_range, 4u, ~0u, 0);
}

static void ignore_signals(void)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2};
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction end = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		(void)sigaction(signals[i], &ignore, NULL);
	(void)sigaction(SIGTERM, &end, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Returns whether the session came to its end. */
static bool wait_for_end(void)
{
	char byte;
	bool whole = false;

	for (;;) {
		ssize_t n = read(3, &byte, 1);

		if (n == 0)
			return whole;
		if (n < 0 && errno != EINTR)
			return false;
		whole |= n == 1;
	}
}

static void say_state(int fd, int status, const struct retain_result *r, const struct buf *why)
{
	auto_buf line = BUF_INIT;

	if (status == AUDIT_FINE)
		buf_fmt(&line, "removed %llu\n", (unsigned long long)r->removed);
	else
		buf_fmt(&line, "failed: %.*s\n", STATE_MAX_BYTES - 16,
		        why->len_bytes ? why->data : "out of memory");
	if (buf_text(&line) && ftruncate(fd, 0) == 0)
		(void)!pwrite(fd, line.data, line.len_bytes, 0);
}

/* Of several sessions that end at once one looks. */
static void look(const char *db, const struct policy_audit *policy)
{
	char word[] = "prune";
	char *argv[] = {word, NULL};
	struct retain_want want;
	struct retain_result result = {0};
	auto_buf path = BUF_INIT;
	auto_buf why = BUF_INIT;
	auto_fd fd = -1;
	struct stat st;
	int status;

	state_path(&path, db);
	if (buf_text(&path))
		fd = open(path.data, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, &st) != 0 || is_recent(&st) ||
	    !retain_policy(policy, &want))
		return;
	want.db = db;
	status = retain_run(&want, 1, argv, &result, &why);
	say_state(fd, status, &result, &why);
}

static _Noreturn void become_keeper(int fd, const char *db, const struct policy_audit *policy)
{
	struct rlimit none = {0, 0};

	(void)prctl(PR_SET_NAME, "wary-keep");
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)setrlimit(RLIMIT_CORE, &none);
	ignore_signals();
	if (let_go(fd) != 0 || setpriority(PRIO_PROCESS, 0, LOW_PRIORITY) != 0 ||
	    privilege_drop(privilege_forbidden()) != 0 || filter_confine(FILTER_KEEPER) != 0)
		_exit(1);
	if (wait_for_end())
		look(db, policy);
	_exit(0);
}

/* ---- in wary -------------------------------------------------------------- */

/* What the last look could not do is said, each time before the next one. */
static void tell_failure(const char *path)
{
	static const char failed[] = "failed: ";
	char text[STATE_MAX_BYTES];
	/* In a folder that a tree may write it may be anything. */
	auto_fd fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	ssize_t n = fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)
	                    ? -1
	                    : read(fd, text, sizeof text - 1);
	auto_free char *shown = NULL;

	if (n <= 0)
		return;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (!text_starts(text, failed))
		return;
	shown = text_printable_str(text + strlen(failed), 0);
	log_notice("the policy's retention could not be applied last time: %s; \"wary audit "
	           "prune\" tries it now",
	           shown);
}

static bool is_due(const char *db)
{
	auto_buf path = BUF_INIT;
	struct stat st;

	state_path(&path, db);
	if (!buf_text(&path))
		return false;
	if (stat(path.data, &st) != 0)
		return errno == ENOENT || errno == ENOTDIR;
	if (is_recent(&st))
		return false;
	tell_failure(path.data);
	return true;
}

int keeper_start(const char *db, const struct policy_audit *policy)
{
	int ends[2];
	pid_t pid;

	if ((!policy->keep.amount && !policy->max_size.amount) || !is_due(db) ||
	    pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	pid = fork();
	if (pid == 0)
		become_keeper(ends[0], db, policy);
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return -1;
	}
	return ends[1];
}

void keeper_go(int fd)
{
	if (fd < 0)
		return;
	(void)!write(fd, "", 1);
	close(fd);
}
