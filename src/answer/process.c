/* Calls on other processes: the target must be of the tree.
 *
 * How it works.  A target that is the caller itself is the kernel's business:
 * its number, a register, cannot pass to another process while the call waits.
 * Another target is looked up; outside the tree it is refused, with a record.
 * A signal to one inside goes on as the caller's own where the kernel's signal
 * scope (Landlock) binds the tree: then even a number that meanwhile passed to
 * another process, or a group that has other members too, reaches nobody
 * outside.  Without the scope wary sends it, by a pidfd, to each member that
 * it has looked up; the receiver then sees wary's number as the sender's.
 * What sets attributes is in attribute.c. */
#include "answer/process.h"

#include "answer/families.h"
#include "answer/fetch.h"
#include "answer/hand.h"
#include "answer/member.h"
#include "base/own.h"
#include "base/text.h"
#include "base/uses.h"
#include "call/op.h"
#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

USES(getpgid, getsid, open_read, pidfd_open, pidfd_send_signal, readlinkat, rt_tgsigqueueinfo);

#ifndef PIDFD_THREAD /* 6.9 */
#define PIDFD_THREAD O_EXCL
#endif
#define FLAG_PROCESS_GROUP 4u /* PIDFD_SIGNAL_PROCESS_GROUP, 6.9 */

struct signal {
	struct process p; /* first: as process_new wants it */
	int number;
	bool has_info;
	siginfo_t info;
	pid_t all_but; /* kill(-1): not the caller's own process */
	bool everyone;
	pid_t group;
	bool is_another; /* the caller may be another user than wary by now, which is: */
	struct caller_creds creds;
	pid_t session;
};

static void process_free(void *more)
{
	struct process *p = more;

	member_close(&p->member);
	free(p);
}

struct process *process_new(struct request *r, size_t size_bytes)
{
	struct process *p = calloc(1, size_bytes);

	if (!p)
		return NULL;
	p->member.proc_fd = -1;
	r->target.more = p;
	r->target.more_free = process_free;
	return p;
}

/* What each call says to a number below 1. */
static int no_such(int op)
{
	switch (op) {
	case OP_TKILL:
	case OP_SCHED_SETSCHEDULER:
	case OP_SCHED_SETPARAM:
	case OP_SCHED_SETATTR:
		return -EINVAL;
	default:
		return -ESRCH;
	}
}

int process_one(struct request *r, struct process *p, pid_t pid)
{
	if (pid <= 0)
		return no_such(r->call->row->op);
	if (member_is_caller(r, pid)) {
		p->proceed = true;
		return 0;
	}
	return member_open(r, pid, &p->member);
}

/* ---- signals ---------------------------------------------------------- */

static bool is_scoped(const struct request *r)
{
	return r->sup->signals_scoped;
}

/* kill: one process, a group, or everyone. */
static int target_of_kill(struct request *r, struct signal *s, pid_t pid)
{
	if (pid > 0)
		return process_one(r, &s->p, pid);
	if (pid == INT32_MIN)
		return -ESRCH;
	if (is_scoped(r)) {
		s->p.proceed = true;
		return 0;
	}
	if (r->caller.tgid <= 0)
		r->caller.tgid = caller_tgid(r->call->tid);
	s->all_but = pid == -1 ? r->caller.tgid : 0;
	s->everyone = pid == -1;
	s->group = pid == -1 ? 0 : pid == 0 ? getpgid(r->call->tid) : -pid;
	return s->group < 0 || r->caller.tgid <= 0 ? -ERR_GONE : 0;
}

/* tgkill and the like: within the caller's own process the kernel compares. */
static int target_of_thread(struct request *r, struct signal *s, pid_t tgid, pid_t tid)
{
	int err;

	if (tgid <= 0 || tid <= 0)
		return -EINVAL;
	if (member_is_caller(r, tgid)) {
		s->p.proceed = true;
		return 0;
	}
	err = member_open(r, tid, &s->p.member);
	if (err != 0)
		return err;
	return caller_tgid(tid) == tgid && member_still(&s->p.member) ? 0 : -ESRCH;
}

/* The folder of a process in /proc serves as a pidfd too. */
static pid_t pid_of_folder(const struct request *r, int fd)
{
	char link[64];
	char name[64];
	struct stat st;
	unsigned long long pid;
	ssize_t n;

	snprintf(link, sizeof link, "/proc/thread-self/fd/%d", fd);
	n = readlinkat(AT_FDCWD, link, name, sizeof name - 1);
	if (n <= 0 || fstat(fd, &st) != 0 || st.st_dev != r->sup->proc_dev)
		return 0;
	name[n] = '\0';
	if (!text_starts(name, "/proc/") || text_number(name + 6, INT32_MAX, &pid) != 0)
		return 0;
	return (pid_t)pid;
}

/* Whose pidfd it is, by what the kernel says of a descriptor. */
static pid_t pid_of_pidfd(const struct request *r, int fd)
{
	char path[64];
	char text[1024];
	const char *line;
	ssize_t n;
	auto_fd info = -1;

	snprintf(path, sizeof path, "/proc/thread-self/fdinfo/%d", fd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	n = info < 0 ? -1 : read(info, text, sizeof text - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	line = strstr(text, "\nPid:");
	return line ? (pid_t)strtol(line + 5, NULL, 10) : pid_of_folder(r, fd);
}

static int target_of_pidfd(struct request *r, struct signal *s)
{
	int number = (int)(uint32_t)fetch_arg(r, ROLE_FD);
	pid_t pid;
	int err;

	if (number < -1) { /* PIDFD_SELF and its like are numbers, not files */
		s->p.proceed = true;
		return 0;
	}
	if ((fetch_flags(r) & (int)FLAG_PROCESS_GROUP) && !is_scoped(r))
		return -ERR_UNSUPPORTED;
	err = fetch_object(r, ROLE_FD);
	if (err == 0)
		err = mem_valid(&r->mem);
	if (err != 0)
		return err;
	pid = pid_of_pidfd(r, r->target.object_fd);
	if (pid == 0)
		return -EBADF;
	if (pid < 0)
		return -ESRCH;
	/* What the number refers to can change: self only where that is bound. */
	if (member_is_caller(r, pid)) {
		s->p.proceed = is_scoped(r);
		return 0;
	}
	return member_open(r, pid, &s->p.member);
}

static int fetch_info(struct request *r, struct signal *s)
{
	uint64_t at;

	if (!call_arg(r->call, ROLE_BUF, &at) || at == 0)
		return 0;
	s->has_info = true;
	return mem_read(&r->mem, (struct tracee_addr){at}, &s->info, sizeof s->info);
}

static int target_of(struct request *r, struct signal *s)
{
	pid_t pid = (pid_t)(uint32_t)fetch_arg(r, ROLE_PID);
	pid_t tgid = (pid_t)(uint32_t)fetch_arg(r, ROLE_TGID);

	switch (r->call->row->op) {
	case OP_KILL:
		return target_of_kill(r, s, pid);
	case OP_TGKILL:
	case OP_RT_TGSIGQUEUEINFO:
		return target_of_thread(r, s, tgid, pid);
	case OP_PIDFD_SEND_SIGNAL:
		return target_of_pidfd(r, s);
	default:
		return process_one(r, &s->p, pid);
	}
}

/* Who asks, where wary sends it and that may be somebody else. */
static int fetch_asker(struct request *r, struct signal *s)
{
	pid_t tgid;

	if (!r->sup->as_root || !atomic_load(&r->sup->creds_changed))
		return 0;
	s->is_another = true;
	s->session = getsid(r->call->tid);
	return caller_creds_of(r->call->tid, &s->creds, &tgid);
}

int process_prepare_signal(struct request *r)
{
	struct signal *s = (struct signal *)process_new(r, sizeof *s);
	bool self;
	int err;

	if (!s)
		return -ERR_NOMEM;
	s->number = (int)(uint32_t)fetch_arg(r, ROLE_SIGNAL);
	r->flags = (uint64_t)s->number;
	err = target_of(r, s);
	self = err == 0 && s->p.proceed && s->p.member.proc_fd < 0 &&
	       (pid_t)(uint32_t)fetch_arg(r, ROLE_PID) > 0;
	if (err == 0 && !s->p.proceed && !is_scoped(r))
		err = fetch_info(r, s);
	if (err == 0 && !s->p.proceed && !is_scoped(r))
		err = fetch_asker(r, s);
	if (err == 0)
		err = fetch_end(r, HAND_IDS);
	if (err == -ERR_OUTSIDE)
		state_call(r);
	if (err != 0)
		return fetch_result(r, err);
	if (is_scoped(r))
		s->p.proceed = true;
	if (!self)
		state_call(r);
	return 0;
}

/* The kernel asks for real and effective ids, and wary's are root's: its rule. */
static bool may_signal(const struct signal *s, pid_t pid)
{
	const struct caller_creds *c = &s->creds;
	struct caller_creds t;
	pid_t tgid;

	if (!s->is_another || (c->cap_effective & (UINT64_C(1) << CAP_KILL)))
		return true;
	if (caller_creds_of(pid, &t, &tgid) != 0)
		return false;
	return c->euid == t.suid || c->euid == t.ruid || c->ruid == t.suid || c->ruid == t.ruid ||
	       (s->number == SIGCONT && getsid(pid) == s->session);
}

static int send_by(const struct signal *s, int pidfd, unsigned flags)
{
	const siginfo_t *info = s->has_info ? &s->info : NULL;

	return syscall(SYS_pidfd_send_signal, pidfd, s->number, info, flags) == 0 ? 0 : -errno;
}

/* By number only where the kernel has no pidfd of a thread. */
static int send_to_thread(const struct signal *s, const struct member *m, pid_t tgid)
{
	auto_fd pidfd = (int)syscall(SYS_pidfd_open, m->pid, PIDFD_THREAD);

	if (!member_still(m))
		return -ESRCH;
	if (!may_signal(s, m->pid))
		return -EPERM;
	if (pidfd >= 0)
		return send_by(s, pidfd, 0);
	if (s->has_info)
		return syscall(SYS_rt_tgsigqueueinfo, tgid, m->pid, s->number, &s->info) == 0
		               ? 0
		               : -errno;
	return syscall(SYS_tgkill, tgid, m->pid, s->number) == 0 ? 0 : -errno;
}

static int send_to_process(void *ctx, const struct member *m)
{
	const struct signal *s = ctx;
	auto_fd pidfd = -1;

	if (s->everyone && m->pid == s->all_but)
		return 0;
	pidfd = (int)syscall(SYS_pidfd_open, m->pid, 0);
	if (pidfd < 0)
		return errno == EINVAL ? -ESRCH : -errno;
	if (!may_signal(s, m->pid))
		return member_still(m) ? -EPERM : -ESRCH;
	return member_still(m) ? send_by(s, pidfd, 0) : -ESRCH;
}

static long send_signal(struct request *r, struct signal *s)
{
	int n;

	switch (r->call->row->op) {
	case OP_PIDFD_SEND_SIGNAL:
		if (!may_signal(s, s->p.member.pid))
			return -EPERM;
		return send_by(s, r->target.object_fd, (unsigned)fetch_flags(r));
	case OP_TKILL:
	case OP_TGKILL:
	case OP_RT_TGSIGQUEUEINFO:
		return send_to_thread(s, &s->p.member, caller_tgid(s->p.member.pid));
	default:
		break;
	}
	if (!s->everyone && s->group == 0)
		return send_to_process(s, &s->p.member);
	n = member_each(r, s->group, send_to_process, s);
	if (n <= -ERR_BASE)
		return -err_errno(n);
	return n > 0 ? 0 : n == 0 ? -ESRCH : n;
}

void process_act_signal(struct request *r)
{
	struct signal *s = r->target.more;

	if (s->p.proceed) {
		r->reply.proceed = true;
		return;
	}
	if (hand_on(r) != 0) {
		r->reply.value = -EPERM;
		return;
	}
	r->reply.value = send_signal(r, s);
	hand_off(r);
}

/* ---- the family ------------------------------------------------------- */

static bool is_signal(const struct request *r)
{
	switch (r->call->row->op) {
	case OP_KILL:
	case OP_TKILL:
	case OP_TGKILL:
	case OP_RT_SIGQUEUEINFO:
	case OP_RT_TGSIGQUEUEINFO:
	case OP_PIDFD_SEND_SIGNAL:
		return true;
	default:
		return false;
	}
}

static int prepare(struct request *r)
{
	return is_signal(r) ? process_prepare_signal(r) : attribute_prepare(r);
}

static void act(struct request *r, const struct receipt *receipt)
{
	(void)receipt;
	if (is_signal(r))
		process_act_signal(r);
	else
		attribute_act(r);
}

const struct family family_process = {.prepare = prepare, .act = act};
