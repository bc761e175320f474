/* base/own: what is owned is dropped once, or handed on. */
#include "base/own.h"
#include "tests/unit/tap.h"

#include <fcntl.h>
#include <string.h>

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static int made_in_scope(bool hand_on)
{
	auto_fd fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int number = fd;

	if (hand_on)
		return fd_take(&fd);
	return number;
}

static char *text_made(void)
{
	auto_free char *p = strdup("kept");

	return ptr_take(p);
}

int main(void)
{
	int fd = made_in_scope(false);
	char *p = text_made();

	tap_ok(fd >= 0 && !is_open(fd), "a descriptor is closed at the end of its scope");
	fd = made_in_scope(true);
	tap_ok(is_open(fd), "one that was handed on is not");
	fd_drop(&fd);
	tap_is_int(fd, -1, "a dropped one is -1");
	fd_drop(&fd);
	tap_is_str(p, "kept", "memory that was handed on is not freed");
	free(p);
	return tap_done();
}
