#include "tracee/caller.h"

#include "base/own.h"
#include "base/uses.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

USES(open_read, pread64);

/* 256 groups of eleven characters, and the rest of the page. */
#define STATUS_MAX 8192

/* By errno.  Without descriptors or memory nobody knows whether it is there. */
static int not_read(void)
{
	return errno == ENOENT || errno == ESRCH ? -ERR_GONE : -ERR_SYS;
}

/* A file of procfs, whole, as text. */
static int read_proc(pid_t tid, const char *file, char *out, size_t cap_bytes)
{
	char path[64];
	auto_fd fd = -1;
	size_t have = 0;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return not_read();
	while (have < cap_bytes - 1) {
		ssize_t n = read(fd, out + have, cap_bytes - 1 - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return not_read();
		if (n == 0)
			break;
		have += (size_t)n;
	}
	out[have] = '\0';
	return have == 0 ? -ERR_GONE : 0;
}

/* The value after "\nname:", or NULL. */
static const char *line_of(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *s = text; s; s = strchr(s, '\n')) {
		s += *s == '\n';
		if (strncmp(s, name, len) == 0 && s[len] == ':')
			return s + len + 1;
	}
	return NULL;
}

static bool read_ids(const char *s, unsigned *ids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *end;
		unsigned long v;

		errno = 0;
		v = strtoul(s, &end, 10);
		if (end == s || errno != 0 || v > UINT32_MAX)
			return false;
		ids[i] = (unsigned)v;
		s = end;
	}
	return true;
}

static int read_groups(const char *s, struct caller_creds *out)
{
	out->groups_n = 0;
	for (;;) {
		char *end;
		unsigned long v;

		while (*s == ' ' || *s == '\t')
			s++;
		if (*s == '\n' || *s == '\0')
			return 0;
		v = strtoul(s, &end, 10);
		if (end == s)
			return -ERR_FORMAT;
		if (out->groups_n == CALLER_GROUPS_MAX)
			return -ERR_BOUND;
		out->groups[out->groups_n++] = (gid_t)v;
		s = end;
	}
}

int caller_parse_status(const char *text, struct caller_creds *out, pid_t *tgid)
{
	const char *mask = line_of(text, "Umask");
	const char *tgid_line = line_of(text, "Tgid");
	const char *uid_line = line_of(text, "Uid");
	const char *gid_line = line_of(text, "Gid");
	const char *groups = line_of(text, "Groups");
	const char *caps = line_of(text, "CapEff");
	const char *permitted = line_of(text, "CapPrm");
	unsigned ids[4];

	/* A task that is ending has no umask any more, and no call either. */
	if (!mask || !tgid_line || !uid_line || !gid_line || !groups || !caps || !permitted)
		return -ERR_FORMAT;
	out->umask = (mode_t)strtoul(mask, NULL, 8) & 0777;
	*tgid = (pid_t)strtol(tgid_line, NULL, 10);
	out->cap_effective = strtoull(caps, NULL, 16);
	out->cap_permitted = strtoull(permitted, NULL, 16);
	if (!read_ids(uid_line, ids, 4))
		return -ERR_FORMAT;
	out->ruid = ids[0];
	out->euid = ids[1];
	out->suid = ids[2];
	out->fsuid = ids[3];
	if (!read_ids(gid_line, ids, 4))
		return -ERR_FORMAT;
	out->rgid = ids[0];
	out->egid = ids[1];
	out->sgid = ids[2];
	out->fsgid = ids[3];
	return read_groups(groups, out);
}

int caller_status_open(pid_t tid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	return not_read();
}

int caller_creds_read(int status_fd, struct caller_creds *out, pid_t *tgid)
{
	char text[STATUS_MAX];
	ssize_t n;

	/* The kernel writes it in one piece where there is room for it; half of one
	 * has not the lines that are looked for. */
	do
		n = pread(status_fd, text, sizeof text - 1, 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 && errno != ESRCH ? -ERR_SYS : -ERR_GONE;
	text[n] = '\0';
	return caller_parse_status(text, out, tgid);
}

int caller_creds_of(pid_t tid, struct caller_creds *out, pid_t *tgid)
{
	char text[STATUS_MAX];
	int err = read_proc(tid, "status", text, sizeof text);

	return err != 0 ? err : caller_parse_status(text, out, tgid);
}

pid_t caller_tgid(pid_t tid)
{
	char text[STATUS_MAX];
	const char *line;

	if (read_proc(tid, "status", text, sizeof text) != 0)
		return -1;
	line = line_of(text, "Tgid");
	return line ? (pid_t)strtol(line, NULL, 10) : -1;
}

dev_t caller_parse_tty(const char *stat_text)
{
	/* The name in parentheses may hold anything, also parentheses. */
	const char *s = strrchr(stat_text, ')');
	unsigned nr;
	int ids[3];
	int tty;
	char state;

	if (!s || sscanf(s + 1, " %c %d %d %d %d", &state, &ids[0], &ids[1], &ids[2], &tty) != 5)
		return 0;
	nr = (unsigned)tty;
	if (nr == 0)
		return 0;
	/* new_encode_dev: minor in bits 0-7 and 20-31, major in 8-19. */
	return makedev((nr >> 8) & 0xfff, (nr & 0xff) | ((nr >> 12) & 0xfff00));
}

dev_t caller_tty(pid_t tid)
{
	char text[1024];

	if (read_proc(tid, "stat", text, sizeof text) != 0)
		return 0;
	return caller_parse_tty(text);
}

int caller_parse_fsize(const char *limits_text, uint64_t *limit_bytes)
{
	static const char name[] = "Max file size";
	const char *s = strstr(limits_text, name);
	char *end;

	if (!s)
		return -ERR_FORMAT;
	s += sizeof name - 1;
	s += strspn(s, " ");
	if (strncmp(s, "unlimited", 9) == 0) {
		*limit_bytes = UINT64_MAX;
		return 0;
	}
	errno = 0;
	*limit_bytes = strtoull(s, &end, 10);
	return end == s || errno != 0 ? -ERR_FORMAT : 0;
}

int caller_fsize_limit(pid_t tid, uint64_t *limit_bytes)
{
	char text[STATUS_MAX];
	/* prlimit(2) would ask for rights over the caller that wary, once it has
	 * confined itself, has only while the ids are the same. */
	int err = read_proc(tid, "limits", text, sizeof text);

	return err != 0 ? err : caller_parse_fsize(text, limit_bytes);
}
