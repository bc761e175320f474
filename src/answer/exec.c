/* execve and execveat: what they would start is found and judged from copies,
 * then the kernel does it, and what it loaded is compared (law 8). */
#include "trap/exec.h"
#include "answer/arrivals.h"
#include "answer/execution.h"
#include "answer/families.h"
#include "answer/give.h"
#include "answer/install.h"
#include "answer/program_same.h"
#include "answer/script.h"
#include "base/uses.h"
#include "supervise.h"
#include "tracee/lineage_entry.h"
#include "trap/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/utsname.h>

USES(uname);

#ifndef AT_EXECVE_CHECK
#define AT_EXECVE_CHECK 0x10000
#endif
#define FLAGS_KNOWN ((uint64_t)(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_EXECVE_CHECK))

static void execution_free(void *more)
{
	struct execution *x = more;

	if (!x)
		return;
	program_free(x->program);
	entry_put(x->preview);
	package_list_free(&x->packages);
	argv_free(&x->envp);
	free(x);
}

static struct execution *execution_new(void)
{
	struct execution *x = calloc(1, sizeof *x);

	if (x)
		x->program = program_new();
	if (x && !x->program) {
		free(x);
		x = NULL;
	}
	return x;
}

/* ---- before ----------------------------------------------------------- */

static int find_and_ask(struct request *r, struct execution *x)
{
	int err = r->flags & ~FLAGS_KNOWN ? -EINVAL : program_resolve(r, x->program);

	if (err)
		return program_failed(r, x->program, err);
	program_identity(r->sup, x->program, r->caller.program, &x->identity);
	err = program_facts(r, x->program);
	if (!err)
		err = install_prepare(r, x);
	if (!err)
		err = script_prepare(r, x);
	if (!err)
		err = give_prepare(r, x);
	return err;
}

static int prepare(struct request *r)
{
	struct execution *x = execution_new();
	uint64_t flags = 0;
	int err;

	if (!x)
		return -ERR_NOMEM;
	r->target.more = x;
	r->target.more_free = execution_free;
	(void)call_arg(r->call, ROLE_FLAGS, &flags);
	r->flags = flags & UINT32_MAX;
	err = find_and_ask(r, x);
	if (err < 0 && err > -ERR_BASE) {
		r->reply.value = err;
		return 1;
	}
	return err;
}

/* ---- at the exec stop ------------------------------------------------- */

/* A manager that may install; what it then writes is its run's. */
static uint32_t begin_run(struct request *r, const struct execution *x, pid_t pid)
{
	const struct lineage_entry *before = r->caller.program;
	const struct arrivals_run run = {
		.pid = pid,
		.uid = r->worker->fsuid_now,
		.manager = x->packages.manager,
		.program = x->identity.path,
		.registry = install_registry(x),
		.before = before ? before->install_run : 0,
	};

	return x->packages.installs ? arrivals_begin(r->sup->arrivals, &run) : 0;
}

/* Puts on record what the process is from now on. */
static int enter(struct request *r, const struct execution *x, const struct startup *s)
{
	struct lineage_exec exec = {
		.program = &x->identity,
		.mark = x->mark[0] ? x->mark : NULL,
		.holds_secret = give_any(x),
		.install_run = begin_run(r, x, s->pid),
		.asked = x->packages.installs ? x->asked : NULL,
	};

	lineage_print_of(s->auxv, s->auxv_words, &exec.print);
	return lineage_exec(r->sup->lineage, s->pid, &exec);
}

/* And in the record. */
static int note(const struct request *r, const struct execution *x, const struct startup *s)
{
	const struct facts_program *is = &x->identity;
	const struct audit_event e = {
		.pid = s->pid,
		.tid = s->pid,
		.uid = r->worker->fsuid_now,
		.program = is->path,
		.object = is->script ? is->script : is->path,
		.argv = is->argv,
		.argc = is->argc,
		.cwd = r->cwd,
		.sha256 = is->sha256,
	};

	return processes_loaded(r->sup->processes, &e);
}

/* The new program stands at its first instruction. */
static bool loaded(void *ctx, pid_t pid)
{
	struct request *r = ctx;
	struct execution *x = execution_of(r);
	struct startup s;
	bool good;

	if (startup_read(pid, &s) != 0)
		return false;
	good = program_same(x->program, &s) && install_same(x, &s) &&
	       give_environment(r, x, &s) == 0 && enter(r, x, &s) == 0 && note(r, x, &s) == 0;
	startup_done(&s);
	return good;
}

/* What goes on record; the caller has its own errno from the kernel. */
static const int value_of[] = {
	[EXEC_LOADED] = 0,     [EXEC_KILLED] = -EACCES, [EXEC_RESTARTS] = -EINTR,
	[EXEC_DIED] = -EFAULT, [EXEC_GONE] = -ESRCH,    [EXEC_BUSY] = -EAGAIN,
};

static void run(struct request *r)
{
	const struct exec_watch watch = {.loaded = loaded, .ctx = r};
	struct exec_result result;

	r->reply.value = -EAGAIN;
	if (worker_block_begin(r->worker, r->call->id, r->call->tid) != 0)
		return;
	exec_run(r->sup->listener_fd, r->call->id, r->call->tid, &watch, &result);
	worker_block_end(r->worker);
	r->reply.value = result.end == EXEC_FAILED ? -result.error : value_of[result.end];
	r->reply.answered = result.end != EXEC_BUSY;
}

/* Since 6.14 the kernel tells a program whether an exec would be allowed. */
static bool kernel_checks(void)
{
	struct utsname machine;
	unsigned long major = 0;
	unsigned long minor = 0;
	char *end;

	if (uname(&machine) == 0) {
		major = strtoul(machine.release, &end, 10);
		minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
	}
	return major > 6 || (major == 6 && minor >= 14);
}

static void act(struct request *r, const struct receipt *receipt)
{
	const struct execution *x = execution_of(r);

	(void)receipt;
	if (x->program->error)
		r->reply.value = x->program->error;
	/* Decided, and nothing is loaded: what the kernel would check has been. */
	else if (r->flags & AT_EXECVE_CHECK)
		r->reply.value = kernel_checks() ? 0 : -EINVAL;
	else if (install_note(r, x) != 0)
		r->reply.value = -EIO;
	else
		run(r);
}

const struct family family_exec = {.prepare = prepare, .act = act};
