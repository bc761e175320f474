#include "audit/head.h"

#include "base/own.h"
#include "base/uses.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

USES(flock, open_any, pwrite64, rename, unlink);

static const char *path_of(struct buf *out, const char *store)
{
	buf_fmt(out, "%s.head", store);
	return buf_text(out);
}

/* Over what is there: no block is given back or taken, which file systems wait for the disk
 * with when a file takes another's name (ext4), half a millisecond at the end of each session.
 * A write within a block is there or not. Returns whether it was done. */
static bool write_over(const char *path, const struct buf *text)
{
	auto_fd fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 &&
	       S_ISREG(st.st_mode) && st.st_nlink == 1 && st.st_size > 0 &&
	       st.st_size <= (off_t)text->len_bytes &&
	       pwrite(fd, text->data, text->len_bytes, 0) == (ssize_t)text->len_bytes;
}

static int write_anew(const char *path, const struct buf *text)
{
	auto_buf temporary = BUF_INIT;
	auto_fd fd = -1;

	buf_fmt(&temporary, "%s.%08x", path, randombytes_random());
	if (!buf_text(&temporary))
		return -ERR_NOMEM;
	fd = open(temporary.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -ERR_SYS;
	if (write(fd, text->data, text->len_bytes) == (ssize_t)text->len_bytes &&
	    rename(temporary.data, path) == 0)
		return 0;
	unlink(temporary.data);
	return -ERR_SYS;
}

int head_write(const char *store, const struct anchor *a)
{
	auto_buf path = BUF_INIT;
	auto_buf text = BUF_INIT;

	anchor_write(&text, a);
	if (!path_of(&path, store) || !buf_text(&text))
		return -ERR_NOMEM;
	return write_over(path.data, &text) ? 0 : write_anew(path.data, &text);
}

int head_read(const char *store, struct anchor *out, uint64_t *written_us)
{
	auto_buf path = BUF_INIT;
	char text[ANCHOR_MAX_BYTES];
	auto_fd fd = -1;
	struct stat st;
	ssize_t n;

	if (!path_of(&path, store))
		return -ERR_NOMEM;
	fd = open(path.data, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		(void)flock(fd, LOCK_SH); /* not while it is written over */
	if (fd < 0 || fstat(fd, &st) != 0)
		return -ERR_NOTFOUND;
	*written_us = (uint64_t)st.st_mtim.tv_sec * 1000000 + (uint64_t)st.st_mtim.tv_nsec / 1000;
	n = read(fd, text, sizeof text);
	return n < 0 ? -ERR_FORMAT : anchor_read(text, (size_t)n, out);
}

void head_forget(const char *store)
{
	auto_buf path = BUF_INIT;

	if (path_of(&path, store))
		unlink(path.data);
}
