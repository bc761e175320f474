#include "tracee/procfs.h"

#include "base/own.h"
#include "base/uses.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

USES(faccessat, ioctl_pidfd, open_read);

ssize_t procfs_read(const char *path, char *out, size_t cap_bytes)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;

	if (fd < 0)
		return errno == ENOENT || errno == ESRCH   ? -ERR_GONE
		       : errno == EACCES || errno == EPERM ? -ERR_PERM
		                                           : -ERR_SYS;
	while (have < cap_bytes - 1) {
		ssize_t n = read(fd, out + have, cap_bytes - 1 - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == ESRCH ? -ERR_GONE : -ERR_SYS;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	out[have] = '\0';
	return (ssize_t)have;
}

/* The number after "\nNAME:\t"; -1 where there is none. */
static long status_number(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? strtol(at + strlen(name), NULL, 10) : -1;
}

int procfs_ids(pid_t tid, struct procfs_ids *out)
{
	char path[64];
	char text[2048];
	ssize_t n;
	long tgid;
	long ppid;

	snprintf(path, sizeof path, "/proc/%d/status", tid);
	n = procfs_read(path, text, sizeof text);
	if (n < 0)
		return (int)n;
	/* The process's own name stands before, on one line: newlines in it are
	 * escaped by the kernel, so that these cannot be imitated. */
	tgid = status_number(text, "\nTgid:\t");
	ppid = status_number(text, "\nPPid:\t");
	if (tgid <= 0 || ppid < 0)
		return -ERR_GONE;
	out->tgid = (pid_t)tgid;
	out->ppid = (pid_t)ppid;
	return 0;
}

/* As in linux/pidfd.h of 6.13, which older headers lack. */
struct pidfd_answer {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid, ids[8];
	int32_t exit_code;
};
#define PIDFD_ASK _IOWR(0xff, 11, struct pidfd_answer)
#define PIDFD_HAS_PID 1u

int procfs_ids_of(int pidfd, pid_t tgid, struct procfs_ids *out)
{
	struct pidfd_answer a = {.mask = PIDFD_HAS_PID};

	if (ioctl(pidfd, PIDFD_ASK, &a) != 0)
		return errno == ESRCH ? -ERR_GONE : procfs_ids(tgid, out);
	if (!(a.mask & PIDFD_HAS_PID) || a.tgid == 0)
		return procfs_ids(tgid, out);
	out->tgid = (pid_t)a.tgid;
	out->ppid = (pid_t)a.ppid;
	return 0;
}

const char *procfs_field(const char *stat, enum procfs_field n)
{
	const char *at = strrchr(stat, ')'); /* the name may hold blanks and brackets */

	for (unsigned field = PROCFS_STATE - 1; at && field < n; field++)
		at = strchr(at + 1, ' ');
	return at ? at + 1 : NULL;
}

int procfs_start(pid_t tgid, uint64_t *ticks)
{
	char path[64];
	char text[1024];
	const char *at;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/stat", tgid);
	n = procfs_read(path, text, sizeof text);
	if (n < 0)
		return (int)n;
	at = procfs_field(text, PROCFS_START);
	if (!at)
		return -ERR_FORMAT;
	*ticks = strtoull(at, NULL, 10);
	return 0;
}

int procfs_auxv(pid_t tgid, uint64_t *words, size_t *n_words)
{
	char path[64];
	auto_fd fd = -1;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/auxv", tgid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES || errno == EPERM ? -ERR_PERM : -ERR_GONE;
	n = read(fd, words, *n_words * sizeof *words);
	if (n <= 0)
		return -ERR_GONE;
	*n_words = (size_t)n / sizeof *words;
	return 0;
}

bool procfs_has_thread(pid_t tgid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task/%d", tgid, tid);
	return faccessat(AT_FDCWD, path, F_OK, 0) == 0;
}

/* The name at the end of a line of maps: after five fields and blanks.  The
 * kernel writes a newline in it as \\012. */
static int mapping_name(const char *line, char *path, size_t cap_bytes)
{
	size_t n = 0;

	for (int field = 0; field < 5; field++) {
		line += strcspn(line, " \n");
		line += strspn(line, " ");
	}
	for (; *line && *line != '\n'; line++) {
		if (n + 1 >= cap_bytes)
			return -ERR_TOOLONG;
		if (strncmp(line, "\\012", 4) == 0) {
			path[n++] = '\n';
			line += 3;
		} else {
			path[n++] = *line;
		}
	}
	path[n] = '\0';
	return 0;
}

int procfs_mapping(pid_t tgid, uint64_t start, char *path, size_t cap_bytes)
{
	char name[64];
	auto_file f = NULL;
	auto_free char *line = NULL;
	size_t size = 0;

	snprintf(name, sizeof name, "/proc/%d/maps", tgid);
	f = fopen(name, "re");
	if (!f)
		return errno == EACCES || errno == EPERM ? -ERR_PERM : -ERR_GONE;
	while (getline(&line, &size, f) > 0)
		if (strtoull(line, NULL, 16) == start)
			return mapping_name(line, path, cap_bytes);
	return -ERR_NOTFOUND;
}
