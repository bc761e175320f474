#include "answer/open.h"

#include "answer/hand.h"
#include "answer/open_flags.h"
#include "answer/wait.h"
#include "base/own.h"
#include "base/uses.h"
#include "call/op.h"
#include "supervise.h"
#include "tracee/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

USES(fcntl_dup, fcntl_flags, fcntl_seals, fstatfs, open_any, openat2, statx);

/* How it works:
 * 1. Every open is made with O_CLOEXEC and O_NOCTTY: it is wary's process that
 *    opens, and neither its programs nor its terminal are the caller's.
 * 2. Regular files and folders are opened with O_NONBLOCK, so that a lease held
 *    by the tree cannot hold a worker; if it would block, it blocks as a call
 *    that may be cancelled.
 * 3. O_TRUNC of a regular file is left for after the caller has its descriptor.
 * 4. What was opened is compared with what was judged, unless it is the very
 *    object, opened again by wary's own descriptor. */

#define OWN (O_CLOEXEC | O_NOCTTY)
/* Where the kernel finds a device whose terminal is the caller's own. */
#define TTY_MAJOR_CONSOLE 4
#define TTY_MAJOR_PTS 136
#define TTY_MAJOR_PTS_END 144

static bool is_file_or_folder(const struct stat *st)
{
	return S_ISREG(st->st_mode) || S_ISDIR(st->st_mode);
}

/* Flags for opening again what exists: not those about the name. */
static int reopen_flags(const struct request *r, const struct stat *st)
{
	uint64_t flags = r->flags & ~(uint64_t)(O_CREAT | O_NOFOLLOW);

	if (r->flags & O_CREAT)
		flags &= ~(uint64_t)O_EXCL;
	if (S_ISREG(st->st_mode))
		flags &= ~(uint64_t)O_TRUNC;
	return (int)flags | OWN;
}

/* A descriptor was opened with O_NONBLOCK added: as the caller asked. */
static int settle_flags(int fd, uint64_t flags)
{
	if (flags & O_NONBLOCK)
		return 0;
	return fcntl(fd, F_SETFL, (int)(flags & ~(uint64_t)O_NONBLOCK)) == 0 ? 0 : -errno;
}

/* An open that may wait: for the other end of a FIFO, the end of a lease, a
 * line's carrier.  @folder: AT_FDCWD for wary's own name of the object. */
static int open_waiting(struct request *r, int folder, const char *name, int flags)
{
	int fd;

	if (wait_begin(r) != 0)
		return -EAGAIN;
	do
		fd = openat(folder, name, flags | O_CLOEXEC);
	while (fd < 0 && wait_again(r, errno));
	return (int)wait_end(r, fd < 0 ? -errno : fd);
}

static int open_file(struct request *r, const char *path, const struct stat *st)
{
	int flags = reopen_flags(r, st);
	int fd = open(path, flags | O_NONBLOCK);
	int err;

	if (fd < 0 && errno == EWOULDBLOCK && !(flags & O_NONBLOCK))
		return open_waiting(r, AT_FDCWD, path, flags);
	if (fd < 0)
		return -errno;
	err = settle_flags(fd, r->flags);
	if (err == 0)
		return fd;
	close(fd);
	return err;
}

/* O_NOFOLLOW can be seen in the open file's flags, and cannot be used on wary's
 * own name of the object.  A folder is opened from itself, which needs the right
 * to search it: where that is missing the flag is not seen. */
static int open_folder(const struct request *r, const struct place *p)
{
	int fd = openat(p->fd, ".", reopen_flags(r, &p->st) | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* A file is opened by folder and name, then compared. */
static int open_by_name(struct request *r, const struct place *p)
{
	int flags = reopen_flags(r, &p->st) | O_NOFOLLOW;
	int fd = openat(p->parent_fd, p->name, flags | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	fd = fd < 0 ? -errno : fd;
	if (fd == -EWOULDBLOCK && !(flags & O_NONBLOCK))
		fd = open_waiting(r, p->parent_fd, p->name, flags);
	if (fd == -ENOENT || fd == -ELOOP)
		r->reply.again = true;
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) != 0 || st.st_dev != p->st.st_dev || st.st_ino != p->st.st_ino) {
		r->reply.again = true;
		close(fd);
		return -EAGAIN;
	}
	if (settle_flags(fd, r->flags) != 0) {
		close(fd);
		return -EIO;
	}
	return fd;
}

/* ---- devices ----------------------------------------------------------- */

static bool is_own_terminal(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(5, 0);
}

static int terminal_path(dev_t tty, char *out, size_t cap_bytes)
{
	unsigned kind = major(tty);

	if (kind >= TTY_MAJOR_PTS && kind < TTY_MAJOR_PTS_END)
		snprintf(out, cap_bytes, "/dev/pts/%u", minor(tty) + (kind - TTY_MAJOR_PTS) * 256);
	else if (kind == TTY_MAJOR_CONSOLE && minor(tty) < 64)
		snprintf(out, cap_bytes, "/dev/tty%u", minor(tty));
	else if (kind == TTY_MAJOR_CONSOLE)
		snprintf(out, cap_bytes, "/dev/ttyS%u", minor(tty) - 64);
	else
		return -ENXIO;
	return 0;
}

/* /dev/tty is the caller's terminal, not the worker's. */
static int open_terminal(struct request *r, const struct stat *st)
{
	dev_t tty = caller_tty(r->call->tid);
	int flags = reopen_flags(r, st);
	char path[64];
	auto_fd fd = -1;
	struct stat there;
	int err;

	if (tty == 0)
		return -ENXIO;
	if (tty == caller_tty(r->sup->wary_pid)) {
		fd = open("/dev/tty", flags);
		return fd < 0 ? -errno : fd_take(&fd);
	}
	err = terminal_path(tty, path, sizeof path);
	if (err != 0)
		return err;
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &there) != 0)
		return -ENXIO;
	if (!S_ISCHR(there.st_mode) || there.st_rdev != tty)
		return -ENXIO;
	hand_self_path(fd, path);
	err = open(path, flags);
	return err < 0 ? -errno : err;
}

/* Devices that never wait: memory, pseudo-terminals and their like. */
static bool may_wait(const struct stat *st)
{
	unsigned kind = major(st->st_rdev);

	if (S_ISFIFO(st->st_mode))
		return true;
	if (!S_ISCHR(st->st_mode) && !S_ISBLK(st->st_mode))
		return false;
	return !(kind == 1 || kind == 5 || (kind >= TTY_MAJOR_PTS && kind < TTY_MAJOR_PTS_END));
}

/* ---- the ways --------------------------------------------------------- */

static int open_existing(struct request *r, const struct place *p)
{
	char path[32];
	int flags = reopen_flags(r, &p->st);
	int fd;

	if (is_own_terminal(&p->st))
		return open_terminal(r, &p->st);
	if ((r->flags & O_NOFOLLOW) && S_ISDIR(p->st.st_mode)) {
		fd = open_folder(r, p);
		if (fd != -EACCES)
			return fd;
	}
	if ((r->flags & O_NOFOLLOW) && p->parent_fd >= 0 && S_ISREG(p->st.st_mode))
		return open_by_name(r, p);
	hand_self_path(p->fd, path);
	if (is_file_or_folder(&p->st))
		return open_file(r, path, &p->st);
	if (may_wait(&p->st) && !(flags & O_NONBLOCK) &&
	    !(S_ISFIFO(p->st.st_mode) && (flags & O_ACCMODE) == O_RDWR))
		return open_waiting(r, AT_FDCWD, path, flags);
	fd = open(path, flags);
	return fd < 0 ? -errno : fd;
}

static int open_created(struct request *r, const struct place *p)
{
	/* O_EXCL: a name that has appeared since was not judged; and no link is
	 * followed (O_NOFOLLOW would show in the open file's flags). */
	int flags = (int)(r->flags & ~(uint64_t)O_TRUNC) | O_EXCL | OWN;
	int fd = openat(p->parent_fd, p->name, flags, r->mode);

	if (fd >= 0) {
		r->reply.undo = true;
		return fd;
	}
	if (errno == EEXIST && !(r->flags & O_EXCL))
		r->reply.again = true;
	return -errno;
}

static int open_unnamed(struct request *r, const struct place *p)
{
	int fd = openat(p->fd, ".", (int)r->flags | OWN, r->mode);

	return fd < 0 ? -errno : fd;
}

/* Whether this is another name for procfs, which only the full way can judge. */
static bool is_elsewhere(int fd, const struct stat *st)
{
	struct statfs fs;

	return major(st->st_dev) == 0 && (fstatfs(fd, &fs) != 0 || fs.f_type == PROC_SUPER_MAGIC);
}

/* The name that was judged by its text, if no link is met on its way. */
static int open_direct(struct request *r, const struct place *p)
{
	struct open_how how = {
		.flags = (r->flags | OWN | O_NONBLOCK),
		.resolve = RESOLVE_NO_SYMLINKS,
	};
	int base = p->base_fd >= 0 ? p->base_fd : AT_FDCWD;
	int fd = (int)syscall(SYS_openat2, base, p->text, &how, sizeof how);
	struct stat st;

	if (fd < 0) {
		int err = -errno;

		if (err == -ELOOP)
			hand_note_linked(r, p->canon);
		r->reply.again = err == -ELOOP || err == -EWOULDBLOCK || err == -ENXIO;
		return err;
	}
	if (p->error != 0 || fstat(fd, &st) != 0 || st.st_dev != p->st.st_dev ||
	    st.st_ino != p->st.st_ino || !is_file_or_folder(&st) || is_elsewhere(fd, &st) ||
	    settle_flags(fd, r->flags) != 0) {
		r->reply.again = true;
		close(fd);
		return -EAGAIN;
	}
	return fd;
}

/* What would make the later truncation fail must fail now. */
static int check_truncate(int fd)
{
	struct statx sx;
	int seals = fcntl(fd, F_GET_SEALS);

	if (statx(fd, "", AT_EMPTY_PATH, STATX_SIZE, &sx) != 0)
		return -errno;
	if (sx.stx_attributes & STATX_ATTR_APPEND)
		return -EPERM;
	return seals > 0 && (seals & F_SEAL_SHRINK) && sx.stx_size > 0 ? -EPERM : 0;
}

/* Emptying a file needs the right to write it, also where it is opened for
 * reading only; asked now, as the caller. */
static int prepare_truncate(struct request *r, const struct place *p, int fd)
{
	int err = check_truncate(fd);
	auto_fd writable = -1;
	char path[32];

	if (err != 0 || (r->flags & O_ACCMODE) != O_RDONLY)
		return err;
	hand_self_path(p->fd, path);
	writable = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	return writable < 0 ? -errno : 0;
}

static int open_judged(struct request *r, const struct place *p)
{
	if (p->textual)
		return open_direct(r, p);
	if (p->error != 0)
		return p->error;
	if (r->flags & OPEN_TMPFILE)
		return open_unnamed(r, p);
	if (open_is_create(r))
		return open_created(r, p);
	return open_existing(r, p);
}

/* Continued: a descriptor that only names; the kernel gives it, since none can be
 * put into the caller, maybe of another name by now.  Whatever is done through it
 * is judged again.  The flags of openat2 lie in memory, where they could still
 * change: programs fall back. */
static void act_path(struct request *r)
{
	if (r->call->row->op == OP_OPENAT2)
		r->reply.value = -ENOSYS;
	else
		r->reply.proceed = true;
}

void open_act(struct request *r, const struct receipt *receipt)
{
	struct place *p = &r->target.place[0];
	int fd;

	(void)receipt;
	if ((r->flags & O_PATH) && p->error == 0) {
		act_path(r);
		return;
	}
	if (!hand_begin(r, 0))
		return;
	fd = open_judged(r, p);
	if (fd >= 0 && (r->flags & O_TRUNC) && p->fd >= 0 && S_ISREG(p->st.st_mode)) {
		int err = prepare_truncate(r, p, fd);

		if (err != 0) {
			close(fd);
			fd = err;
		}
		r->reply.truncate = err == 0;
	}
	hand_off(r);
	if (fd < 0) {
		r->reply.value = fd;
		return;
	}
	r->reply.fd = fd;
	r->reply.fd_flags = r->flags & O_CLOEXEC ? O_CLOEXEC : 0;
}
