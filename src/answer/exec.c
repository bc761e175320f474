/* execve and execveat: what they would start is found and judged from copies,
 * then the kernel does it, and what it loaded is compared (law 8). */
#include "trap/exec.h"
#include "answer/families.h"
#include "answer/program.h"
#include "supervise.h"
#include "tracee/startup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef AT_EXECVE_CHECK
#define AT_EXECVE_CHECK 0x10000
#endif
#define FLAGS_KNOWN ((uint64_t)(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_EXECVE_CHECK))

/* One exec, on its way through the kernel. */
struct going {
	struct request *r;
	const struct program *p;
};

static int prepare(struct request *r)
{
	struct program *p = program_new();
	uint64_t flags = 0;
	int err;

	if (!p)
		return -ERR_NOMEM;
	r->target.more = p;
	r->target.more_free = program_free;
	(void)call_arg(r->call, ROLE_FLAGS, &flags);
	r->flags = flags & UINT32_MAX;
	err = r->flags & ~FLAGS_KNOWN ? -EINVAL : program_resolve(r, p);
	if (err < 0 && err > -ERR_BASE) {
		r->reply.value = err;
		return 1;
	}
	return err ? err : program_facts(r, p);
}

/* Puts on record what the process is from now on. */
static int enter(const struct going *g, const struct startup *s)
{
	struct facts_program identity;
	struct lineage_exec exec = {.program = &identity};

	program_identity(g->r->sup, g->p, g->r->caller.program, &identity);
	lineage_print_of(s->auxv, s->auxv_words, &exec.print);
	return lineage_exec(g->r->sup->lineage, s->pid, &exec);
}

/* The new program stands at its first instruction. */
static bool loaded(void *ctx, pid_t pid)
{
	struct going *g = ctx;
	struct startup s;
	bool good;

	if (startup_read(pid, &s) != 0)
		return false;
	good = program_matches(g->p, &s) && enter(g, &s) == 0;
	startup_done(&s);
	return good;
}

/* What goes on record; the caller has its own errno from the kernel. */
static const int value_of[] = {
	[EXEC_LOADED] = 0,     [EXEC_KILLED] = -EACCES, [EXEC_RESTARTS] = -EINTR,
	[EXEC_DIED] = -EFAULT, [EXEC_GONE] = -ESRCH,    [EXEC_BUSY] = -EAGAIN,
};

static void act(struct request *r, const struct receipt *receipt)
{
	struct going g = {.r = r, .p = r->target.more};
	const struct exec_watch watch = {.loaded = loaded, .ctx = &g};
	struct exec_result result;

	(void)receipt;
	if (r->flags & AT_EXECVE_CHECK) {
		/* Decided, and nothing is loaded: the kernel checks what is
		 * left to check; one that does not know the flag says so. */
		long checked = syscall(SYS_execveat, program_image(g.p)->place.fd, "", NULL, NULL,
		                       AT_EMPTY_PATH | AT_EXECVE_CHECK);

		r->reply.value = checked < 0 ? -errno : checked;
		return;
	}
	if (worker_block_begin(r->worker, r->call->id, r->call->tid) != 0) {
		r->reply.value = -EAGAIN;
		return;
	}
	exec_run(r->sup->listener_fd, r->call->id, r->call->tid, &watch, &result);
	worker_block_end(r->worker);
	r->reply.value = result.end == EXEC_FAILED ? -result.error : value_of[result.end];
	r->reply.answered = result.end != EXEC_BUSY;
}

const struct family family_exec = {.prepare = prepare, .act = act};
