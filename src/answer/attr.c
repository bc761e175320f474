/* chmod, chown, truncate, utimes and their forms, by name and by descriptor. */
#include "answer/families.h"
#include "answer/fetch.h"
#include "answer/hand.h"
#include "answer/lost.h"
#include "answer/times.h"
#include "answer/wait.h"
#include "base/own.h"
#include "base/uses.h"
#include "tracee/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

USES(fchmod, fchmodat, fchown, fchownat, truncate, utimensat);

/* How it works: by name the object is an O_PATH descriptor, and the effect is
 * on wary's own name of it or on it with AT_EMPTY_PATH.  By descriptor it is
 * the caller's open file itself, and the effect the call by descriptor: so
 * O_PATH descriptors get their EBADF, and no other check is lost. */

/* ---- fetch ------------------------------------------------------------ */

static bool is_by_descriptor(const struct request *r)
{
	uint64_t path;

	if (!call_arg(r->call, ROLE_PATH, &path))
		return true;
	/* A null path means the descriptor; without one it is a bad address. */
	return path == 0 &&
	       (r->call->row->op == OP_UTIMENSAT || r->call->row->op == OP_FUTIMESAT) &&
	       (int)(uint32_t)fetch_arg(r, ROLE_DIRFD) != AT_FDCWD;
}

static int check_flags(const struct request *r, bool by_descriptor)
{
	int flags = fetch_flags(r);

	if (by_descriptor)
		return flags ? -EINVAL : 0;
	return flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) ? -EINVAL : 0;
}

/* Returns 1 where there is nothing to do. */
static int fetch_times(struct request *r)
{
	struct times *t = NULL;
	int err;

	if (r->call->row->op != OP_UTIMENSAT && r->call->row->op != OP_UTIMES &&
	    r->call->row->op != OP_FUTIMESAT && r->call->row->op != OP_UTIME)
		return 0;
	t = calloc(1, sizeof *t);
	if (!t)
		return -ERR_NOMEM;
	r->target.more = t;
	r->target.more_free = free;
	err = times_fetch(r, t);
	if (err != 0)
		return err;
	/* Neither time is to be changed: the kernel does not even look. */
	r->reply.value = 0;
	return t->nothing ? 1 : 0;
}

static int check_length(struct request *r)
{
	if (r->call->row->op != OP_TRUNCATE)
		return 0;
	r->flags = fetch_arg(r, ROLE_LENGTH); /* for the record */
	return (int64_t)r->flags < 0 ? -EINVAL : 0;
}

static int fetch_by_name(struct request *r)
{
	bool follow = r->call->row->op != OP_LCHOWN && !(fetch_flags(r) & AT_SYMLINK_NOFOLLOW);
	unsigned empty = fetch_flags(r) & AT_EMPTY_PATH ? PLACE_EMPTY : 0;

	return fetch_one(r, empty | (follow ? PLACE_FOLLOW : 0), HAND_IDS);
}

static int fetch_by_descriptor(struct request *r)
{
	uint64_t fd;
	int err = fetch_object(r, call_arg(r->call, ROLE_FD, &fd) ? ROLE_FD : ROLE_DIRFD);

	if (err == 0)
		err = fetch_end(r, HAND_IDS);
	return err != 0 ? err : fetch_place_of_object(r);
}

static int prepare(struct request *r)
{
	struct place *p = &r->target.place[0];
	bool by_descriptor = is_by_descriptor(r);
	enum policy_class class = r->call->row->op == OP_TRUNCATE ? CLASS_WRITE : CLASS_ATTR;
	int err = fetch_times(r);

	if (err == 0)
		err = check_flags(r, by_descriptor);
	if (err == 0)
		err = check_length(r);
	if (err == 0)
		err = by_descriptor ? fetch_by_descriptor(r) : fetch_by_name(r);
	if (err != 0)
		return fetch_result(r, err);
	if (p->error != 0)
		return fetch_result(r, state_failed(r, p));
	/* A pipe or memfd of the caller's own has no name, and nobody else's rule. */
	if (by_descriptor && p->unnamed)
		class = CLASS_STAT;
	(void)state(r, class, p);
	if (r->call->row->op == OP_FILE_SETATTR)
		return -ERR_PERM; /* as the ioctl that does the same is refused */
	return fetch_result(r, state_links(r, class, p));
}

/* ---- effects ---------------------------------------------------------- */

static long change_mode(struct request *r, const struct place *p)
{
	mode_t mode = (mode_t)fetch_arg(r, ROLE_MODE) & 0xffff;
	char path[32];

	if (r->target.object_fd >= 0)
		return fchmod(r->target.object_fd, mode);
	hand_self_path(p->fd, path);
	return syscall(SYS_fchmodat, AT_FDCWD, path, mode);
}

static long change_owner(struct request *r, const struct place *p)
{
	uid_t uid = (uid_t)fetch_arg(r, ROLE_UID);
	gid_t gid = (gid_t)fetch_arg(r, ROLE_GID);

	if (r->target.object_fd >= 0)
		return fchown(r->target.object_fd, uid, gid);
	return fchownat(p->fd, "", uid, gid, AT_EMPTY_PATH);
}

static long change_times(struct request *r, const struct place *p)
{
	const struct times *t = r->target.more;
	const struct timespec *ts = t->now ? NULL : t->ts;

	if (r->target.object_fd >= 0)
		return syscall(SYS_utimensat, r->target.object_fd, NULL, ts, 0);
	return syscall(SYS_utimensat, p->fd, "", ts, AT_EMPTY_PATH);
}

/* The caller's limit on file sizes, not the worker's; only growth counts. */
static bool is_over_limit(struct request *r, const struct place *p, uint64_t len)
{
	uint64_t limit;

	if (!S_ISREG(p->st.st_mode) || (uint64_t)p->st.st_size >= len)
		return false;
	return caller_fsize_limit(r->call->tid, &limit) != 0 || len > limit;
}

/* Somebody's lease may have to be given up first. */
static long change_length(struct request *r, const struct place *p)
{
	uint64_t len = fetch_arg(r, ROLE_LENGTH);
	char path[32];
	long n;

	hand_self_path(p->fd, path);
	if (wait_begin(r) != 0)
		return -EAGAIN;
	do {
		lost_look(&r->reply, p->fd);
		n = truncate(path, (off_t)len);
	} while (n != 0 && wait_again(r, errno));
	return wait_end(r, n != 0 ? -errno : 0);
}

static long change(struct request *r, const struct place *p)
{
	long n;

	switch (r->call->row->op) {
	case OP_CHMOD:
		n = change_mode(r, p);
		break;
	case OP_CHOWN:
	case OP_LCHOWN:
		n = change_owner(r, p);
		break;
	case OP_TRUNCATE:
		return change_length(r, p);
	default:
		n = change_times(r, p);
		break;
	}
	return n != 0 ? -errno : 0;
}

static void act(struct request *r, const struct receipt *receipt)
{
	const struct place *p = &r->target.place[0];

	(void)receipt;
	r->reply.value = p->error;
	if (p->error != 0)
		return;
	if (r->call->row->op == OP_TRUNCATE && is_over_limit(r, p, fetch_arg(r, ROLE_LENGTH))) {
		r->reply.value = -EFBIG;
		r->reply.signal = SIGXFSZ;
		(void)hand_tgid(r); /* whom it is sent to */
		return;
	}
	if (!hand_begin(r, 0))
		return;
	r->reply.value = change(r, p);
	hand_off(r);
	fd_drop(&r->target.object_fd);
}

const struct family family_attr = {.prepare = prepare, .act = act};
