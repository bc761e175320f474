/* Limits, priorities and scheduling of another process of the tree: made by
 * wary, by number, with what the caller points to copied once; the number is
 * then looked at again, and a result that may be another process' is thrown
 * away.  (Nothing but the number names a process to these calls: one that is
 * born with it within these microseconds could be meant, as without wary.) */
#include "answer/process.h"

#include "answer/fetch.h"
#include "answer/hand.h"
#include "base/uses.h"
#include "call/op.h"
#include "supervise.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

USES(getpgid, ioprio_set, prlimit64, sched_setaffinity, sched_setattr, sched_setparam,
     sched_setscheduler, setpriority);

/* Masks of 32768 processors; a page, the kernel's bound for sched_attr. */
#define ARGUMENT_MAX 4096
#define IOPRIO_WHO_PROCESS 1
#define IOPRIO_WHO_PGRP 2

struct attribute {
	struct process p; /* first: as process_new wants it */
	/* What the caller points to, copied. */
	_Alignas(8) unsigned char bytes[ARGUMENT_MAX];
	size_t len_bytes;
	bool given;   /* false: a null pointer */
	uint64_t old; /* prlimit64: where the old limits go; 0: nowhere */
	pid_t group;  /* it is about; 0: a process */
};

/* ---- who is meant ----------------------------------------------------- */

/* setpriority and ioprio_set name a process, a group or a user. */
static int target_of_which(struct request *r, struct attribute *a, bool process, bool group)
{
	pid_t who = (pid_t)(uint32_t)fetch_arg(r, ROLE_PID);

	if (process)
		return process_one(r, &a->p, who);
	if (who < 0)
		return -ESRCH;
	if (!group)
		return -ERR_OUTSIDE; /* everything that the user runs */
	if (who == 0)
		who = getpgid(r->call->tid);
	a->group = who;
	return who > 0 && member_group_is_inside(r, who) ? 0 : -ERR_OUTSIDE;
}

static int target_of(struct request *r, struct attribute *a)
{
	int which = (int)(uint32_t)fetch_arg(r, ROLE_CMD);

	switch (r->call->row->op) {
	case OP_SETPRIORITY:
		if (which < PRIO_PROCESS || which > PRIO_USER)
			return -EINVAL;
		return target_of_which(r, a, which == PRIO_PROCESS, which == PRIO_PGRP);
	case OP_IOPRIO_SET:
		return target_of_which(r, a, which == IOPRIO_WHO_PROCESS, which == IOPRIO_WHO_PGRP);
	case OP_MIGRATE_PAGES:
	case OP_MOVE_PAGES:
		/* They look into another process' memory. */
		if (!member_is_caller(r, (pid_t)(uint32_t)fetch_arg(r, ROLE_PID)))
			return -ERR_OUTSIDE;
		a->p.proceed = true;
		return 0;
	default:
		return process_one(r, &a->p, (pid_t)(uint32_t)fetch_arg(r, ROLE_PID));
	}
}

/* ---- whether the caller may ------------------------------------------- */

/* A caller that root's tree let become another user.  A worker wears its ids for
 * files; these calls ask for the real and the effective ones, and wary's are
 * root's. So they are compared here, by the kernel's own rules. */
struct asking {
	int op;
	struct caller_creds creds;
	bool refused;
};

static bool owns(int op, const struct caller_creds *c, const struct caller_creds *t)
{
	switch (op) {
	case OP_PRLIMIT64:
		return c->ruid == t->ruid && c->ruid == t->euid && c->ruid == t->suid &&
		       c->rgid == t->rgid && c->rgid == t->egid && c->rgid == t->sgid;
	case OP_IOPRIO_SET:
		return t->ruid == c->euid || t->ruid == c->ruid;
	default:
		return c->euid == t->euid || c->euid == t->ruid;
	}
}

static int ask_one(void *ctx, const struct member *m)
{
	struct asking *a = ctx;
	struct caller_creds target;
	pid_t tgid;

	if (caller_creds_of(m->pid, &target, &tgid) != 0 || !member_still(m))
		return -ESRCH;
	if (owns(a->op, &a->creds, &target))
		return 0;
	a->refused = true;
	return -EPERM;
}

static int may(struct request *r, const struct attribute *a)
{
	int op = r->call->row->op;
	int cap = op == OP_PRLIMIT64 ? CAP_SYS_RESOURCE : CAP_SYS_NICE;
	struct asking asking = {.op = op};
	pid_t tgid;
	int err;

	if (!r->sup->as_root || !atomic_load(&r->sup->creds_changed))
		return 0;
	err = caller_creds_of(r->call->tid, &asking.creds, &tgid);
	if (err != 0 || (asking.creds.cap_effective & (UINT64_C(1) << cap)))
		return err;
	err = a->group > 0 ? member_each(r, a->group, ask_one, &asking)
	                   : ask_one(&asking, &a->p.member);
	return asking.refused ? -EPERM : err < 0 ? err : 0;
}

/* ---- what is set ------------------------------------------------------ */

/* Bytes that an argument points to, as many as the call takes. */
static int size_of(struct request *r, size_t *len_bytes)
{
	uint32_t first;
	int err;

	switch (r->call->row->op) {
	case OP_PRLIMIT64:
		*len_bytes = sizeof(struct rlimit64);
		return 0;
	case OP_SCHED_SETSCHEDULER:
	case OP_SCHED_SETPARAM:
		*len_bytes = sizeof(struct sched_param);
		return 0;
	case OP_SCHED_SETAFFINITY:
		*len_bytes = (uint32_t)fetch_arg(r, ROLE_SIZE);
		if (*len_bytes > ARGUMENT_MAX)
			*len_bytes = ARGUMENT_MAX;
		return 0;
	case OP_SCHED_SETATTR: /* it begins with its own size; 0: the first one */
		err = fetch_bytes(r, ROLE_BUF, &first, sizeof first);
		*len_bytes = first ? first : 48;
		return err != 0 ? err : *len_bytes < 48 || *len_bytes > ARGUMENT_MAX ? -E2BIG : 0;
	default:
		*len_bytes = 0;
		return 0;
	}
}

static int fetch_argument(struct request *r, struct attribute *a)
{
	int err;

	a->given = fetch_arg(r, ROLE_BUF) != 0;
	if (!a->given)
		return 0;
	err = size_of(r, &a->len_bytes);
	if (err == 0 && a->len_bytes > 0)
		err = fetch_bytes(r, ROLE_BUF, a->bytes, a->len_bytes);
	if (r->call->row->op == OP_PRLIMIT64)
		a->old = r->call->args[3];
	return err;
}

int attribute_prepare(struct request *r)
{
	struct attribute *a = (struct attribute *)process_new(r, sizeof *a);
	int err;

	if (!a)
		return -ERR_NOMEM;
	if (r->call->row->op == OP_PRLIMIT64)
		a->old = r->call->args[3];
	err = target_of(r, a);
	if (err == 0 && !a->p.proceed)
		err = fetch_argument(r, a);
	if (err == 0 && !a->p.proceed)
		err = may(r, a);
	if (err == 0)
		err = fetch_end(r, HAND_IDS);
	/* A core dump is a file that nobody decided about. */
	if (err == 0 && !a->p.proceed && r->call->row->op == OP_PRLIMIT64 &&
	    (int)(uint32_t)fetch_arg(r, ROLE_CMD) == RLIMIT_CORE && a->given)
		err = -ERR_PERM;
	if (err == -ERR_OUTSIDE || err == -ERR_PERM || (err == 0 && !a->p.proceed))
		state_call(r);
	return fetch_result(r, err);
}

/* ---- effect ----------------------------------------------------------- */

static long set(struct request *r, struct attribute *a, struct rlimit64 *old)
{
	const uint64_t *args = r->call->args;
	/* Group 0 is the caller's; to the kernel it would be wary's own here. */
	pid_t pid = a->group > 0 ? a->group : (pid_t)(uint32_t)fetch_arg(r, ROLE_PID);
	void *given = a->given ? a->bytes : NULL;
	int which = (int)(uint32_t)fetch_arg(r, ROLE_CMD);

	switch (r->call->row->op) {
	case OP_PRLIMIT64:
		return syscall(SYS_prlimit64, pid, which, given, a->old ? old : NULL);
	case OP_SETPRIORITY:
		return syscall(SYS_setpriority, which, pid, (int)(uint32_t)args[2]);
	case OP_IOPRIO_SET:
		return syscall(SYS_ioprio_set, which, pid, (int)(uint32_t)args[2]);
	case OP_SCHED_SETAFFINITY:
		return syscall(SYS_sched_setaffinity, pid, a->len_bytes, given);
	case OP_SCHED_SETSCHEDULER:
		return syscall(SYS_sched_setscheduler, pid, which, given);
	case OP_SCHED_SETPARAM:
		return syscall(SYS_sched_setparam, pid, given);
	case OP_SCHED_SETATTR:
		return syscall(SYS_sched_setattr, pid, given, (unsigned)fetch_flags(r));
	default:
		errno = EPERM;
		return -1;
	}
}

void attribute_act(struct request *r)
{
	struct attribute *a = r->target.more;
	struct rlimit64 old;
	long n;

	/* Continued: its own number, a register, names the caller's own pages. */
	if (a->p.proceed) {
		r->reply.proceed = true;
		return;
	}
	if (hand_on(r) != 0) {
		r->reply.value = -EPERM;
		return;
	}
	n = set(r, a, &old);
	n = n < 0 ? -errno : n;
	hand_off(r);
	if (n >= 0 && a->p.member.proc_fd >= 0 && !member_still(&a->p.member))
		n = -ESRCH;
	if (n >= 0 && a->old &&
	    mem_write(&r->mem, (struct tracee_addr){a->old}, &old, sizeof old) != 0)
		n = -EFAULT;
	r->reply.value = n;
}
