/* base/file: all of it, or told. */
#include "base/file.h"
#include "base/own.h"
#include "tests/unit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void through_a_pipe(void)
{
	char out[8] = "";
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0) {
		tap_ok(false, "pipe");
		return;
	}
	tap_ok(file_write_whole(ends[1], "one", 3) && file_write_whole(ends[1], "two", 3),
	       "is written");
	close(ends[1]);
	tap_ok(file_read_whole(ends[0], out, 6), "is read, of two pieces");
	tap_is_str(out, "onetwo", "whole");
	tap_ok(!file_read_whole(ends[0], out, 1), "past the end there is nothing");
	close(ends[0]);
	tap_ok(!file_read_whole(ends[0], out, 1) && errno == EBADF, "no descriptor");
	tap_ok(!file_write_whole(ends[0], out, 1) && errno == EBADF, "nor to write to");
}

static void to_a_full_disk(void)
{
	auto_fd fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		tap_skip("there is no /dev/full");
	else
		tap_ok(!file_write_whole(fd, "one", 3) && errno == ENOSPC, "a full disk is told");
}

int main(void)
{
	through_a_pipe();
	to_a_full_disk();
	return tap_done();
}
