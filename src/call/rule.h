/* How rules on registers are written, in call/scalar.def and trap/forms.def. */
#ifndef WARY_CALL_RULE_H
#define WARY_CALL_RULE_H

#include "call/scalar.h"

#include <sched.h>

#define CLONE_NEVER                                                                              \
	((uint32_t)(CLONE_PARENT | CLONE_PTRACE | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | \
	            CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET))
#define CLONE_SHARED (CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_VM)
#define SOCK_FLAGS ((uint32_t)(SOCK_CLOEXEC | SOCK_NONBLOCK))

#define BITS(n, bits, wanted)                                                     \
	{                                                                         \
		.arg = (n), .mask = (uint32_t)(bits), .value = (uint32_t)(wanted) \
	}
#define LOW(n, wanted) BITS(n, UINT32_MAX, wanted)
#define WIDE(n, wanted)                                                     \
	{                                                                   \
		.arg = (n), .mask = UINT64_MAX, .value = (uint64_t)(wanted) \
	}
#define RULE(name, ...)                                         \
	{                                                       \
		.what = SCALAR_##name, .conds = { __VA_ARGS__ } \
	}

#endif
