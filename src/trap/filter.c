#include "trap/filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trap/filter_code.inc"

/* Linux 5.19; older headers lack it. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
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

int filter_confine(enum filter_role role)
{
	static const struct sock_fprog roles[] = {
		[FILTER_GUARDIAN] = PROGRAM(code_guardian),
		[FILTER_ASKER] = PROGRAM(code_asker),
		[FILTER_KEEPER] = PROGRAM(code_keeper),
		[FILTER_SESSION] = PROGRAM(code_session),
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	return install(&roles[role], SECCOMP_FILTER_FLAG_TSYNC);
}
