#include "tracee/maps.h"

#include "base/uses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

USES(ioctl_maps);

/* struct procmap_query of linux/fs.h (6.11), which older headers lack. */
struct query {
	uint64_t size;
	uint64_t query_flags;
	uint64_t query_addr;
	uint64_t vma_start;
	uint64_t vma_end;
	uint64_t vma_flags;
	uint64_t vma_page_size;
	uint64_t vma_offset;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t vma_name_size;
	uint32_t build_id_size;
	uint64_t vma_name_addr;
	uint64_t build_id_addr;
};

#define QUERY _IOWR('f', 17, struct query)
#define QUERY_VMA_WRITABLE 0x02

_Static_assert(sizeof(struct query) == 104, "the kernel's layout of procmap_query");

static bool read_hex(const char **s, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(*s, &end, 16);
	if (end == *s || errno != 0)
		return false;
	*s = end;
	return true;
}

bool maps_parse(const char *line, uint64_t *start, uint64_t *end, bool *writable)
{
	const char *s = line;

	if (!read_hex(&s, start) || *s != '-')
		return false;
	s++;
	if (!read_hex(&s, end) || *s != ' ' || *end <= *start)
		return false;
	if (s[1] == '\0' || s[2] == '\0')
		return false;
	*writable = s[2] == 'w';
	return true;
}

/* What is still to be shown writable, while lines come in rising order. */
struct want {
	uint64_t from;
	uint64_t to;
	bool failed;
};

static void take_line(struct want *w, const char *line)
{
	uint64_t start;
	uint64_t end;
	bool writable;

	if (w->failed || w->from >= w->to)
		return;
	if (!maps_parse(line, &start, &end, &writable))
		w->failed = true;
	else if (w->from >= end)
		return;
	else if (w->from < start || !writable)
		w->failed = true;
	else
		w->from = end;
}

static bool by_text(int maps_fd, uint64_t from, uint64_t to)
{
	struct want w = {from, to, false};
	char text[8192];
	size_t have = 0;

	if (lseek(maps_fd, 0, SEEK_SET) != 0)
		return false;
	while (!w.failed && w.from < w.to) {
		ssize_t n = read(maps_fd, text + have, sizeof text - 1 - have);
		char *line = text;
		char *nl;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		have += (size_t)n;
		text[have] = '\0';
		while ((nl = strchr(line, '\n')) != NULL) {
			*nl = '\0';
			take_line(&w, line);
			line = nl + 1;
		}
		have -= (size_t)(line - text);
		memmove(text, line, have);
		if (have == sizeof text - 1)
			return false;
	}
	return !w.failed;
}

bool maps_writable(int maps_fd, uint64_t from, size_t len_bytes)
{
	uint64_t to;

	if (__builtin_add_overflow(from, len_bytes, &to))
		return false;
	while (from < to) {
		struct query q = {.size = sizeof q, .query_addr = from};

		if (ioctl(maps_fd, QUERY, &q) != 0)
			return errno == ENOTTY && by_text(maps_fd, from, to);
		if (!(q.vma_flags & QUERY_VMA_WRITABLE) || q.vma_end <= from)
			return false;
		from = q.vma_end;
	}
	return true;
}
