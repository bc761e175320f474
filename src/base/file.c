#include "base/file.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

bool file_read_whole(int fd, void *out, size_t len_bytes)
{
	size_t done = 0;

	while (done < len_bytes) {
		ssize_t n = read(fd, (char *)out + done, len_bytes - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

bool file_write_whole(int fd, const void *bytes, size_t len_bytes)
{
	size_t done = 0;

	/* What a full disk took in part fails when the rest is written. */
	while (done < len_bytes) {
		ssize_t n = write(fd, (const char *)bytes + done, len_bytes - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

int file_ready(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};
	int n;

	do
		n = poll(&p, 1, 0);
	while (n < 0 && errno == EINTR);
	return n <= 0 ? n : p.revents;
}
