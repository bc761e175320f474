#include "trap/filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trap/filter_code.inc"

/* Linux 5.19; older headers lack it. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARG0_LOW offsetof(struct seccomp_data, args[0])
#else
#define ARG0_LOW (offsetof(struct seccomp_data, args[0]) + 4)
#endif

#define PROGRAM(code)                                              \
	{                                                          \
		.len = sizeof(code) / sizeof(code)[0],             \
		.filter = (struct sock_filter *)(uintptr_t)(code), \
	}

static int install(const struct sock_fprog *program, unsigned long flags)
{
	long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, program);

	return result < 0 ? -errno : (int)result;
}

int filter_trap(bool stat)
{
	const struct sock_fprog plain = PROGRAM(code_plain);
	const struct sock_fprog with_stat = PROGRAM(code_stat);

	return install(stat ? &with_stat : &plain,
	               SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
}

/* New threads are made; a new process would be one that nobody knows of.  What
 * clone3 is asked lies in memory: libc goes back to clone. */
static const struct sock_filter code_threads_only[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 3, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARG0_LOW),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 2, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

int filter_confine(void)
{
	const struct sock_fprog self = PROGRAM(code_self);
	const struct sock_fprog threads_only = PROGRAM(code_threads_only);
	int err;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	err = install(&threads_only, SECCOMP_FILTER_FLAG_TSYNC);
	return err ? err : install(&self, SECCOMP_FILTER_FLAG_TSYNC);
}
