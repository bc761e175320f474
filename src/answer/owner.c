/* Who gets the signals of a file: fcntl F_SETOWN, F_SETOWN_EX, F_SETSIG; ioctl
 * FIOSETOWN, SIOCSPGRP.  The owner must be of the tree.
 *
 * The caller itself as the owner is a register: whatever file the descriptor
 * is by then, its signals go to the caller.  Any other owner is set by wary, on
 * the file that it got and with what the caller points to copied, and only for
 * a process of the tree or a group of nothing else; that it was still that
 * process is looked at afterwards.  A signal other than SIGIO is set only on a
 * file whose owner is nobody or of the tree: a file can be shared with
 * programs outside. */
#include "answer/families.h"
#include "answer/fetch.h"
#include "answer/hand.h"
#include "answer/member.h"
#include "answer/process.h"
#include "base/own.h"
#include "base/uses.h"
#include "call/op.h"
#include "supervise.h"

#include <asm/ioctls.h>
#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

USES(fcntl_owner);

struct owner {
	struct process p; /* first: as process_new wants it */
	struct f_owner_ex who;
	bool sets_signal;
	int signal;
};

/* F_SETOWN and the ioctls: a process, or a group as a negative number. */
static int from_number(struct owner *o, int number)
{
	if (number == INT32_MIN)
		return -EINVAL;
	o->who.type = number < 0 ? F_OWNER_PGRP : F_OWNER_PID;
	o->who.pid = number < 0 ? -number : number;
	return 0;
}

static int from_pointer(struct request *r, struct owner *o)
{
	struct tracee_addr at = {fetch_arg(r, ROLE_VALUE)};
	int number;
	int err;

	if (r->call->row->op == OP_FCNTL)
		return mem_read(&r->mem, at, &o->who, sizeof o->who);
	err = mem_read(&r->mem, at, &number, sizeof number);
	return err != 0 ? err : from_number(o, number);
}

static int fetch_owner(struct request *r, struct owner *o)
{
	unsigned cmd = (unsigned)fetch_arg(r, ROLE_CMD);
	int value = (int)(uint32_t)fetch_arg(r, ROLE_VALUE);

	if (r->call->row->op == OP_IOCTL)
		return cmd == FIOSETOWN || cmd == SIOCSPGRP ? from_pointer(r, o) : -ERR_UNSUPPORTED;
	switch (cmd) {
	case F_SETOWN:
		return from_number(o, value);
	case F_SETOWN_EX:
		return from_pointer(r, o);
	case F_SETSIG:
		o->sets_signal = true;
		o->signal = value;
		return 0;
	default:
		return -ERR_UNSUPPORTED;
	}
}

/* Whether a process, thread or group is of the tree; pins a process. */
static int check(struct request *r, struct owner *o, const struct f_owner_ex *who)
{
	if (who->pid == 0)
		return 0; /* nobody */
	if (who->pid < 0)
		return -EINVAL;
	switch (who->type) {
	case F_OWNER_TID:
	case F_OWNER_PID:
		return member_is_caller(r, who->pid) ? 0 : member_open(r, who->pid, &o->p.member);
	case F_OWNER_PGRP:
		return member_group_is_inside(r, who->pid) ? 0 : -ERR_OUTSIDE;
	default:
		return -EINVAL;
	}
}

static bool is_socket(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
}

static int check_present_owner(struct request *r, struct owner *o)
{
	struct f_owner_ex now = {0};

	if (fcntl(r->target.object_fd, F_GETOWN_EX, &now) != 0)
		return -errno;
	return check(r, o, &now);
}

static int prepare(struct request *r)
{
	struct owner *o = (struct owner *)process_new(r, sizeof *o);
	int err;

	if (!o)
		return -ERR_NOMEM;
	r->flags = fetch_arg(r, ROLE_CMD);
	err = fetch_object(r, ROLE_FD);
	if (err == 0 && r->call->row->op == OP_IOCTL && !is_socket(r->target.object_fd))
		err = -ENOTTY;
	if (err == 0)
		err = fetch_owner(r, o);
	if (err == 0)
		err = fetch_end(r, HAND_IDS);
	if (err == 0)
		err = o->sets_signal ? check_present_owner(r, o) : check(r, o, &o->who);
	if (err == 0 || err == -ERR_OUTSIDE)
		state_call(r);
	return fetch_result(r, err);
}

static long set_owner(struct request *r, struct owner *o)
{
	static const struct f_owner_ex nobody = {.type = F_OWNER_PID};
	int fd = r->target.object_fd;

	if (fcntl(fd, F_SETOWN_EX, &o->who) != 0)
		return -errno;
	if (o->p.member.proc_fd >= 0 && !member_still(&o->p.member)) {
		(void)fcntl(fd, F_SETOWN_EX, &nobody);
		return -ESRCH;
	}
	return 0;
}

static void act(struct request *r, const struct receipt *receipt)
{
	struct owner *o = r->target.more;
	long n;

	(void)receipt;
	if (hand_on(r) != 0) {
		r->reply.value = -EPERM;
		return;
	}
	if (o->sets_signal)
		n = fcntl(r->target.object_fd, F_SETSIG, o->signal) == 0 ? 0 : -errno;
	else
		n = set_owner(r, o);
	hand_off(r);
	r->reply.value = n;
}

const struct family family_fcntl = {.prepare = prepare, .act = act};
const struct family family_ioctl = {.prepare = prepare, .act = act};
