#include "answer/program_same.h"

#include "answer/images.h"
#include "base/own.h"
#include "base/uses.h"
#include "tracee/procfs.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

USES(open_read);

static bool same_image(const struct program_file *f, pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%d/exe", pid);
	return stat(path, &st) == 0 && st.st_dev == f->place.st.st_dev &&
	       st.st_ino == f->place.st.st_ino;
}

/* Of an image whose hash decided: the same still. */
static bool same_bytes(const struct program_file *f, pid_t pid)
{
	uint8_t now[IMAGES_SHA256_BYTES];
	char path[64];
	auto_fd fd = -1;

	if (!f->hashed || f->fixed)
		return true;
	snprintf(path, sizeof path, "/proc/%d/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && images_hash_fd(fd, now) == 0 && memcmp(now, f->sha256, sizeof now) == 0;
}

static bool same_arguments(const struct program_file *f, const struct startup *s)
{
	if (f->argc != s->argc)
		return false;
	for (size_t i = 0; i < s->argc; i++)
		if (strcmp(f->argv[i], s->argv[i]) != 0)
			return false;
	return true;
}

static uint64_t auxv_value(const struct startup *s, uint64_t type)
{
	for (size_t i = 0; i + 1 < s->auxv_words; i += 2)
		if (s->auxv[i] == type)
			return s->auxv[i + 1];
	return 0;
}

/* Which loader an image has that the tree could have changed since it was
 * read.  Where the image is fixed, so is the name of its loader. */
static bool same_loader(const struct program *p, const struct startup *s)
{
	const struct program_file *f = program_image(p);
	uint64_t base = auxv_value(s, AT_BASE);
	char path[PATH_MAX];

	if (f->fixed && (!p->loader || p->loader->fixed))
		return true;
	if (!p->loader)
		return base == 0;
	return procfs_mapping(s->pid, base, path, sizeof path) == 0 &&
	       strcmp(path, p->loader->place.canon) == 0;
}

bool program_same(const struct program *p, const struct startup *s)
{
	const struct program_file *f = program_image(p);

	return same_image(f, s->pid) && same_bytes(f, s->pid) && same_arguments(f, s) &&
	       same_loader(p, s);
}
