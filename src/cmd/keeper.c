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

USES(flock, ftruncate, open_any, pwrite64);
USED_BEFORE(chdir, clone, close_range, dup2, dup3, fcntl, newfstatat, pipe2, pread64, prctl,
            prlimit64, setsid);

/* How it works.  Looking costs a walk over the record's checkpoints, so it is done once an
 * hour at most: the file below tells when that was, and what could not be done; that it
 * began, where it has not come to its end.
 * Invariants:
 * 1. The tree has ended, and is on record to its end, before the machine's key is read.
 * 2. What says that something goes was read before the tree began, from where no tree
 *    writes (policy_world.lasting).
 * 3. Whatever fails, or kills it, nothing is half removed: a session goes in one
 *    transaction, with its tombstone. */
#define EVERY_S 3600
/* A policy that still says how long sessions are kept would have been tried since. */
#define TOLD_S (7 * 86400)
#define STATE_MAX_BYTES 1024
#define BEGAN "began"
#define FAILED "failed: "

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

/* Of several sessions that end at once one looks: @how is flock(2)'s. Returns its
 * descriptor, with the lock, or -1 and errno. */
static int state_open(const char *path, int flags, int how, struct stat *st)
{
	/* In a folder that a tree may write it may be anything. */
	auto_fd fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

	if (fd < 0 || fstat(fd, st) != 0)
		return -1;
	/* tell_blocked says it. With a second name it may be another's file, which
	 * would be written to. */
	if (!S_ISREG(st->st_mode) || st->st_nlink > 1) {
		errno = S_ISREG(st->st_mode) ? EMLINK : ENODEV;
		return -1;
	}
	/* What it says may be of one that has just ended. */
	if (flock(fd, how | LOCK_NB) != 0 || fstat(fd, st) != 0)
		return -1;
	return fd_take(&fd);
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

static void say_state(int fd, const struct buf *line)
{
	if (line->len_bytes && ftruncate(fd, 0) == 0)
		(void)!pwrite(fd, line->data, line->len_bytes, 0);
}

static void say_result(int fd, int status, const struct retain_result *r, const struct buf *why)
{
	auto_buf line = BUF_INIT;

	if (status == AUDIT_FINE)
		buf_fmt(&line, "removed %llu\n", (unsigned long long)r->removed);
	else
		buf_fmt(&line, FAILED "%.*s\n", STATE_MAX_BYTES - 16,
		        why->len_bytes ? why->data : "out of memory");
	if (buf_text(&line))
		say_state(fd, &line);
}

static void look(const char *db, const struct policy_audit *policy)
{
	char word[] = "prune";
	char *argv[] = {word, NULL};
	struct retain_want want;
	struct retain_result result = {0};
	auto_buf path = BUF_INIT;
	auto_buf began = BUF_INIT;
	auto_buf why = BUF_INIT;
	auto_fd fd = -1;
	struct stat st;
	int status;

	state_path(&path, db);
	if (buf_text(&path))
		fd = state_open(path.data, O_RDWR | O_CREAT, LOCK_EX, &st);
	if (fd < 0 || is_recent(&st) || !retain_policy(policy, &want))
		return;
	buf_str(&began, BEGAN "\n");
	if (buf_text(&began))
		say_state(fd, &began);
	want.db = db;
	status = retain_run(&want, 1, argv, &result, &why);
	say_result(fd, status, &result, &why);
}

static _Noreturn void become_keeper(int fd, const char *db, const struct policy_audit *policy)
{
	struct rlimit none = {0, 0};

	(void)prctl(PR_SET_NAME, "wary-keep");
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)setrlimit(RLIMIT_CORE, &none);
	ignore_signals();
	if (let_go(fd) != 0 || privilege_drop(privilege_forbidden()) != 0 ||
	    filter_confine(FILTER_KEEPER) != 0)
		_exit(1);
	if (wait_for_end())
		look(db, policy);
	_exit(0);
}

/* ---- in wary -------------------------------------------------------------- */

static void tell(const char *when, const char *why)
{
	auto_free char *shown = text_printable_str(why, 0);

	log_notice("the policy's retention could not be applied%s: %s; \"wary audit prune\" tries "
	           "it now",
	           when, shown);
}

/* What the last look could not do. */
static void tell_last(int fd)
{
	char text[STATE_MAX_BYTES];
	ssize_t n = pread(fd, text, sizeof text - 1, 0);

	if (n <= 0)
		return;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (text_starts(text, FAILED))
		tell(" last time", text + strlen(FAILED));
	else if (strcmp(text, BEGAN) == 0)
		tell(" last time", "the process that did it ended before it was done");
}

/* errno says why the file cannot be opened, of its lock, or that it is not there yet. */
static void tell_blocked(const char *path)
{
	auto_buf why = BUF_INIT;

	if (errno == ENOENT || errno == ENOTDIR || errno == EWOULDBLOCK)
		return;
	buf_fmt(&why, "%s: %s", path,
	        errno == ENODEV || errno == EISDIR ? "not a file"
	        : errno == EMLINK                  ? "it has a second name (hard link)"
	                                           : strerrordesc_np(errno));
	if (buf_text(&why))
		tell("", why.data);
}

void keeper_tell(const char *db)
{
	auto_buf path = BUF_INIT;
	auto_fd fd = -1;
	struct stat st;

	state_path(&path, db);
	if (!buf_text(&path))
		return;
	fd = state_open(path.data, O_RDONLY, LOCK_SH, &st);
	if (fd < 0)
		tell_blocked(path.data);
	else if ((int64_t)(clock_wall_ns() / 1000000000) - st.st_mtime < TOLD_S)
		tell_last(fd);
}

/* What cannot be done is said each time before it is tried: an hour apart. */
static bool is_due(const char *db)
{
	auto_buf path = BUF_INIT;
	auto_fd fd = -1;
	struct stat st;

	state_path(&path, db);
	if (!buf_text(&path))
		return false;
	if (lstat(path.data, &st) == 0 && S_ISREG(st.st_mode) && is_recent(&st))
		return false;
	fd = state_open(path.data, O_RDWR, LOCK_SH, &st);
	if (fd < 0 && errno == EWOULDBLOCK)
		return false; /* one looks now */
	if (fd >= 0)
		tell_last(fd);
	else
		tell_blocked(path.data);
	return true;
}

int keeper_start(const char *db, const struct policy_audit *policy)
{
	int ends[2];
	pid_t pid;

	if ((!policy->keep.amount && !policy->max_size.amount) || !is_due(db))
		return -1;
	if (pipe2(ends, O_CLOEXEC) != 0) {
		tell(" after this session", strerrordesc_np(errno));
		return -1;
	}
	pid = fork();
	if (pid == 0)
		become_keeper(ends[0], db, policy);
	if (pid < 0)
		tell(" after this session", strerrordesc_np(errno));
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
	/* SIGPIPE is ignored: nobody may be at the other end any more. */
	if (write(fd, "", 1) != 1)
		tell(" after this session", "the process that was to do it has ended");
	close(fd);
}
