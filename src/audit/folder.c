#include "audit/folder.h"

#include "audit/rows.h"
#include "base/own.h"
#include "base/uses.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

USES(access, getdents64, mkdir, open_read);

static int make_one(const char *path)
{
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	return errno == ENOSPC || errno == EDQUOT ? -ERR_FULL : -ERR_PERM;
}

int folder_make(const char *path)
{
	auto_free char *part = strdup(path);
	int err = 0;

	if (!part)
		return -ERR_NOMEM;
	if (access(path, F_OK) == 0)
		return 0;
	for (char *at = strchr(part + 1, '/'); at && !err; at = strchr(at + 1, '/')) {
		*at = '\0';
		err = access(part, F_OK) == 0 ? 0 : make_one(part);
		*at = '/';
	}
	return err ? err : make_one(part);
}

int folder_make_above(const char *path)
{
	auto_free char *above = strdup(path);
	char *slash = above ? strrchr(above, '/') : NULL;

	if (!above)
		return -ERR_NOMEM;
	if (!slash || slash == above)
		return 0;
	*slash = '\0';
	return folder_make(above);
}

void folder_journals(struct buf *out, const char *db)
{
	const char *slash = strrchr(db, '/');
	size_t dir_len = slash ? (size_t)(slash + 1 - db) : 0;

	buf_add(out, db, dir_len);
	buf_fmt(out, ".%s.live", db + dir_len);
}

bool folder_is_journal(const char *name)
{
	return strspn(name, "0123456789abcdef") == 2 * (size_t)ROWS_UUID_BYTES &&
	       !name[2 * ROWS_UUID_BYTES];
}

bool folder_any_journal(const char *db, bool (*fits)(int folder_fd, const char *name))
{
	auto_buf folder = BUF_INIT;
	const struct dirent *d;
	bool any;
	DIR *dir;

	folder_journals(&folder, db);
	if (!buf_text(&folder))
		return true;
	dir = opendir(folder.data);
	if (!dir)
		return errno != ENOENT;
	do {
		errno = 0;
		d = readdir(dir);
		any = d ? folder_is_journal(d->d_name) && (!fits || fits(dirfd(dir), d->d_name))
		        : errno != 0;
	} while (d && !any);
	closedir(dir);
	return any;
}

bool folder_files(struct buf *out, const char *db, size_t i)
{
	static const char *const tails[] = {"", "-wal", "-shm", "-journal", ".head"};
	const size_t n = sizeof tails / sizeof tails[0];

	if (i < n)
		buf_fmt(out, "%s%s", db, tails[i]);
	else if (i == n)
		folder_journals(out, db);
	return i <= n;
}
