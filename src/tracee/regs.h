/* Registers of a stopped task: only what exec stops need, per architecture. */
#ifndef WARY_TRACEE_REGS_H
#define WARY_TRACEE_REGS_H

#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct regs {
	struct user_regs_struct raw;
};

/** regs_read: of a task in a ptrace stop, by the tracing thread.
 * Returns 0, -ERR_GONE, or -ERR_UNSUPPORTED for a task of another word size
 * (its register set is not the native one). */
must_check int regs_read(pid_t tid, struct regs *out);
/** regs_write: Returns 0 or -ERR_GONE. */
must_check int regs_write(pid_t tid, const struct regs *r);

#if defined(__x86_64__)
static inline uint64_t regs_sp(const struct regs *r)
{
	return r->raw.rsp;
}
static inline void regs_set_sp(struct regs *r, uint64_t sp)
{
	r->raw.rsp = sp;
}
/* What a system call returned. */
static inline long regs_result(const struct regs *r)
{
	return (long)r->raw.rax;
}
#elif defined(__aarch64__)
static inline uint64_t regs_sp(const struct regs *r)
{
	return r->raw.sp;
}
static inline void regs_set_sp(struct regs *r, uint64_t sp)
{
	r->raw.sp = sp;
}
static inline long regs_result(const struct regs *r)
{
	return (long)r->raw.regs[0];
}
#else
#error "registers of this architecture are not known"
#endif

#endif
