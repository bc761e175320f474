/* trap/kernel: a kernel that lacks calls and flags, played by a filter that
 * refuses what is tried and nothing else, in a process of the test's own. */
#include "trap/kernel.h"

#include "call/call.h"
#include "tests/unit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NR_FCHMODAT2 452
#define EXECVE_CHECK 0x10000
#define TIMEOUT_S 60

struct seen {
	char here[512], lacks[512];
	bool played, has_threads;
	int hidden, chmod, check, check_other, no_flag, openat;
};

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)

/* Only of descriptor -1, which is what a kernel is tried with; pidfd_open of any
 * process with flags. */
static const struct sock_filter older[] = {
	LOAD(nr),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NR_FCHMODAT2, 0, 3),
	LOAD(args[0]),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xffffffff, 0, 1),
	RETURN(SECCOMP_RET_ERRNO | ENOSYS),
	LOAD(nr),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 0, 3),
	LOAD(args[0]),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xffffffff, 0, 1),
	RETURN(SECCOMP_RET_ERRNO | EINVAL),
	LOAD(nr),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 3),
	LOAD(args[1]),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
	RETURN(SECCOMP_RET_ERRNO | EINVAL),
	RETURN(SECCOMP_RET_ALLOW),
};

static bool play_older(void)
{
	const struct sock_fprog p = {.len = sizeof older / sizeof older[0],
	                             .filter = (struct sock_filter *)(uintptr_t)older};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) == 0;
}

static void write_lacks(char *out, size_t size)
{
	auto_buf text = BUF_INIT;

	kernel_lacks(&text);
	snprintf(out, size, "%s", buf_text(&text));
}

static int error_of(long result)
{
	return result < 0 ? errno : 0;
}

static void look(struct seen *s)
{
	char *const none[] = {NULL};

	write_lacks(s->here, sizeof s->here);
	s->played = play_older();
	write_lacks(s->lacks, sizeof s->lacks);
	s->has_threads = kernel_pidfd_of_thread();
	s->hidden = kernel_hide_absent();
	s->chmod = error_of(syscall(NR_FCHMODAT2, AT_FDCWD, "/none", 0600, 0));
	s->check = error_of(syscall(SYS_execveat, AT_FDCWD, "/none", none, none, EXECVE_CHECK));
	s->check_other = error_of(syscall(SYS_execveat, AT_FDCWD, "/none", none, none,
	                                  EXECVE_CHECK | AT_SYMLINK_NOFOLLOW));
	s->no_flag =
		error_of(syscall(SYS_execveat, AT_FDCWD, "/none", none, none, AT_SYMLINK_NOFOLLOW));
	s->openat = error_of(openat(AT_FDCWD, "/none", O_RDONLY));
}

static bool names(const char *list, const char *what)
{
	const char *at = strstr(list, what);
	size_t n = strlen(what);

	return at && (at == list || at[-1] == ' ') && (at[n] == ',' || at[n] == '\0');
}

static void test_rows(void)
{
	const struct call_row *row = call_row_named("fchmodat2");

	tap_ok(row && row->nr == NR_FCHMODAT2 && row->means == MEANS_EMULATE,
	       "fchmodat2 is emulated");
}

/* What is bound, and what is not, leaves nothing out and says nothing twice. */
static void test_bound(void)
{
	static const char *const said[][2] = {{"files", "files"},
	                                      {"TCP", "TCP"},
	                                      {"ioctl", "ioctl on devices"},
	                                      {"scopes", "signals and abstract sockets"}};
	auto_buf binds = BUF_INIT;
	auto_buf unbound = BUF_INIT;

	kernel_binds(&binds);
	kernel_leaves_unbound(&unbound);
	for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
		tap_ok(names(buf_text(&binds), said[i][0]) != names(buf_text(&unbound), said[i][1]),
		       "%s is bound or not", said[i][0]);
}

int main(void)
{
	struct seen *s =
		mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;
	pid_t pid;

	test_rows();
	test_bound();
	pid = fork();
	if (pid == 0) {
		alarm(TIMEOUT_S);
		look(s);
		_exit(0);
	}
	tap_ok(waitpid(pid, &status, 0) == pid && status == 0, "it was tried (%d)", status);
	tap_ok(s->played, "an older kernel is played");
	tap_note("here lacks: %s", s->here);
	tap_ok(names(s->lacks, "fchmodat2"), "lacks: %s", s->lacks);
	tap_ok(names(s->lacks, "AT_EXECVE_CHECK"), "and the flag");
	tap_ok(names(s->lacks, "PIDFD_THREAD") && !s->has_threads, "and pidfds of threads");
	tap_ok(strlen(s->lacks) >= strlen(s->here), "besides what is lacking here");
	tap_is_int(s->hidden, 0, "hidden");
	tap_is_int(s->chmod, ENOSYS, "the call is absent, whatever its arguments");
	tap_is_int(s->check, EINVAL, "the flag is unknown");
	tap_is_int(s->check_other, EINVAL, "also with others");
	tap_is_int(s->no_flag, ENOENT, "the call without it is as it was");
	tap_is_int(s->openat, ENOENT, "and other calls");
	return tap_done();
}
