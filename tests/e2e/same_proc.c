/* The caller's own eyes: procfs, magic links, threads, folders that have gone.
 * Prints what each call gives, so that a native and a supervised run can be
 * compared.  Runs in an empty folder of its own.
 * rows: open openat readlink chdir fchdir mkdir rename unlink prctl ioctl */
#include "tests/lib/say.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Whether a file of procfs begins with this process's number. */
static void say_mine(const char *what, int fd)
{
	char text[128] = "";

	if (fd < 0) {
		say(what, fd);
		return;
	}
	if (read(fd, text, sizeof text - 1) < 0)
		text[0] = '\0';
	printf("%-48s %s\n", what, atoi(text) == getpid() ? "mine" : "another's");
	close(fd);
}

static void say_link(const char *what)
{
	char text[4096] = "";
	char mine[32];

	snprintf(mine, sizeof mine, "%d", getpid());
	if (readlink(what, text, sizeof text - 1) < 0)
		say(what, -1);
	else
		printf("%-48s %s\n", what, strcmp(text, mine) == 0 ? "my number" : text);
}

static void own(void)
{
	int folder = open("/proc/self", O_RDONLY | O_DIRECTORY);

	say_mine("/proc/self/stat", open("/proc/self/stat", O_RDONLY));
	say_mine("by a folder", openat(folder, "stat", O_RDONLY));
	say_mine("/proc/self/task/../stat", open("/proc/self/task/../stat", O_RDONLY));
	say_mine("/proc/self/../self/stat", open("/proc/self/../self/stat", O_RDONLY));
	say_mine("/proc/thread-self/stat", open("/proc/thread-self/stat", O_RDONLY));
	say_open("/proc/self, not followed", open("/proc/self", O_RDONLY | O_NOFOLLOW));
	say_link("/proc/self");
	say("/proc/self/exe", open("/proc/self/exe", O_RDONLY) < 0 ? -1 : 0);
	say_open("/proc/self/cwd/f", open("/proc/self/cwd/f", O_RDONLY));
	say_open("/proc/self/root/dev/null", open("/proc/self/root/dev/null", O_RDONLY));
	say_open("/proc/self/oom_score_adj", open("/proc/self/oom_score_adj", O_WRONLY));
	say_open("/proc/self/comm", open("/proc/self/comm", O_RDWR));
	say_open("/proc/self/none", open("/proc/self/none", O_RDONLY));
	say_open("/proc/version", open("/proc/version", O_RDONLY));
	say_open("/proc/self/../version", open("/proc/self/../version", O_RDONLY));
	say_open("/proc/mounts", open("/proc/mounts", O_RDONLY));
	say_open("/proc/net/dev", open("/proc/net/dev", O_RDONLY));
	say_open("/proc/sys/kernel/ostype", open("/proc/sys/kernel/ostype", O_RDONLY));
	say_open("/proc/self/fd", open("/proc/self/fd", O_RDONLY | O_DIRECTORY));
	say_open("creating in /proc", open("/proc/self/none", O_CREAT | O_RDWR, 0600));
	say("unlink in /proc", unlink("/proc/self/stat"));
	close(folder);
	if (chdir("/proc/self") == 0) {
		say_mine("from /proc/self", open("stat", O_RDONLY));
		say_mine("from it, up and down", open("../self/stat", O_RDONLY));
	}
}

static void numbered(const char *what, int fd, int flags)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	say_open(what, open(path, flags));
	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	say_open("  by /dev/fd", open(path, flags));
	snprintf(path, sizeof path, "/proc/%d/fd/%d", getpid(), fd);
	say_open("  by its number", open(path, flags));
}

static void numbers(void)
{
	int ends[2];
	int memory = memfd_create("m", 0);
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	int file = open("f", O_RDONLY);
	char path[64];

	if (pipe(ends) != 0)
		return;
	numbered("the end of a pipe for reading", ends[0], O_RDONLY | O_NONBLOCK);
	numbered("the end of a pipe for writing", ends[1], O_WRONLY);
	numbered("a pipe with O_CREAT|O_TRUNC", ends[1], O_WRONLY | O_CREAT | O_TRUNC);
	numbered("a memfd", memory, O_RDWR);
	numbered("a socket", s, O_RDWR);
	numbered("a file", file, O_RDWR);
	numbered("a file, emptied", file, O_WRONLY | O_TRUNC);
	numbered("a number that is not open", 777, O_RDONLY);
	numbered("a link that is not followed", file, O_RDONLY | O_NOFOLLOW);
	unlink("f");
	make_text("f (deleted)", "another");
	numbered("a file that is deleted", file, O_RDONLY);
	snprintf(path, sizeof path, "/proc/self/fd/%d/x", file);
	say_open("below a file", open(path, O_RDONLY));
	say_open("/dev/stdin", open("/dev/stdin", O_RDONLY));
	say_open("/dev/stdout", open("/dev/stdout", O_WRONLY));
	close(ends[0]);
	close(ends[1]);
	close(memory);
	close(s);
	close(file);
}

/* A thread with a folder and a table of its own. */
static void *apart(void *arg)
{
	char path[64];
	int fd;

	(void)arg;
	say_open("/proc/thread-self/comm", open("/proc/thread-self/comm", O_RDONLY));
	snprintf(path, sizeof path, "/proc/self/task/%d/comm", (int)syscall(SYS_gettid));
	say_open("by the thread's number", open(path, O_RDONLY));
	if (unshare(CLONE_FS | CLONE_FILES) != 0)
		return NULL;
	say("chdir of the thread", chdir("sub"));
	umask(077);
	say_open("relative to the thread's folder", open("made", O_CREAT | O_RDWR, 0666));
	say_what("../sub/made");
	fd = open(".", O_PATH);
	say("dup2 in the thread's table", dup2(fd, 200) == 200 ? 0 : -1);
	say_open("by the thread's number", openat(200, "made", O_RDONLY));
	say("mkdir in the thread's folder", mkdir("d", 0777));
	say("fchmod by the thread's number", fchmod(200, 0755));
	return NULL;
}

static void threads(void)
{
	pthread_t t;

	mkdir("sub", 0755);
	if (pthread_create(&t, NULL, apart, NULL) != 0)
		return;
	pthread_join(t, NULL);
	say_open("the thread's number is not the process's", openat(200, "made", O_RDONLY));
	say_open("nor its folder", open("made", O_RDONLY));
	say("nor its umask", mkdir("e", 0777));
	say_what("e");
}

static void gone(int top)
{
	mkdir("gone", 0755);
	if (chdir("gone") != 0)
		return;
	rmdir("../gone");
	mkdir("../gone (deleted)", 0755);
	make_text("../gone (deleted)/trap", "x");
	say_open("in a folder that has gone", open("trap", O_RDONLY));
	say_open("creating there", open("x", O_CREAT | O_RDWR, 0600));
	say("mkdir there", mkdir("q", 0700));
	say("symlink there", symlink("x", "s"));
	say_open("the folder itself", open(".", O_RDONLY));
	say_open("the one above", open("../f (deleted)", O_RDONLY));
	say("rename out of it", rename("x", "../x"));
	say("stat of it", access(".", F_OK));
	say("back", fchdir(top));
}

static void moved(void)
{
	int d;

	mkdir("m1", 0755);
	make_text("m1/in", "x");
	d = open("m1", O_RDONLY | O_DIRECTORY);
	say("chdir", chdir("m1"));
	say_open("relative", open("in", O_RDONLY));
	rename("../m1", "../m2");
	say_open("after the folder was moved", open("in", O_RDONLY));
	say("chdir up", chdir(".."));
	say_open("by its descriptor", openat(d, "in", O_RDONLY));
	say("fchdir", fchdir(d));
	say_open("relative again", open("./in", O_RDONLY));
	say("chdir to a file", chdir("in"));
	say("chdir to nothing", chdir("none"));
	say("fchdir of nothing", fchdir(99));
	say("chdir up", chdir(".."));
	close(d);
}

/* The child's entries are there for its parent. */
static void child(void)
{
	char path[64];
	int end;
	pid_t pid = make_child(&end);

	if (pid < 0)
		return;
	snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	say_open("a child's environment", open(path, O_RDONLY));
	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	say_open("a child's descriptors", open(path, O_RDONLY | O_DIRECTORY));
	snprintf(path, sizeof path, "/proc/%d/cwd/m2/in", (int)pid);
	say_open("through a child's folder", open(path, O_RDONLY));
	close(end);
	waitpid(pid, NULL, 0);
}

/* Options that no kernel has, and asking for a mapping by its address. */
static void asked(void)
{
	struct {
		uint64_t size, flags, addr, start, end, rest[8];
	} q = {.size = sizeof q, .flags = 0x10, .addr = (uint64_t)(uintptr_t)&asked};
	int maps = open("/proc/self/maps", O_RDONLY);

	say("an option of prctl that there is not", prctl(1000, 1, 0, 0, 0));
	say("a mapping", ioctl(maps, _IOC(_IOC_READ | _IOC_WRITE, 'f', 17, 104), &q));
	close(maps);
}

int main(void)
{
	int top = open(".", O_PATH);

	setvbuf(stdout, NULL, _IOLBF, 0);
	make_text("f", "some text");
	own();
	if (fchdir(top) != 0)
		return 1;
	numbers();
	threads();
	gone(top);
	moved();
	child();
	asked();
	return 0;
}
