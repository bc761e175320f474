/* trap/filter: every row of the table, in the kernel.  A process puts itself
 * under the filter; one of its threads makes each call that must be notified,
 * the other receives it and answers with an errno that no call gives. */
#include "trap/filter.h"

#include "call/call.h"
#include "call/scalar.h"
#include "tests/unit/tap.h"
#include "trap/notify.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK ENOTNAM /* given by no system call */
#define TIMEOUT_MS 30000

/* Shared by the test and the process under the filter. */
struct seen {
	int listener;
	int notified; /* rows that were to be notified and were */
	int should;
	int last;  /* row on the way, for whoever finds it stuck */
	int wrong; /* first wrong row, or -1 */
	long result;
	long dumpable_set, dumpable_is, clone3, unknown, x32, i386, allowed;
};

static struct seen *seen;

/* What a call with these registers must do; only those are made that the
 * filter itself answers or notifies: nothing here runs. */
static bool is_notified(size_t index, bool stat, const uint64_t *args)
{
	const struct call_row *row = call_row_at(index);

	switch (scalar_decide(index, args)) {
	case SCALAR_STAT:
		return stat;
	case SCALAR_NOTIFY:
	case SCALAR_REFUSE:
		return true;
	case SCALAR_ALLOW:
	case SCALAR_ZERO:
		return false;
	case SCALAR_NONE:
		break;
	}
	return row->means == MEANS_EMULATE || row->means == MEANS_VERIFY ||
	       row->means == MEANS_CONTINUE || row->means == MEANS_REFUSE ||
	       (row->means == MEANS_STAT && stat);
}

static bool stat_variant;

static void *make_calls(void *arg)
{
	/* Registers that mean something for some call or other: another
	 * process, an address, a command. */
	static const uint64_t sets[][CALL_ARGS] = {
		{0},
		{1, 1, 1, 1, 1, 1},
		{1, 8, 1, 1, 4096, 1},
		{1, 0x5412, 1, 1, 4096, 1},
		{0x10000000, 0x89f0, 3, 0, 1, 0},
	};

	(void)arg;
	for (size_t i = 0; call_row_at(i); i++)
		for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
			const uint64_t *a = sets[k];
			long result;

			if (call_row_at(i)->nr < 0 || !is_notified(i, stat_variant, a))
				continue;
			seen->last = (int)i;
			seen->should++;
			result = syscall(call_row_at(i)->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
			if (result == -1 && errno == MARK)
				seen->notified++;
			else if (seen->wrong < 0)
				seen->wrong = (int)i;
		}
	return NULL;
}

static void receive_all(int listener)
{
	struct pollfd p = {.fd = listener, .events = POLLIN};
	struct seccomp_notif n;

	for (;;) {
		memset(&n, 0, sizeof n);
		if (poll(&p, 1, TIMEOUT_MS) <= 0 || notify_receive(listener, &n) != 0)
			_exit(3);
		/* The thread says that it is done by a call that has a row. */
		if (n.data.nr == SYS_umask && n.data.args[0] == 0777) {
			notify_send(listener, n.id, 0);
			return;
		}
		notify_send(listener, n.id, -MARK);
	}
}

static void *caller(void *arg)
{
	make_calls(arg);
	syscall(SYS_umask, 0777);
	return NULL;
}

static long raw_result(long r)
{
	return r < 0 ? -errno : r;
}

#ifdef __x86_64__
/* In a process of its own: a kernel without i386 calls makes it a fault. */
static long call_i386(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int r;

		__asm__ volatile("int $0x80"
		                 : "=a"(r)
		                 : "a"(20)
		                 : "memory", "r8", "r9", "r10", "r11");
		_exit(r == -ENOSYS ? 0 : 1);
	}
	if (waitpid(pid, &status, 0) != pid)
		return 0;
	return status == 0 || WIFSIGNALED(status) ? -ENOSYS : 0;
}
#endif

static void filter_answers(void)
{
	seen->dumpable_set = raw_result(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
	seen->dumpable_is = raw_result(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
	seen->clone3 = raw_result(syscall(435, NULL, 0));
	seen->unknown = raw_result(syscall(1999));
	seen->allowed = raw_result(syscall(SYS_getpid)) == getpid();
	seen->x32 = seen->i386 = -ENOSYS;
#ifdef __x86_64__
	seen->x32 = raw_result(syscall(0x40000000 | SYS_getpid));
	seen->i386 = call_i386();
#endif
}

static _Noreturn void supervised(void)
{
	pthread_t thread;

	/* A sanitizer's handler would make calls that nobody answers yet. */
	(void)signal(SIGSEGV, SIG_DFL);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		_exit(2);
	seen->listener = filter_trap(stat_variant);
	if (seen->listener < 0)
		_exit(2);
	filter_answers();
	if (pthread_create(&thread, NULL, caller, NULL) != 0)
		_exit(2);
	receive_all(seen->listener);
	_exit(pthread_join(thread, NULL) == 0 ? 0 : 2);
}

static void test_variant(bool stat)
{
	const char *name = stat ? "stat" : "plain";
	int status;
	pid_t pid;

	memset(seen, 0, sizeof *seen);
	seen->wrong = -1;
	stat_variant = stat;
	(void)fflush(NULL);
	pid = fork();
	if (pid == 0)
		supervised();
	invariant(waitpid(pid, &status, 0) == pid);
	tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	       "%s: the process ended well (%#x, listener %d, at %s)", name, (unsigned)status,
	       seen->listener, call_row_at((size_t)seen->last)->name);
	tap_ok(seen->should > 200, "%s: %d calls were to be notified", name, seen->should);
	tap_is_int(seen->notified, seen->should, "%s: all of them were (first wrong: %s)", name,
	           seen->wrong < 0 ? "none" : call_row_at((size_t)seen->wrong)->name);
	tap_is_int(seen->dumpable_set, 0, "%s: PR_SET_DUMPABLE 0 is answered 0", name);
	tap_is_int(seen->dumpable_is, 1, "%s: and not done", name);
	tap_is_int(seen->clone3, -ENOSYS, "%s: clone3", name);
	tap_is_int(seen->unknown, -ENOSYS, "%s: a number without a row", name);
	tap_is_int(seen->x32, -ENOSYS, "%s: x32", name);
	tap_is_int(seen->i386, -ENOSYS, "%s: int 0x80", name);
	tap_is_int(seen->allowed, 1, "%s: getpid runs", name);
}

int main(void)
{
	seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	test_variant(false);
	test_variant(true);
	return tap_done();
}
