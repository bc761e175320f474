/* Umask, ids, groups, capabilities and folders with rules of their own: prints
 * what each call gives, so that a native and a supervised run can be compared.
 * Runs in an empty folder of its own; as root it shows more.
 * rows: umask setuid setgid setresuid setresgid setfsuid setfsgid setgroups
 * rows: capset open mkdir mknod chown access execve sched_setaffinity
 * rows: sched_setscheduler sched_setparam setpriority ioprio_set prlimit64 kill tgkill
 * rows: rt_sigqueueinfo pidfd_send_signal */
#include "tests/lib/say.h"

#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#define SOMEBODY 1234
#define ANOTHER 1235
#define GROUP 4321

static void masks(void)
{
	static const mode_t list[] = {0, 022, 027, 077, 0777};
	char name[32];

	for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
		umask(list[i]);
		snprintf(name, sizeof name, "file%03o", list[i]);
		make_file(name, 07777);
		say_what(name);
		snprintf(name, sizeof name, "dir%03o", list[i]);
		mkdir(name, 07777);
		say_what(name);
		snprintf(name, sizeof name, "fifo%03o", list[i]);
		mkfifo(name, 0666);
		say_what(name);
	}
	umask(022);
}

static void group_folders(void)
{
	mkdir("g", 0755);
	say("a folder of the group", chmod("g", 02775));
	make_file("g/f", 0666);
	say_what("g/f");
	mkdir("g/d", 0777);
	say_what("g/d");
	say_open("O_TMPFILE in it", open("g", O_TMPFILE | O_RDWR, 0666));
}

/* u::rwx g::r-x o::--- as a default for what is made below. */
static void default_rules(void)
{
	static const unsigned char acl[] = {
		2,    0, 0, 0,                         /* version */
		1,    0, 7, 0, 0xff, 0xff, 0xff, 0xff, /* owner */
		2,    0, 7, 0, 0xd2, 0x04, 0,    0,    /* user 1234 */
		4,    0, 5, 0, 0xff, 0xff, 0xff, 0xff, /* group */
		0x10, 0, 7, 0, 0xff, 0xff, 0xff, 0xff, /* mask */
		0x20, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, /* others */
	};

	mkdir("acl", 0755);
	umask(077);
	say("rules for what is made",
	    setxattr("acl", "system.posix_acl_default", acl, sizeof acl, 0));
	make_file("acl/f", 0666);
	say_what("acl/f");
	mkdir("acl/d", 0777);
	say_what("acl/d");
	say_number("they are inherited", getxattr("acl/f", "system.posix_acl_access", NULL, 0));
	umask(022);
}

static void locked(void)
{
	mkdir("locked", 0700);
	make_text("locked/f", "x");
	make_text("unreadable", "x");
	chmod("unreadable", 0);
	chmod("locked", 0);
	say_open("a file that nobody may read", open("unreadable", O_RDONLY));
	say_open("one in a folder that nobody may search", open("locked/f", O_RDONLY));
	say_open("what is not there in it", open("locked/none", O_RDONLY));
	say("mkdir in it", mkdir("locked/d", 0755));
	say("access of it", access("locked/f", F_OK));
	say("chdir to it", chdir("locked"));
	chmod("locked", 0700);
	if (access("../locked", F_OK) == 0)
		(void)!chdir("..");
	say("/etc/shadow", open("/etc/shadow", O_RDONLY) < 0 ? -1 : 0);
	say_open("in somebody's folder", open("/root/none", O_RDONLY));
	say("mkdir in the root", mkdir("/wary-test-none/d", 0755));
}

/* What others made in a sticky folder. */
static void sticky(void)
{
	say("unlink of another's", unlink("sticky/root"));
	say("rename of another's", rename("sticky/root", "sticky/mine"));
	say_open("O_CREAT of another's", open("sticky/root", O_CREAT | O_RDWR, 0666));
	say_open("opening another's", open("sticky/root", O_RDWR));
	say_open("through another's link", open("sticky/link", O_RDONLY));
	say_open("O_CREAT of another's fifo",
	         open("sticky/fifo", O_CREAT | O_RDWR | O_NONBLOCK, 0666));
	say("a link to another's", link("sticky/root", "sticky/hard"));
	make_file("sticky/own", 0666);
	say("unlink of one's own", unlink("sticky/own"));
	say("chmod of another's", chmod("sticky/root", 0600));
	say("utime to the present of another's", utimensat(AT_FDCWD, "sticky/root", NULL, 0));
}

static void run(const char *name)
{
	char *const argv[] = {(char *)name, NULL};
	char *const none[] = {NULL};
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		execve(name, argv, none);
		_exit(errno == 0 ? 255 : errno);
	}
	waitpid(pid, &status, 0);
	printf("execve %s: %x\n", name, (unsigned)status);
}

/* Started by a process that has given up root: not even its own memory may be
 * read by others with its new ids. */
static void programs(void)
{
	run("/bin/true");
	run("open/script");
	run("open/relative");
	run("open/closed");
	run("open/none");
}

static void as_somebody(void)
{
	gid_t groups[] = {GROUP};
	const struct timespec then[2] = {{1, 0}, {1, 0}};
	int fd;

	if (setgroups(1, groups) != 0 || setresgid(SOMEBODY, SOMEBODY, SOMEBODY) != 0 ||
	    setresuid(SOMEBODY, SOMEBODY, SOMEBODY) != 0)
		_exit(1);
	say_open("/etc/shadow as somebody", open("/etc/shadow", O_RDONLY));
	say_open("made as somebody", open("open/made", O_CREAT | O_RDWR, 0666));
	say_what("open/made");
	say("chown to root", chown("open/made", 0, 0));
	say("chown to a group of one's own", chown("open/made", (uid_t)-1, GROUP));
	say_what("open/made");
	say("chmod of root's", chmod("open/root", 0600));
	say("times of root's", utimensat(AT_FDCWD, "open/root", then, 0));
	say_open("root's for the group", open("open/group", O_RDWR));
	say_open("root's for root", open("open/root", O_RDONLY));
	say_open("emptying what the group may write", open("open/setid", O_WRONLY | O_TRUNC));
	say_what("open/setid");
	fd = open("open/made", O_RDONLY);
	say("fchmod by number", fchmod(fd, 0640));
	say("fchown by number", fchown(fd, SOMEBODY, GROUP));
	say("times by number", futimens(fd, then));
	close(fd);
	fd = open("open/group", O_RDONLY);
	say("fchmod of root's by number", fchmod(fd, 0640));
	close(fd);
	say("truncate of one's own", truncate("open/made", 10));
	say("access of root's", access("open/root", R_OK));
	say("truncate of root's", truncate("open/root", 0));
	say("setxattr of root's", setxattr("open/root", "user.x", "1", 1, 0));
	say("trusted attribute", setxattr("open/made", "trusted.x", "1", 1, 0));
	say_open("O_NOATIME of root's", open("open/group", O_RDONLY | O_NOATIME));
	locked();
	sticky();
	programs();
}

static void drop(unsigned cap)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d) != 0)
		return;
	d[cap / 32].effective &= ~(1u << cap % 32);
	say("capset", syscall(SYS_capset, &h, d));
}

static void without_powers(void)
{
	drop(CAP_DAC_OVERRIDE);
	drop(CAP_DAC_READ_SEARCH);
	say_open("without the power over files", open("open/other", O_RDWR));
	say_open("its own", open("open/root", O_RDWR));
	drop(CAP_CHOWN);
	say("chown without its power", chown("open/root", SOMEBODY, SOMEBODY));
	drop(CAP_FOWNER);
	say("chmod without its power", chmod("open/other", 0600));
	drop(CAP_FSETID);
	say("a group that is not one's own", chown("open/root", (uid_t)-1, (gid_t)-1));
	programs();
}

static void by_file_ids(void)
{
	setfsgid(SOMEBODY);
	setfsuid(SOMEBODY);
	say_open("as somebody's file ids", open("open/root", O_RDONLY));
	make_file("open/byfs", 0666);
	say_what("open/byfs");
	say("access by the real ids", access("open/root", R_OK));
	programs();
	setfsuid(0);
	setfsgid(0);
	say_open("as root's again", open("open/root", O_RDONLY));
}

/* Limits, priorities and scheduling of another process, by one that may be another
 * user by now. */
static void set_of(pid_t pid, pid_t group)
{
	struct sched_param param = {.sched_priority = 0};
	struct rlimit limit = {64, 64};
	unsigned long processors[16] = {1};
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	say("its processors", syscall(SYS_sched_setaffinity, pid, sizeof processors, processors));
	say("its class", sched_setscheduler(pid, SCHED_BATCH, &param));
	say("its parameters", sched_setparam(pid, &param));
	say("its priority", setpriority(PRIO_PROCESS, (id_t)pid, 5));
	say("its group's priority", setpriority(PRIO_PGRP, (id_t)group, 5));
	say("its i/o priority", syscall(SYS_ioprio_set, 1, pid, 2 << 13 | 5));
	say("its limit", prlimit(pid, RLIMIT_NOFILE, &limit, NULL));
	say("its limit, only seen", prlimit(pid, RLIMIT_NOFILE, NULL, &limit));
	say("a signal", kill(pid, 0));
	say("to its group", kill(-group, 0));
	say("to its thread", syscall(SYS_tgkill, pid, pid, 0));
	say("with a value", sigqueue(pid, 0, (union sigval){.sival_int = 1}));
	say("what makes it go on", kill(pid, SIGCONT));
	say("by its descriptor", syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0));
	close(pidfd);
}

static void others(void)
{
	int end;
	pid_t pid = make_child(&end);

	if (pid < 0)
		return;
	setpgid(pid, pid);
	set_of(pid, pid);
	say("a group that there cannot be", setpriority(PRIO_PGRP, (id_t)-1, 5));
	if (getuid() == 0) {
		say("real and effective ids", setresuid(SOMEBODY, SOMEBODY, 0));
		set_of(pid, pid);
		say("back", setresuid(0, 0, 0));
		say("the effective one", seteuid(SOMEBODY));
		set_of(pid, pid);
		say("back", seteuid(0));
		set_of(pid, pid);
	}
	close(end);
	waitpid(pid, NULL, 0);
}

/* In a process of its own, so that what it gives up is not missed. */
static void apart(void (*what)(void))
{
	pid_t pid;
	int status = 0;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		what();
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("%-48s %d\n", "status", status);
}

static void file_of(const char *name, mode_t mode, uid_t uid, gid_t gid)
{
	make_text(name, "text");
	(void)!chown(name, uid, gid);
	chmod(name, mode);
}

static void prepare(void)
{
	mkdir("open", 0755);
	chmod("open", 0777);
	mkdir("sticky", 0755);
	chmod("sticky", 01777);
	file_of("open/root", 0600, 0, 0);
	file_of("open/other", 0600, ANOTHER, ANOTHER);
	file_of("open/group", 0660, 0, GROUP);
	file_of("open/setid", 06770, 0, GROUP);
	file_of("sticky/root", 0666, ANOTHER, ANOTHER);
	file_of("open/script", 0755, 0, 0);
	make_text("open/script", "#!/bin/sh\nexit 7\n");
	file_of("open/relative", 0755, 0, 0);
	make_text("open/relative", "#!open/sh\nexit 8\n");
	file_of("open/closed", 0700, 0, 0);
	symlink("/bin/sh", "open/sh");
	mkfifo("sticky/fifo", 0666);
	chmod("sticky/fifo", 0666);
	(void)!chown("sticky/fifo", ANOTHER, ANOTHER);
	symlink("root", "sticky/link");
	(void)!lchown("sticky/link", SOMEBODY + 5, SOMEBODY + 5);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	chmod(".", 0777);
	masks();
	group_folders();
	default_rules();
	apart(locked);
	apart(others);
	if (getuid() != 0)
		return 0;
	prepare();
	apart(as_somebody);
	apart(without_powers);
	apart(by_file_ids);
	say_open("as root again", open("rootfile", O_CREAT | O_RDWR, 0666));
	say_what("rootfile");
	return 0;
}
