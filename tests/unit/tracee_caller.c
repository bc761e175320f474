/* tracee/caller: what procfs says of a caller. */
#include "tests/unit/tap.h"
#include "tracee/caller.h"

#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static const char status[] = "Name:\tx\\nUid:\t7\n"
			     "Umask:\t0027\n"
			     "State:\tS (sleeping)\n"
			     "Tgid:\t4711\n"
			     "Ngid:\t0\n"
			     "Pid:\t4712\n"
			     "Uid:\t1\t2\t3\t4\n"
			     "Gid:\t5\t6\t7\t4294967295\n"
			     "Groups:\t20 30 40 \n"
			     "CapPrm:\t000001ffffffffff\n"
			     "CapEff:\t0000000000000002\n";

static void check_status(void)
{
	struct caller_creds c;
	pid_t tgid;

	tap_is_int(caller_parse_status(status, &c, &tgid), 0, "status is read");
	tap_is_int(tgid, 4711, "the process");
	tap_is_int(c.umask, 027, "the umask is octal");
	tap_ok(c.ruid == 1 && c.euid == 2 && c.fsuid == 4, "user ids");
	tap_ok(c.rgid == 5 && c.egid == 6 && c.fsgid == 4294967295u, "group ids");
	tap_ok(c.groups_n == 3 && c.groups[2] == 40, "groups");
	tap_ok(c.cap_effective == 2 && c.cap_permitted == 0x1ffffffffff, "capabilities");
}

static void check_broken(void)
{
	char text[sizeof status];
	struct caller_creds c;
	pid_t tgid;

	memcpy(text, status, sizeof text);
	memcpy(strstr(text, "Groups"), "Grouqs", 6);
	tap_is_int(caller_parse_status(text, &c, &tgid), -ERR_FORMAT, "a line that is missing");
	memcpy(text, status, sizeof text);
	memcpy(strstr(text, "\t2\t3"), "\tx\t3", 4);
	tap_is_int(caller_parse_status(text, &c, &tgid), -ERR_FORMAT, "an id that is no number");
	tap_is_int(caller_parse_status("", &c, &tgid), -ERR_FORMAT, "nothing at all");
}

static void check_many_groups(void)
{
	char text[16384];
	struct caller_creds c;
	pid_t tgid;
	int n = snprintf(text, sizeof text,
	                 "Umask:\t0\nTgid:\t1\nUid:\t0 0 0 0\nGid:\t0 0 0 0\n"
	                 "CapPrm:\t0\nCapEff:\t0\nGroups:\t");

	for (int i = 0; i <= CALLER_GROUPS_MAX; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "%d ", i);
	tap_is_int(caller_parse_status(text, &c, &tgid), -ERR_BOUND,
	           "more groups than can be worn are no groups");
}

static void check_tty(void)
{
	tap_is_int((long long)caller_parse_tty("1 (a) b) S 2 3 4 34817 5"),
	           (long long)makedev(136, 1), "a name with parentheses");
	tap_is_int((long long)caller_parse_tty("1 (x) S 2 3 4 1048576 5"),
	           (long long)makedev(0, 256), "the upper bits of a minor number");
	tap_is_int((long long)caller_parse_tty("1 (x) S 2 3 4 0 5"), 0, "no terminal");
	tap_is_int((long long)caller_parse_tty("nonsense"), 0, "nonsense");
}

static void check_limits(void)
{
	uint64_t limit = 0;

	tap_ok(caller_parse_fsize("Limit     Soft\nMax cpu time  1 2 seconds\n"
	                          "Max file size             4096   unlimited  bytes\n",
	                          &limit) == 0 &&
	               limit == 4096,
	       "a limit on files");
	tap_ok(caller_parse_fsize("Max file size  unlimited  unlimited\n", &limit) == 0 &&
	               limit == UINT64_MAX,
	       "no limit");
	tap_is_int(caller_parse_fsize("Max file siz", &limit), -ERR_FORMAT, "nothing of the kind");
	tap_is_int(caller_parse_fsize("Max file size  x", &limit), -ERR_FORMAT, "no number");
}

static void check_self(void)
{
	struct rlimit old;
	struct rlimit new;
	struct caller_creds c;
	uint64_t limit = 0;
	pid_t tgid = 0;

	umask(031);
	tap_is_int(caller_creds_of(getpid(), &c, &tgid), 0, "one's own status");
	tap_ok(tgid == getpid() && c.umask == 031 && c.fsuid == geteuid(), "is one's own");
	tap_is_int(caller_tgid(getpid()), getpid(), "one's own process");
	tap_is_int(caller_tgid(-7), -1, "nobody's process");
	getrlimit(RLIMIT_FSIZE, &old);
	new = old;
	new.rlim_cur = 4096;
	setrlimit(RLIMIT_FSIZE, &new);
	tap_ok(caller_fsize_limit(getpid(), &limit) == 0 && limit == 4096, "the limit on files");
	setrlimit(RLIMIT_FSIZE, &old);
}

/* A child that ends when it is told; with the number @pid, if that is not 0.  Returns
 * its number, 0 where there is none; @tell_fd: closed, it ends. */
static pid_t child_of_number(pid_t pid, int *tell_fd)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = pid ? (uint64_t)(uintptr_t)&pid : 0,
		.set_tid_size = pid ? 1 : 0,
	};
	int ends[2];
	pid_t child;
	char c;

	if (pipe(ends) != 0)
		return 0;
	child = (pid_t)syscall(SYS_clone3, &args, sizeof args);
	if (child == 0) {
		close(ends[1]);
		(void)!read(ends[0], &c, 1);
		_exit(0);
	}
	close(ends[0]);
	*tell_fd = ends[1];
	return child > 0 ? child : 0;
}

static void end_child(pid_t child, int tell_fd)
{
	close(tell_fd);
	if (child > 0)
		waitpid(child, NULL, 0);
}

/* A status that was opened is one thread's, not a number's. */
static void check_kept_open(void)
{
	int tell_fd = -1;
	pid_t first = child_of_number(0, &tell_fd);
	int fd = caller_status_open(first);
	struct caller_creds c;
	pid_t tgid = 0;
	pid_t second;

	tap_ok(caller_creds_read(fd, &c, &tgid) == 0 && tgid == first && c.umask == 031,
	       "a status that is kept open");
	tap_ok(caller_creds_read(fd, &c, &tgid) == 0 && tgid == first, "is read again");
	end_child(first, tell_fd);
	tap_is_int(caller_creds_read(fd, &c, &tgid), -ERR_GONE, "until its process has left");
	second = child_of_number(first, &tell_fd);
	if (second == first)
		tap_is_int(caller_creds_read(fd, &c, &tgid), -ERR_GONE,
		           "also where another has its number");
	else
		tap_skip("also where another has its number: only root can give it again");
	end_child(second, tell_fd);
	close(fd);
	tap_is_int(caller_status_open(-7), -ERR_GONE, "nobody's status");
}

/* What cannot be looked at has not left. */
static void check_no_descriptors(void)
{
	struct rlimit old;
	struct rlimit none;
	struct caller_creds c;
	pid_t tgid;

	getrlimit(RLIMIT_NOFILE, &old);
	none = (struct rlimit){0, old.rlim_max};
	setrlimit(RLIMIT_NOFILE, &none);
	tap_is_int(caller_creds_of(getpid(), &c, &tgid), -ERR_SYS, "without descriptors: unknown");
	tap_is_int(caller_status_open(getpid()), -ERR_SYS, "likewise");
	setrlimit(RLIMIT_NOFILE, &old);
	tap_is_int(caller_creds_of(getpid(), &c, &tgid), 0, "with some again it is there");
}

int main(void)
{
	check_status();
	check_broken();
	check_many_groups();
	check_tty();
	check_limits();
	check_self();
	check_kept_open();
	check_no_descriptors();
	return tap_done();
}
