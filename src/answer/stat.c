/* Calls that only tell: stat, access, readlink, statfs.  Trapped only while
 * some rule speaks of stat; answered from the judged object. */
#include "answer/families.h"
#include "answer/fetch.h"
#include "answer/hand.h"
#include "base/uses.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

USES(faccessat2, fstatfs, readlinkat, statx);

#define SYNC_TYPE (AT_STATX_FORCE_SYNC | AT_STATX_DONT_SYNC)
#define STAT_FLAGS (AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | SYNC_TYPE)
#define FILE_GETATTR 468
#define FILE_ATTR_MAX_BYTES 4096u

/* One name, resolved and stated as stat. */
static int prepare_name(struct request *r, unsigned flags)
{
	struct place *p = &r->target.place[0];
	int err = fetch_one(r, flags, HAND_IDS);

	if (err != 0)
		return fetch_result(r, err);
	(void)state(r, CLASS_STAT, p);
	return fetch_result(r, state_links(r, CLASS_STAT, p));
}

static unsigned name_flags(int at)
{
	return (at & AT_SYMLINK_NOFOLLOW ? 0 : PLACE_FOLLOW) |
	       (at & AT_EMPTY_PATH ? PLACE_EMPTY : 0);
}

static void reply_bytes(struct request *r, uint64_t to, const void *bytes, size_t len_bytes,
                        long value)
{
	struct tracee_addr a = {to};

	r->reply.value = mem_write(&r->mem, a, bytes, len_bytes) != 0 ? -EFAULT : value;
}

/* ---- stat, lstat, newfstatat, statx, file_getattr --------------------- */

static int check_stat(const struct request *r, int at)
{
	unsigned mask = (unsigned)fetch_arg(r, ROLE_VALUE);

	switch (r->call->row->op) {
	case OP_STATAT:
		return at & ~STAT_FLAGS ? -EINVAL : 0;
	case OP_STATX:
		if ((mask & STATX__RESERVED) || (at & SYNC_TYPE) == SYNC_TYPE)
			return -EINVAL;
		return at & ~STAT_FLAGS ? -EINVAL : 0;
	case OP_FILE_GETATTR:
		if (fetch_arg(r, ROLE_SIZE) > FILE_ATTR_MAX_BYTES)
			return -E2BIG;
		return at & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) ? -EINVAL : 0;
	default:
		return 0;
	}
}

static int prepare_stat(struct request *r)
{
	int at = r->call->row->op == OP_LSTAT ? AT_SYMLINK_NOFOLLOW : fetch_flags(r);
	int err = check_stat(r, at);

	r->flags = (uint32_t)at;
	return err != 0 ? fetch_result(r, err) : prepare_name(r, name_flags(at));
}

static void act_statx(struct request *r, const struct place *p)
{
	struct statx sx = {0};
	int flags = AT_EMPTY_PATH | ((int)r->flags & (AT_NO_AUTOMOUNT | SYNC_TYPE));

	if (syscall(SYS_statx, p->fd, "", flags, (unsigned)fetch_arg(r, ROLE_VALUE), &sx) != 0)
		r->reply.value = -errno;
	else
		reply_bytes(r, fetch_arg(r, ROLE_BUF), &sx, sizeof sx, 0);
}

static void act_getattr(struct request *r, const struct place *p)
{
	size_t size = fetch_arg(r, ROLE_SIZE);
	unsigned char bytes[FILE_ATTR_MAX_BYTES] = {0};

	if (syscall(FILE_GETATTR, p->fd, "", bytes, size, AT_EMPTY_PATH) != 0)
		r->reply.value = -errno;
	else
		reply_bytes(r, fetch_arg(r, ROLE_HOW), bytes, size, 0);
}

static void act_stat(struct request *r, const struct receipt *receipt)
{
	const struct place *p = &r->target.place[0];
	struct stat st;

	(void)receipt;
	r->reply.value = p->error;
	if (p->error != 0)
		return;
	if (r->call->row->op == OP_STATX)
		act_statx(r, p);
	else if (r->call->row->op == OP_FILE_GETATTR)
		act_getattr(r, p);
	else if (fstat(p->fd, &st) != 0)
		r->reply.value = -errno;
	else
		reply_bytes(r, fetch_arg(r, ROLE_BUF), &st, sizeof st, 0);
}

/* ---- access ----------------------------------------------------------- */

static int prepare_access(struct request *r)
{
	int at = fetch_flags(r);

	if (fetch_arg(r, ROLE_MODE) & ~(uint64_t)(R_OK | W_OK | X_OK))
		return fetch_result(r, -EINVAL);
	if (at & ~(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return fetch_result(r, -EINVAL);
	r->flags = (uint32_t)at;
	return prepare_name(r, name_flags(at));
}

static void act_access(struct request *r, const struct receipt *receipt)
{
	const struct place *p = &r->target.place[0];
	int mode = (int)fetch_arg(r, ROLE_MODE);
	int err;

	(void)receipt;
	r->reply.value = p->error;
	if (p->error != 0)
		return;
	/* access(2) asks for the real ids: the hand wears those, as its own. */
	err = r->flags & AT_EACCESS ? hand_on(r) : hand_on_real(r);
	if (err != 0) {
		r->reply.value = -EIO;
		return;
	}
	if (syscall(SYS_faccessat2, p->fd, "", mode, AT_EMPTY_PATH | AT_EACCESS) != 0)
		r->reply.value = -errno;
	hand_off(r);
}

/* ---- readlink --------------------------------------------------------- */

static int prepare_readlink(struct request *r)
{
	if ((int)fetch_arg(r, ROLE_SIZE) <= 0)
		return fetch_result(r, -EINVAL);
	return prepare_name(r, PLACE_EMPTY);
}

/* The link's text, as the caller would read it: /proc/self is itself. */
static ssize_t link_text(struct request *r, const struct place *p, char *out, size_t cap_bytes)
{
	ssize_t n;

	if (strcmp(p->canon, "/proc/self") == 0)
		return snprintf(out, cap_bytes, "%d", (int)hand_tgid(r));
	if (strcmp(p->canon, "/proc/thread-self") == 0)
		return snprintf(out, cap_bytes, "%d/task/%d", (int)hand_tgid(r), (int)r->call->tid);
	if (hand_on(r) != 0)
		return -EIO;
	n = readlinkat(p->fd, "", out, cap_bytes);
	n = n < 0 ? -errno : n;
	hand_off(r);
	/* An empty name that is no link does not exist; a name that is none is
	 * an argument that is wrong. */
	if (n == -ENOENT && p->text[0])
		return -EINVAL;
	return n;
}

static void act_readlink(struct request *r, const struct receipt *receipt)
{
	const struct place *p = &r->target.place[0];
	int size = (int)fetch_arg(r, ROLE_SIZE);
	char text[PATH_MAX];
	ssize_t n;

	(void)receipt;
	r->reply.value = p->error;
	if (p->error != 0)
		return;
	n = link_text(r, p, text, sizeof text);
	if (n > size)
		n = size;
	if (n < 0)
		r->reply.value = n;
	else
		reply_bytes(r, fetch_arg(r, ROLE_BUF), text, (size_t)n, n);
}

/* ---- statfs ----------------------------------------------------------- */

static int prepare_statfs(struct request *r)
{
	return prepare_name(r, PLACE_FOLLOW);
}

static void act_statfs(struct request *r, const struct receipt *receipt)
{
	const struct place *p = &r->target.place[0];
	struct statfs fs;

	(void)receipt;
	r->reply.value = p->error;
	if (p->error != 0)
		return;
	if (fstatfs(p->fd, &fs) != 0)
		r->reply.value = -errno;
	else
		reply_bytes(r, fetch_arg(r, ROLE_BUF), &fs, sizeof fs, 0);
}

const struct family family_stat = {.prepare = prepare_stat, .act = act_stat};
const struct family family_access = {.prepare = prepare_access, .act = act_access};
const struct family family_readlink = {.prepare = prepare_readlink, .act = act_readlink};
const struct family family_statfs = {.prepare = prepare_statfs, .act = act_statfs};
