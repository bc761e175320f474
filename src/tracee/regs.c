#include "tracee/regs.h"

#include "base/uses.h"

#include <elf.h>
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

USES(ptrace_registers);

int regs_read(pid_t tid, struct regs *out)
{
	struct iovec io = {.iov_base = &out->raw, .iov_len = sizeof out->raw};

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &io) != 0)
		return -ERR_GONE;
	return io.iov_len == sizeof out->raw ? 0 : -ERR_UNSUPPORTED;
}

int regs_write(pid_t tid, const struct regs *r)
{
	struct iovec io = {
		.iov_base = (void *)&r->raw,
		.iov_len = sizeof r->raw,
	};

	if (ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &io) != 0)
		return -ERR_GONE;
	return 0;
}
