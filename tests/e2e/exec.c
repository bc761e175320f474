/* Ways to start a program, and ways in which it fails: prints what each gives,
 * so that a native and a supervised run can be compared.  Runs in an empty
 * folder of its own; "./prog" is made a link to this program. */
#include "tests/lib/say.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef AT_EXECVE_CHECK
#define AT_EXECVE_CHECK 0x10000
#endif

extern char **environ;

/* ---- what is started -------------------------------------------------- */

static int show(int argc, char **argv)
{
	size_t bytes = 0;
	sigset_t pending;
	struct sigaction sa;

	for (int i = 0; i < argc; i++)
		bytes += strlen(argv[i]) + 1;
	sigpending(&pending);
	sigaction(SIGUSR2, NULL, &sa);
	printf("started: %d arguments, %zu bytes", argc, bytes);
	for (int i = 0; i < argc && argc < 12; i++)
		printf(" <%s>", argv[i]);
	printf(" env %s ignored %d pending %d fd9 %d leader %d\n",
	       getenv("SHOWN") ? getenv("SHOWN") : "-", sa.sa_handler == SIG_IGN,
	       sigismember(&pending, SIGUSR1), fcntl(9, F_GETFD) >= 0,
	       (int)syscall(SYS_gettid) == getpid());
	fflush(stdout);
	_exit(0);
}

/* ---- frame ------------------------------------------------------------ */

static char *plain_argv[] = {(char *)"zero", (char *)"one", NULL};
static char *plain_envp[] = {(char *)"SHOW=1", (char *)"SHOWN=yes", NULL};

/* Runs @f in a child; it exits with the errno of what failed. */
static void in_child(const char *what, void (*f)(void *), void *arg)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		f(arg);
		_exit(errno > 0 && errno < 200 ? errno : 201);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("%-48s signal %d\n", what, WTERMSIG(status));
	else if (WEXITSTATUS(status))
		printf("%-48s %s\n", what, strerrorname_np(WEXITSTATUS(status)));
	else
		printf("%-48s ok\n", what);
	fflush(stdout);
}

static void run_path(void *path)
{
	execve(path, plain_argv, plain_envp);
}

static void try_path(const char *path)
{
	in_child(path[0] ? path : "an empty name", run_path, (void *)path);
}

/* ---- names ------------------------------------------------------------ */

static void make_script(const char *name, const char *text, mode_t mode)
{
	make_text(name, text);
	chmod(name, mode);
}

static void names(void)
{
	char deep[5000];

	mkdir("dir", 0755);
	make_script("plain", "nothing", 0644);
	make_script("text", "no script\n", 0755);
	make_script("empty", "", 0755);
	if (symlink("nowhere", "dangling") || symlink("loop", "loop") || symlink("prog", "link") ||
	    symlink("../prog", "dir/up"))
		printf("cannot link\n");
	try_path("./prog");
	try_path("prog");
	try_path("./link");
	try_path("dir/up");
	try_path("dir/../prog");
	try_path(".//prog");
	try_path("/proc/self/cwd/prog");
	try_path("/proc/self/exe");
	try_path("missing");
	try_path("missing/prog");
	try_path("prog/below");
	try_path("prog/");
	try_path("dir");
	try_path("plain");
	try_path("text");
	try_path("empty");
	try_path("dangling");
	try_path("loop");
	try_path("");
	memset(deep, 'x', sizeof deep);
	deep[300] = '\0';
	in_child("a long name", run_path, deep);
	deep[300] = 'x';
	deep[4095] = '\0';
	in_child("a path of 4095", run_path, deep);
	deep[4095] = 'x';
	deep[4999] = '\0';
	in_child("too long a path", run_path, deep);
	in_child("a name nowhere", run_path, bad_address());
	mkfifo("fifo", 0755);
	try_path("fifo");
	try_path("/dev/null");
}

static void busy(void)
{
	int in = open("prog", O_RDONLY | O_CLOEXEC);
	int out = open("copy", O_CREAT | O_WRONLY | O_CLOEXEC, 0755);
	char bytes[65536];
	ssize_t n;

	while ((n = read(in, bytes, sizeof bytes)) > 0)
		if (write(out, bytes, (size_t)n) != n)
			printf("cannot copy\n");
	try_path("./copy");
	close(out);
	close(in);
	try_path("./copy");
	chmod("copy", 04755);
	try_path("./copy");
}

/* ---- arguments -------------------------------------------------------- */

static void no_argv(void *x)
{
	execve("prog", x, plain_envp);
}

static void bad_envp(void *x)
{
	execve("prog", plain_argv, x);
}

static void one_argument(void *length)
{
	char *text = malloc(*(size_t *)length + 1);
	char *argv[] = {(char *)"zero", text, NULL};

	if (text) {
		memset(text, 'y', *(size_t *)length);
		text[*(size_t *)length] = '\0';
		execve("prog", argv, plain_envp);
	}
}

static void many_arguments(void *count)
{
	size_t n = *(size_t *)count;
	char **argv = calloc(n + 1, sizeof *argv);

	for (size_t i = 0; argv && i < n; i++)
		argv[i] = (char *)(i % 3 ? "an argument" : "");
	execve("prog", argv, plain_envp);
}

static void arguments(void)
{
	static char *none[] = {NULL};
	static char *bad[3] = {(char *)"zero"};
	size_t counts[] = {1, 100, 1000, 40000, 2000000};
	size_t lengths[] = {0, 4095, 4096, 131071, 131072, 300000};
	char what[64];

	in_child("no list of arguments", no_argv, NULL);
	in_child("an empty list of arguments", no_argv, none);
	in_child("a list nowhere", no_argv, bad_address());
	bad[1] = bad_address();
	in_child("an argument nowhere", no_argv, bad);
	in_child("an environment nowhere", bad_envp, bad_address());
	in_child("a variable nowhere", bad_envp, bad);
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		snprintf(what, sizeof what, "%zu arguments", counts[i]);
		in_child(what, many_arguments, &counts[i]);
	}
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		snprintf(what, sizeof what, "an argument of %zu", lengths[i]);
		in_child(what, one_argument, &lengths[i]);
	}
}

/* ---- scripts ---------------------------------------------------------- */

static void scripts(void)
{
	char name[16];
	char line[64];

	make_script("s", "#!./prog\n", 0755);
	make_script("s-arg", "#! ./prog an argument  \nrest", 0755);
	make_script("s-env", "#!/usr/bin/env ./prog\n", 0755);
	make_script("s-split", "#!/usr/bin/env -S ./prog a b\n", 0755);
	make_script("s-none", "#!\n", 0755);
	make_script("s-blank", "#!   \n", 0755);
	make_script("s-missing", "#!./missing\n", 0755);
	make_script("s-dir", "#!./dir\n", 0755);
	make_script("s-plain", "#!./plain\n", 0755);
	make_script("s-text", "#!./text\n", 0755);
	make_script("s-self", "#!./s-self\n", 0755);
	make_script("s-shell", "#!/bin/sh\nexec ./prog from-shell \"$0\" \"$@\"\n", 0755);
	make_script("n0", "#!./prog 0\n", 0755);
	for (int i = 1; i < 7; i++) {
		snprintf(name, sizeof name, "n%d", i);
		snprintf(line, sizeof line, "#!./n%d %d\n", i - 1, i);
		make_script(name, line, 0755);
	}
	try_path("./s");
	try_path("s");
	try_path("dir/../s");
	try_path("./s-arg");
	try_path("./s-env");
	try_path("./s-split");
	try_path("./s-none");
	try_path("./s-blank");
	try_path("./s-missing");
	try_path("./s-dir");
	try_path("./s-plain");
	try_path("./s-text");
	try_path("./s-self");
	try_path("./s-shell");
	for (int i = 0; i < 7; i++) {
		snprintf(name, sizeof name, "./n%d", i);
		try_path(name);
	}
}

/* ---- descriptors ------------------------------------------------------ */

struct at {
	const char *path;
	int fd, flags;
};

static void run_at(void *x)
{
	const struct at *a = x;

	if (syscall(SYS_execveat, a->fd, a->path, plain_argv, plain_envp, a->flags) == 0)
		_exit(0); /* only checked */
}

static void try_at(const char *what, int fd, const char *path, int flags)
{
	struct at a = {path, fd, flags};

	in_child(what, run_at, &a);
}

static void at_forms(void)
{
	int dir = open("dir", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int prog = open("prog", O_RDONLY | O_CLOEXEC);
	int path = open("prog", O_PATH | O_CLOEXEC);
	int script = open("s-shell", O_RDONLY | O_CLOEXEC);
	int kept = open("s-shell", O_RDONLY);

	try_at("execveat below a folder", dir, "../prog", 0);
	try_at("execveat through a link", dir, "up", 0);
	try_at("execveat, no link", dir, "up", AT_SYMLINK_NOFOLLOW);
	try_at("execveat, no link, none there", dir, "../prog", AT_SYMLINK_NOFOLLOW);
	try_at("execveat of the folder", dir, "", AT_EMPTY_PATH);
	try_at("execveat of a descriptor", prog, "", AT_EMPTY_PATH);
	try_at("execveat of a path descriptor", path, "", AT_EMPTY_PATH);
	try_at("execveat of an empty name", prog, "", 0);
	try_at("execveat of a bad descriptor", 77, "", AT_EMPTY_PATH);
	try_at("execveat below a bad descriptor", 77, "prog", 0);
	try_at("execveat of an absolute name", 77, "/bin/true", 0);
	try_at("execveat below a file", prog, "x", 0);
	try_at("execveat with a wrong flag", dir, "../prog", 0x4000);
	try_at("execveat of a script that closes", script, "", AT_EMPTY_PATH);
	try_at("execveat of a script below a folder", dir, "../s-shell", 0);
	try_at("execveat of a script that stays", kept, "", AT_EMPTY_PATH);
	try_at("check", dir, "../prog", AT_EXECVE_CHECK);
	try_at("check of a descriptor", prog, "", AT_EMPTY_PATH | AT_EXECVE_CHECK);
	try_at("check of what is not executable", AT_FDCWD, "plain", AT_EXECVE_CHECK);
	try_at("check of nothing", AT_FDCWD, "missing", AT_EXECVE_CHECK);
	try_at("check of a script", AT_FDCWD, "s", AT_EXECVE_CHECK);
	close(kept);
}

static int copy_to(int out)
{
	int in = open("prog", O_RDONLY | O_CLOEXEC);
	char bytes[65536];
	ssize_t n;

	while ((n = read(in, bytes, sizeof bytes)) > 0)
		if (write(out, bytes, (size_t)n) != n)
			printf("cannot copy\n");
	close(in);
	return out;
}

static void nameless(void)
{
	char path[64];
	int memory = copy_to(memfd_create("a memfd", 0));
	int gone = open("gone", O_CREAT | O_RDWR, 0755);

	copy_to(gone);
	close(gone);
	gone = open("gone", O_RDONLY);
	unlink("gone");
	try_at("a deleted file", gone, "", AT_EMPTY_PATH);
	/* It is open for writing: what runs may be another. */
	try_at("a memfd that is open for writing", memory, "", AT_EMPTY_PATH);
	snprintf(path, sizeof path, "/proc/self/fd/%d", gone);
	try_path(path);
	close(memory);
	close(gone);
}

/* ---- forms of fork ---------------------------------------------------- */

static void after_vfork(void *x)
{
	int status = 0;
	pid_t pid;

	(void)x;
	pid = vfork();
	if (pid == 0) {
		execve("./prog", plain_argv, plain_envp);
		_exit(9);
	}
	waitpid(pid, &status, 0);
	pid = vfork();
	if (pid == 0) {
		execve("./missing", plain_argv, plain_envp);
		_exit(errno == ENOENT ? 0 : 9);
	}
	waitpid(pid, &status, 0);
	_exit(WEXITSTATUS(status));
}

static void spawned(void *path)
{
	pid_t pid;
	int status = 0;
	int error = posix_spawn(&pid, path, NULL, NULL, plain_argv, plain_envp);

	if (error == 0)
		waitpid(pid, &status, 0);
	_exit(error ? error : WEXITSTATUS(status));
}

static void *exec_in_thread(void *x)
{
	execve("./prog", x, plain_envp);
	return NULL;
}

static void *wait_in_thread(void *x)
{
	(void)x;
	for (;;)
		pause();
	return NULL;
}

static void from_thread(void *others)
{
	pthread_t t;

	for (int i = 0; i < *(int *)others; i++)
		pthread_create(&t, NULL, wait_in_thread, NULL);
	pthread_create(&t, NULL, exec_in_thread, plain_argv);
	wait_in_thread(NULL);
}

static void *fail_in_thread(void *x)
{
	(void)x;
	execve("./missing", plain_argv, plain_envp);
	_exit(errno);
}

static void failing_thread(void *x)
{
	pthread_t t;

	(void)x;
	pthread_create(&t, NULL, fail_in_thread, NULL);
	wait_in_thread(NULL);
}

static void with_signals(void *x)
{
	sigset_t set;

	(void)x;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR1);
	signal(SIGUSR2, SIG_IGN);
	dup2(1, 9);
	execve("./prog", plain_argv, plain_envp);
}

static void with_cloexec(void *x)
{
	(void)x;
	dup3(1, 9, O_CLOEXEC);
	execve("./prog", plain_argv, plain_envp);
}

/* A failed exec leaves the caller as it was. */
static void after_failures(void *x)
{
	(void)x;
	for (int i = 0; i < 50; i++)
		execve(i % 2 ? "./missing" : "./text", plain_argv, plain_envp);
	execve("./prog", plain_argv, plain_envp);
}

static void forks(void)
{
	int none = 0;
	int some = 5;

	in_child("vfork", after_vfork, NULL);
	in_child("posix_spawn", spawned, (void *)"./prog");
	in_child("posix_spawn of nothing", spawned, (void *)"./missing");
	in_child("posix_spawn of a folder", spawned, (void *)"dir");
	in_child("from a thread", from_thread, &none);
	in_child("from one of many threads", from_thread, &some);
	in_child("a thread whose exec fails", failing_thread, NULL);
	in_child("signals pending, ignored, a descriptor", with_signals, NULL);
	in_child("a descriptor that closes", with_cloexec, NULL);
	in_child("after many failures", after_failures, NULL);
}

int main(int argc, char **argv)
{
	char self[4096];
	ssize_t n;

	if (getenv("SHOW"))
		return show(argc, argv);
	n = readlinkat(AT_FDCWD, "/proc/self/exe", self, sizeof self - 1);
	self[n > 0 ? n : 0] = '\0';
	if (symlink(self, "prog") != 0)
		return 1;
	names();
	busy();
	arguments();
	scripts();
	at_forms();
	nameless();
	forks();
	return 0;
}
