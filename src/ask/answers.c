#include "ask/answers.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/own.h"
#include "base/uses.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

USES(flock, fsync, ftruncate, geteuid, mkdir, open_any);

/* All folders of a path that are missing, 0700. */
static int make_folders(const char *path)
{
	auto_free char *copy = strdup(path);

	if (!copy)
		return -ERR_NOMEM;
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0700) != 0 && errno != EEXIST)
			return -ERR_SYS;
		*slash = '/';
	}
	return 0;
}

static void date(struct buf *out)
{
	time_t now = time(NULL);
	struct tm tm;
	char text[32];

	if (localtime_r(&now, &tm) && strftime(text, sizeof text, "%Y-%m-%d %H:%M", &tm))
		buf_str(out, text);
}

/* One write of whole lines under a lock: another session may add as well. A
 * write that fails half way is taken back. */
static int append(int fd, const char *text, size_t len)
{
	off_t end;
	int err;

	if (flock(fd, LOCK_EX) != 0)
		return -ERR_SYS;
	end = lseek(fd, 0, SEEK_END);
	if (end < 0)
		return -ERR_SYS;
	err = file_write_whole(fd, text, len) ? 0 : -ERR_SYS;
	if (err == 0 && fsync(fd) != 0)
		err = -ERR_SYS;
	if (err != 0 && ftruncate(fd, end) != 0)
		return -ERR_DAMAGED;
	return err;
}

int answers_add(const char *path, const char *rules, const char *session)
{
	auto_buf text = BUF_INIT;
	auto_fd fd = -1;
	struct stat st;
	int err = make_folders(path);

	if (err)
		return err;
	fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == ELOOP ? -ERR_PERM : -ERR_SYS;
	if (fstat(fd, &st) != 0)
		return -ERR_SYS;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return -ERR_PERM;
	if (st.st_size == 0)
		buf_str(&text, "wary 1\n# Answers that were given \"always\" or \"never\". "
		               "Delete what should be asked again.\n");
	buf_str(&text, "# ");
	date(&text);
	buf_fmt(&text, ", session %s\n%s\n", session, rules);
	if (!buf_text(&text))
		return -ERR_NOMEM;
	return append(fd, text.data, text.len_bytes);
}
