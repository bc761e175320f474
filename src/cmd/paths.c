#include "cmd/paths.h"

#include "base/file.h"
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define LINKS_MAX 40 /* as the kernel: path_resolution(7) */

char *paths_join(const char *folder, const char *name)
{
	size_t len = strlen(folder);
	char *out = NULL;

	while (len > 1 && folder[len - 1] == '/')
		len--;
	if (asprintf(&out, "%.*s%s%s", (int)len, folder, len == 1 && *folder == '/' ? "" : "/",
	             name) < 0)
		return NULL;
	return out;
}

int paths_of_fd(int fd, char **out)
{
	char link[32];
	char target[PATH_MAX];
	ssize_t len;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	len = readlinkat(AT_FDCWD, link, target, sizeof target);
	if (len < 0)
		return errno == ENAMETOOLONG ? -ERR_TOOLONG : -ERR_SYS;
	if ((size_t)len >= sizeof target)
		return -ERR_TOOLONG;
	*out = strndup(target, (size_t)len);
	return *out ? 0 : -ERR_NOMEM;
}

static char *absolute(const char *path)
{
	auto_free char *cwd = NULL;

	if (*path == '/')
		return strdup(path);
	cwd = getcwd(NULL, 0);
	return cwd && *cwd == '/' ? paths_join(cwd, path) : NULL;
}

/* Cuts the last component off @path and puts it before @rest.
 * Returns 0, or -ERR_NOTFOUND where that cannot be done by text. */
static int cut_last(char *path, char **rest)
{
	size_t len = strlen(path);
	char *name;
	char *longer = NULL;

	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
	name = strrchr(path, '/');
	if (!name || len <= 1 || strcmp(name, "/..") == 0)
		return -ERR_NOTFOUND;
	name++;
	if (strcmp(name, ".") != 0 &&
	    asprintf(&longer, "%s%s%s", name, *rest ? "/" : "", *rest ? *rest : "") < 0)
		return -ERR_NOMEM;
	if (longer) {
		free(*rest);
		*rest = longer;
	}
	*name = '\0';
	return 0;
}

/* A way that is being walked. */
struct way {
	char at[PATH_MAX]; /* canonical; "" is the root */
	char *rest;        /* still to be walked */
	unsigned links;
};

/* Takes the next name off the rest, and appends it to where the walk is.
 * Returns whether there is one to look at. */
static bool way_step(struct way *w, int *err)
{
	size_t len = strlen(w->at);
	char *name;

	while (*w->rest == '/')
		w->rest++;
	name = w->rest;
	w->rest += strcspn(name, "/");
	if (w->rest == name)
		return false;
	if (w->rest - name == 1 && *name == '.')
		return true;
	if (w->rest - name == 2 && strncmp(name, "..", 2) == 0) {
		char *slash = strrchr(w->at, '/');

		if (slash)
			*slash = '\0';
		return true;
	}
	if (snprintf(w->at + len, sizeof w->at - len, "/%.*s", (int)(w->rest - name), name) >=
	    (int)(sizeof w->at - len))
		*err = -ERR_TOOLONG;
	return !*err;
}

/* Whether one call says that a path passes none: what it meets is looked at in order, so
 * that none comes before a name that is not there (openat2(2)). */
static bool has_no_links(const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
	auto_fd fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);

	if (fd >= 0)
		return true;
	return (errno == ENOENT || errno == ENOTDIR) && !strstr(path, "/..");
}

int paths_links(const char *path, int (*each)(void *ctx, const char *link), void *ctx)
{
	struct way w = {.links = 0};
	auto_free char *text = absolute(path);
	int err = 0;

	if (!text)
		return -ERR_NOTFOUND;
	if (has_no_links(text))
		return 0;
	w.rest = text;
	while (!err && way_step(&w, &err)) {
		char target[PATH_MAX];
		ssize_t len = *w.at ? readlinkat(AT_FDCWD, w.at, target, sizeof target) : -1;
		char *longer = NULL;

		if (len < 0 || strncmp(w.at, "/proc/", 6) == 0)
			continue;
		if (++w.links > LINKS_MAX || (size_t)len == sizeof target)
			return -ERR_TOOLONG;
		err = each(ctx, w.at);
		if (!err && asprintf(&longer, "%.*s/%s", (int)len, target, w.rest) < 0)
			err = -ERR_NOMEM;
		if (err)
			break;
		*(*target == '/' ? w.at : strrchr(w.at, '/')) = '\0';
		free(text);
		text = longer;
		w.rest = text;
	}
	return err;
}

int paths_canonical(const char *path, char **out)
{
	auto_free char *whole = absolute(path);
	auto_free char *rest = NULL;
	auto_free char *found = NULL;
	int err;

	if (!whole)
		return -ERR_NOTFOUND;
	for (;;) {
		auto_fd fd = open(whole, O_PATH | O_CLOEXEC);

		if (fd >= 0) {
			err = paths_of_fd(fd, &found);
			if (err)
				return err;
			break;
		}
		err = cut_last(whole, &rest);
		if (err)
			return err;
	}
	*out = rest ? paths_join(found, rest) : ptr_take(found);
	return *out ? 0 : -ERR_NOMEM;
}

bool paths_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	while (len > 0 && folder[len - 1] == '/')
		len--;
	return strncmp(path, folder, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static int error_of(int err)
{
	switch (err) {
	case ENOENT:
	case ENOTDIR:
		return -ERR_NOTFOUND;
	case EACCES:
	case EPERM:
	case EROFS:
	case ELOOP:
		return -ERR_PERM;
	case ENOSPC:
	case EDQUOT:
		return -ERR_FULL;
	case ENOMEM:
		return -ERR_NOMEM;
	default:
		return -ERR_SYS;
	}
}

static bool trusted(const struct stat *st)
{
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return false;
	if (S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX)
		return true;
	return !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Whether nobody but this user and root can change the file at @path. */
static bool only_ours(int fd, const char *path)
{
	struct stat st;
	auto_free char *folder = strdup(path);
	char *slash = folder ? strrchr(folder, '/') : NULL;

	if (fstat(fd, &st) || !trusted(&st) || !slash)
		return false;
	slash[slash == folder] = '\0';
	return stat(folder, &st) == 0 && trusted(&st);
}

int paths_read(const char *file, size_t max_bytes, bool owner_only, struct buf *out, char **path)
{
	struct stat st;
	auto_free char *canonical = NULL;
	auto_fd fd = -1;
	int err;

	/* Known before it is opened, so that no device is and no FIFO hangs
	 * where a file is expected. */
	if (stat(file, &st))
		return error_of(errno);
	if (!S_ISREG(st.st_mode) && (owner_only || !S_ISFIFO(st.st_mode)))
		return -ERR_PERM;
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return error_of(errno);
	err = paths_of_fd(fd, &canonical);
	if (err)
		return err;
	if (owner_only && !only_ours(fd, canonical))
		return -ERR_PERM;
	out->max_bytes = max_bytes;
	err = buf_read_file(out, fd);
	if (err)
		return err;
	if (path)
		*path = ptr_take(canonical);
	return 0;
}

static int make_folders(const char *file)
{
	auto_free char *folder = strdup(file);

	if (!folder)
		return -ERR_NOMEM;
	for (char *p = strchr(folder + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(folder, 0700) && errno != EEXIST)
			return error_of(errno);
		*p = '/';
	}
	return 0;
}

int paths_write(const char *file, const void *bytes, size_t len_bytes, mode_t mode)
{
	auto_free char *beside = NULL;
	auto_fd fd = -1;
	struct stat st;
	int err = make_folders(file);

	if (err)
		return err;
	if (asprintf(&beside, "%s.XXXXXX", file) < 0)
		return -ERR_NOMEM;
	if (stat(file, &st) == 0)
		mode = st.st_mode & 07777;
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return error_of(errno);
	if (fchmod(fd, mode) || !file_write_whole(fd, bytes, len_bytes) || fsync(fd))
		err = error_of(errno);
	if (!err && rename(beside, file))
		err = error_of(errno);
	if (err)
		unlink(beside);
	return err;
}
