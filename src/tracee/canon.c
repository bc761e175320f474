#include "tracee/canon.h"

#include "base/own.h"
#include "base/uses.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

USES(getdents64, open_any, openat2, readlinkat);

#define DELETED " (deleted)"
/* The kernel cannot print a longer name than a page holds; then the upper
 * folders are climbed to one whose name can be printed. */
#define CLIMB_MAX (8192 / 2)

static void number_text(int fd, char out[16])
{
	snprintf(out, 16, "%d", fd);
}

static ssize_t link_text(int self_fd_dir, int fd, char *out, size_t cap_bytes)
{
	char number[16];
	ssize_t n;

	number_text(fd, number);
	n = readlinkat(self_fd_dir, number, out, cap_bytes - 1);
	if (n < 0)
		return -errno;
	if ((size_t)n >= cap_bytes - 1)
		return -ENAMETOOLONG;
	out[n] = '\0';
	return n;
}

/* Whether a name, taken literally, leads to this very object. */
static bool leads_to(const char *name, const struct stat *st)
{
	struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS,
	};
	auto_fd fd = (int)syscall(SYS_openat2, AT_FDCWD, name, &how, sizeof how);
	struct stat there;

	return fd >= 0 && fstat(fd, &there) == 0 && there.st_dev == st->st_dev &&
	       there.st_ino == st->st_ino;
}

/* A memfd prints like a file of the root folder, but lives in none. */
static bool is_memfd(const char *name, const struct stat *st)
{
	struct stat root;

	return strncmp(name, "/memfd:", 7) == 0 && st->st_nlink == 0 && stat("/", &root) == 0 &&
	       root.st_dev != st->st_dev;
}

static int settle(char *name, size_t len, const struct stat *st, bool *unnamed)
{
	size_t tail = sizeof DELETED - 1;

	if (name[0] != '/') {
		*unnamed = true;
		return 0;
	}
	if (len <= tail || strcmp(name + len - tail, DELETED) != 0)
		return 0;
	if (is_memfd(name, st)) {
		*unnamed = true;
		return 0;
	}
	if (leads_to(name, st))
		return 0;
	name[len - tail] = '\0';
	return 0;
}

/* The entry of @dir_fd that is @st, appended to @name after a slash. */
static int entry_name(int dir_fd, const struct stat *st, char out[NAME_MAX + 1])
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *e;
	DIR *d;
	int err = -ENOENT;

	if (fd < 0)
		return -errno;
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	while (err == -ENOENT && (e = readdir(d)) != NULL) {
		struct stat there;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (fstatat(dir_fd, e->d_name, &there, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (there.st_dev != st->st_dev || there.st_ino != st->st_ino)
			continue;
		snprintf(out, NAME_MAX + 1, "%s", e->d_name);
		err = 0;
	}
	closedir(d);
	return err;
}

/* Puts "/entry" before what was collected so far, from the end of @tail. */
static int prepend(char *tail, size_t *at, const char *entry)
{
	size_t len = strlen(entry);

	if (len + 1 > *at)
		return -ENAMETOOLONG;
	*at -= len;
	memcpy(tail + *at, entry, len);
	tail[--*at] = '/';
	return 0;
}

/* A folder too deep for the kernel to print: climbs until it can. */
static int climb(int self_fd_dir, int fd, const struct stat *st, char *out, size_t cap_bytes)
{
	auto_free char *tail = malloc(cap_bytes);
	size_t at = cap_bytes - 1;
	auto_fd here = -1;
	struct stat below = *st;
	ssize_t n = -ENAMETOOLONG;

	if (!tail)
		return -ENOMEM;
	if (!S_ISDIR(st->st_mode))
		return -ENAMETOOLONG;
	tail[at] = '\0';
	for (unsigned i = 0; n == -ENAMETOOLONG && i < CLIMB_MAX; i++) {
		char entry[NAME_MAX + 1];
		int up = openat(here < 0 ? fd : here, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		int err;

		if (up < 0)
			return -errno;
		fd_drop(&here);
		here = up;
		err = entry_name(here, &below, entry);
		if (err == 0)
			err = prepend(tail, &at, entry);
		if (err == 0 && fstat(here, &below) != 0)
			err = -errno;
		if (err != 0)
			return err;
		n = link_text(self_fd_dir, here, out, cap_bytes);
	}
	if (n < 0)
		return (int)n;
	if (out[0] != '/' || (size_t)n + strlen(tail + at) >= cap_bytes)
		return -ENAMETOOLONG;
	memcpy(out + (n == 1 ? 0 : n), tail + at, strlen(tail + at) + 1);
	return 0;
}

int canon_of_fd(int self_fd_dir, int fd, const struct stat *st, char *out, size_t cap_bytes,
                bool *unnamed)
{
	ssize_t n = link_text(self_fd_dir, fd, out, cap_bytes);

	*unnamed = false;
	if (n == -ENAMETOOLONG)
		return climb(self_fd_dir, fd, st, out, cap_bytes);
	if (n < 0)
		return (int)n;
	return settle(out, (size_t)n, st, unnamed);
}

int canon_join(char *out, size_t cap_bytes, const char *rest)
{
	size_t len = strlen(out);
	int err = 0;

	if (len == 1 && out[0] == '/')
		len = 0;
	while (*rest) {
		size_t n = strcspn(rest, "/");

		if (n == 2 && rest[0] == '.' && rest[1] == '.') {
			err = -EINVAL;
			break;
		}
		if (n > 0 && !(n == 1 && rest[0] == '.')) {
			if (len + 1 + n >= cap_bytes)
				return -ENAMETOOLONG;
			out[len++] = '/';
			memcpy(out + len, rest, n);
			len += n;
		}
		rest += n;
		rest += *rest == '/';
	}
	if (len == 0)
		out[len++] = '/';
	out[len] = '\0';
	return err;
}

pid_t canon_proc_pid(const char *name, const char **below)
{
	const char *s = name;
	long pid = 0;

	if (strncmp(s, "/proc/", 6) != 0 || s[6] < '1' || s[6] > '9')
		return 0;
	for (s += 6; *s >= '0' && *s <= '9'; s++) {
		pid = pid * 10 + (*s - '0');
		if (pid > INT_MAX)
			return 0;
	}
	if (*s != '\0' && *s != '/')
		return 0;
	if (below)
		*below = s;
	return (pid_t)pid;
}
