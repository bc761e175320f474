/* libunwind, loaded when it is needed: its four libraries would be a part of what every
 * start waits for, and only a rule with `stack` needs them. */
#ifndef WARY_TRAP_UNWINDER_H
#define WARY_TRAP_UNWINDER_H

#include "base/err.h"

#include <libunwind-ptrace.h>

/* What trap/unwind.c calls of it. The names are libunwind's own macros for what its
 * libraries have them as. */
#define UNWINDER_CALLS(X)         \
	X(unw_create_addr_space)  \
	X(unw_destroy_addr_space) \
	X(unw_flush_cache)        \
	X(unw_get_reg)            \
	X(unw_init_remote)        \
	X(unw_step)               \
	X(_UPT_access_fpreg)      \
	X(_UPT_access_mem)        \
	X(_UPT_access_reg)        \
	X(_UPT_create)            \
	X(_UPT_destroy)           \
	X(_UPT_find_proc_info)    \
	X(_UPT_put_unwind_info)

#define UNWINDER_MEMBER(name) __typeof__(name) *name;

struct unwinder {
	UNWINDER_CALLS(UNWINDER_MEMBER)
};

/** unwinder_load: finds the libraries by the names that wary was built with, as the loader
 * finds those that it is linked with; they stay. Before wary confines itself: its filter
 * lets no code be mapped.
 * Returns 0, or -ERR_UNSUPPORTED with a reason in @why. */
must_check int unwinder_load(struct unwinder *out, const char **why);

#endif
