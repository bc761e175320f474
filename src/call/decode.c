#include "call/decode.h"

#include "call/scalar.h"

#include <linux/audit.h>
#include <linux/seccomp.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "wary has no syscall table for this architecture"
#endif

int call_decode(const struct seccomp_notif *n, struct call *out)
{
	const struct call_row *row = call_row_find(n->data.nr);

	if (n->data.arch != NATIVE_ARCH || !row)
		return -ERR_UNSUPPORTED;
	*out = (struct call){
		.id = n->id,
		.tid = (pid_t)n->pid,
		.nr = n->data.nr,
		.ip = n->data.instruction_pointer,
		.row = row,
	};
	for (int i = 0; i < CALL_ARGS; i++)
		out->args[i] = n->data.args[i];
	if (scalar_decide(call_row_index(row), out->args) == SCALAR_REFUSE)
		out->row = call_row_refused(row);
	return 0;
}
