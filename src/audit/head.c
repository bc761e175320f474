#include "audit/head.h"

#include "base/own.h"
#include "base/uses.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

USES(fallocate, open_any, rename, unlink);

static const char *path_of(struct buf *out, const char *store)
{
	buf_fmt(out, "%s.head", store);
	return buf_text(out);
}

int head_write(const char *store, const struct anchor *a)
{
	auto_buf path = BUF_INIT;
	auto_buf temporary = BUF_INIT;
	auto_buf text = BUF_INIT;
	auto_fd fd = -1;

	if (!path_of(&path, store))
		return -ERR_NOMEM;
	buf_fmt(&temporary, "%s.%08x", path.data, randombytes_random());
	anchor_write(&text, a);
	if (!buf_text(&temporary) || !buf_text(&text))
		return -ERR_NOMEM;
	fd = open(temporary.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -ERR_SYS;
	/* Where its blocks are there already, the rename does not make ext4 write it to the disk
	 * at once, which is most of what the end of a session waits for.  After a loss of power
	 * it may then be nothing that is read as an anchor, which is as if there were none. */
	(void)fallocate(fd, 0, 0, (off_t)text.len_bytes);
	if (write(fd, text.data, text.len_bytes) == (ssize_t)text.len_bytes &&
	    rename(temporary.data, path.data) == 0)
		return 0;
	unlink(temporary.data);
	return -ERR_SYS;
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
