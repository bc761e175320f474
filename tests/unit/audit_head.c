/* audit/head: what is read is what was written last, whole; and nothing else is written over. */
#include "audit/head.h"
#include "base/own.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char store[PATH_MAX], path[PATH_MAX + 8], other[PATH_MAX + 8];

static bool put(uint64_t checkpoint)
{
	struct anchor a = {.checkpoint = checkpoint};

	memset(&a.hash, (int)(checkpoint % 251), sizeof a.hash);
	return head_write(store, &a) == 0;
}

static bool is(uint64_t checkpoint)
{
	struct anchor a = {0}, want = {.checkpoint = checkpoint};
	uint64_t written_us = 0;

	memset(&want.hash, (int)(checkpoint % 251), sizeof want.hash);
	return head_read(store, &a, &written_us) == 0 && a.checkpoint == checkpoint &&
	       memcmp(&a.hash, &want.hash, sizeof a.hash) == 0 && written_us > 0;
}

static ino_t number(const char *name)
{
	struct stat st;

	return lstat(name, &st) == 0 ? st.st_ino : 0;
}

static void writes_over(void)
{
	ino_t first;

	tap_ok(put(1) && is(1), "written and read");
	first = number(path);
	tap_ok(put(2) && is(2) && put(10) && is(10), "the next ones, as long and longer");
	tap_ok(number(path) == first, "in the same file");
	tap_ok(put(7) && is(7), "a shorter one leaves nothing of the longer");
	tap_ok(number(path) != first, "since it is another file");
}

static void spares_others(void)
{
	char text[ANCHOR_MAX_BYTES] = "";
	auto_fd fd = -1;

	tap_ok(link(path, other) == 0 && put(8) && is(8), "one with a second name");
	fd = open(other, O_RDONLY | O_CLOEXEC);
	tap_ok(read(fd, text, sizeof text - 1) > 0 && strstr(text, " 7 "),
	       "what the second name has stays");
	tap_ok(unlink(path) == 0 && symlink(other, path) == 0 && put(9) && is(9),
	       "one that is a link to elsewhere");
	text[0] = '\0';
	tap_ok(pread(fd, text, sizeof text - 1, 0) > 0 && strstr(text, " 7 "),
	       "what it led to stays");
	fd_drop(&fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	tap_ok(flock(fd, LOCK_EX) == 0 && put(11), "one that is being read is replaced");
	fd_drop(&fd);
	tap_ok(is(11), "and not waited for");
	tap_ok(truncate(path, 0) == 0 && put(12) && is(12), "an empty one");
}

int main(void)
{
	char folder[PATH_MAX - 32];

	snprintf(folder, sizeof folder, "%s/wary-unit.XXXXXX",
	         getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(folder))
		return 1;
	snprintf(store, sizeof store, "%s/a.db", folder);
	snprintf(path, sizeof path, "%s.head", store);
	snprintf(other, sizeof other, "%s.other", store);
	writes_over();
	spares_others();
	tap_ok(scratch_remove(folder) == 0, "nothing is left");
	return tap_done();
}
