/* trap/filter: what wary's processes put on themselves, each role in a process of
 * the test's own: what its sources declare works, and nothing else does. */
#include "tests/unit/tap.h"
#include "trap/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#if !defined(SANITIZED) && (defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__))
#define SANITIZED true
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

#define NOBODY 0x7ffffff0 /* above any number of a process */
#define PAGE 4096
#define TTY_TYPE 0x5412 /* TIOCSTI */
#define TTY_GET 0x5401  /* TCGETS */

enum {
	G = 1 << FILTER_GUARDIAN,
	A = 1 << FILTER_ASKER,
	K = 1 << FILTER_KEEPER,
	S = 1 << FILTER_SESSION,
	ALL = G | A | K | S
};

/* What comes back where the filter lets it through: a call that cannot succeed, or
 * does no harm.  A role that may make it with other arguments gets EPERM, others
 * ENOSYS. */
static const struct probe {
	const char *what;
	long nr;
	long args[6];
	unsigned may;     /* roles that may */
	unsigned may_not; /* roles that may make the call, and not so */
	bool plain_only;  /* sanitizers need it in every role */
} probes[] = {
	{"getpid", SYS_getpid, {0}, ALL, 0, false},
	{"close", SYS_close, {-1}, ALL, 0, false},
	{"a program", SYS_execve, {0}, 0, 0, false},
	{"a program by descriptor", SYS_execveat, {-1}, 0, 0, false},
	{"a process", SYS_clone, {SIGCHLD}, 0, K | S, true},
	{"a process of a new namespace", SYS_clone, {CLONE_NEWUSER | SIGCHLD}, 0, K | S, true},
	{"a process by clone3", SYS_clone3, {0, 0}, 0, 0, false},
	{"memory",
         SYS_mmap,
         {0, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0},
         ALL,
         0,
         false},
	{"memory to execute",
         SYS_mmap,
         {0, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0},
         0,
         ALL,
         false},
	{"memory made executable", SYS_mprotect, {0, 0, PROT_READ | PROT_EXEC}, 0, ALL, false},
	{"a file to read", SYS_openat, {AT_FDCWD, 0, O_RDONLY | O_CLOEXEC}, ALL, 0, false},
	{"a file to write", SYS_openat, {AT_FDCWD, 0, O_WRONLY | O_CLOEXEC}, K | S, G | A, true},
	{"a file to read and write",
         SYS_openat,
         {AT_FDCWD, 0, O_RDWR | O_CLOEXEC},
         K | S,
         G | A,
         true},
	{"a file to make", SYS_openat, {AT_FDCWD, 0, O_CREAT | O_CLOEXEC}, K | S, G | A, true},
	{"a file to empty", SYS_openat, {AT_FDCWD, 0, O_TRUNC | O_CLOEXEC}, K | S, G | A, true},
	{"a file by openat2", SYS_openat2, {AT_FDCWD, 0, 0, 0}, S, 0, false},
	{"a name to remove", SYS_unlinkat, {-1, 0, 0}, K | S, 0, false},
	{"a name to change", SYS_renameat2, {-1, 0, -1, 0, 0}, S, 0, false},
	{"an internet socket", SYS_socket, {AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0}, S, 0, false},
	{"a packet socket", SYS_socket, {AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0}, 0, S, false},
	{"a raw socket", SYS_socket, {AF_INET, SOCK_RAW | SOCK_CLOEXEC, 1}, 0, S, false},
	{"a connection", SYS_connect, {-1, 0, 0}, S, 0, false},
	{"a send", SYS_sendto, {-1, 0, 0, 0, 0, 0}, G | A | S, 0, false},
	{"a send of descriptors", SYS_sendmsg, {-1, 0, 0}, S, 0, false},
	{"to seize a task", SYS_ptrace, {0x4206 /* PTRACE_SEIZE */, NOBODY, 0, 0}, S, 0, false},
	{"to attach to a task", SYS_ptrace, {16 /* PTRACE_ATTACH */, NOBODY, 0, 0}, 0, S, false},
	{"to write into a task", SYS_ptrace, {5 /* PTRACE_POKEDATA */, NOBODY, 0, 0}, 0, S, false},
	{"memory of a process", SYS_process_vm_readv, {NOBODY, 0, 0, 0, 0, 0}, S, 0, false},
	{"memory of a process, written", SYS_process_vm_writev, {NOBODY}, S, 0, false},
	{"a descriptor of a process", SYS_pidfd_getfd, {-1, 0, 0}, S, 0, false},
	{"a handle of a process", SYS_pidfd_open, {-1, 0}, A | S, 0, false},
	{"a signal by handle", SYS_pidfd_send_signal, {-1, 0, 0, 0}, A | S, 0, false},
	{"a signal", SYS_kill, {NOBODY, 0}, G | S, 0, false},
	{"a child's end", SYS_wait4, {NOBODY, 0, WNOHANG, 0}, G | S, 0, false},
	{"the terminal's settings", SYS_ioctl, {-1, TTY_GET, 0}, ALL, 0, false},
	{"typing into the terminal", SYS_ioctl, {-1, TTY_TYPE, 0}, 0, ALL, false},
	{"the same, high bits set", SYS_ioctl, {-1, TTY_TYPE | 1L << 32, 0}, 0, ALL, false},
	{"a lease", SYS_fcntl, {-1, F_SETLEASE, 0}, 0, K | S, false},
	{"a descriptor's flags", SYS_fcntl, {-1, F_GETFL, 0}, K | S, 0, false},
	{"to be readable", SYS_prctl, {PR_SET_DUMPABLE, 1, 0, 0, 0}, 0, S, false},
	{"a folder of its own", SYS_unshare, {CLONE_FS}, S, 0, false},
	{"a namespace", SYS_unshare, {CLONE_NEWUSER}, 0, S, false},
	{"capabilities", SYS_capset, {0, 0}, S, 0, false},
	{"a caller's ids, and back", SYS_setresuid, {-1, -1, -1}, S, 0, false},
	{"another user for good", SYS_setresuid, {-1, -1, 0}, 0, S, false},
	{"another group for good", SYS_setresgid, {-1, -1, 0}, 0, S, false},
	{"another filter", SYS_seccomp, {0, -1, 0}, 0, 0, false},
	{"a module", SYS_init_module, {0, 0, 0}, 0, 0, false},
	{"a mount", SYS_mount, {0, 0, 0, 0, 0}, 0, 0, false},
	{"a program of the kernel's", SYS_bpf, {0, 0, 0}, 0, 0, false},
	{"a ring of calls", SYS_io_uring_setup, {1, 0}, 0, 0, false},
	{"a key", SYS_keyctl, {0, 0, 0, 0, 0}, 0, 0, false},
	{"another's priority", SYS_setpriority, {PRIO_PROCESS, NOBODY, 0}, S, K, false},
	{"a limit of another process", SYS_prlimit64, {NOBODY, 0, 0, 0}, S, 0, true},
};
#define PROBES_N (sizeof probes / sizeof probes[0])

struct results {
	int confined, thread;
	bool thread_ran;
	int errors[PROBES_N]; /* 0: it succeeded */
};

static void *mark(void *arg)
{
	*(bool *)arg = true;
	return NULL;
}

static void attempt(enum filter_role role, struct results *r)
{
	pthread_t t;

	r->confined = filter_confine(role);
	for (size_t i = 0; i < PROBES_N; i++) {
		const long *a = probes[i].args;

		r->errors[i] = 0;
		if (syscall(probes[i].nr, a[0], a[1], a[2], a[3], a[4], a[5]) == -1)
			r->errors[i] = errno;
	}
	if (role != FILTER_SESSION)
		return;
	r->thread = pthread_create(&t, NULL, mark, &r->thread_ran);
	if (r->thread == 0)
		pthread_join(t, NULL);
}

static void check(const char *name, unsigned role, const struct results *r)
{
	for (size_t i = 0; i < PROBES_N; i++) {
		const struct probe *p = &probes[i];

		if (p->plain_only && SANITIZED)
			continue;
		if (p->may & role)
			tap_ok(r->errors[i] != ENOSYS && r->errors[i] != EPERM, "%s: %s (errno %d)",
			       name, p->what, r->errors[i]);
		else
			tap_is_int(r->errors[i], p->may_not & role ? EPERM : ENOSYS, "%s: not %s",
			           name, p->what);
	}
}

int main(void)
{
	static const char *const names[] = {
		[FILTER_GUARDIAN] = "guardian",
		[FILTER_ASKER] = "asker",
		[FILTER_KEEPER] = "keeper",
		[FILTER_SESSION] = "session",
	};
	struct results *r =
		mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (enum filter_role role = FILTER_GUARDIAN; role <= FILTER_SESSION; role++) {
		int status = 0;
		pid_t pid;

		memset(r, 0xff, sizeof *r);
		r->thread_ran = false;
		pid = fork();
		if (pid == 0) {
			attempt(role, r);
			_exit(0);
		}
		tap_ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		               WEXITSTATUS(status) == 0,
		       "%s: goes on and ends", names[role]);
		tap_is_int(r->confined, 0, "%s: confined", names[role]);
		check(names[role], 1u << role, r);
	}
	tap_ok(r->thread == 0 && r->thread_ran, "session: threads");
	return tap_done();
}
