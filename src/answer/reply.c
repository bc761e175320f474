#include "answer/reply.h"

#include "answer/lost.h"
#include "base/uses.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

USES(fcntl_flags, ftruncate, truncate);

void reply_truncate(struct reply *y)
{
	char path[64];
	int err;

	lost_look(y, y->fd);
	if ((fcntl(y->fd, F_GETFL) & O_ACCMODE) != O_RDONLY) {
		err = ftruncate(y->fd, 0);
	} else { /* O_RDONLY | O_TRUNC empties the file as well, on Linux */
		snprintf(path, sizeof path, "/proc/self/fd/%d", y->fd);
		err = truncate(path, 0);
	}
	/* Devices and FIFOs: the kernel ignores O_TRUNC where it has no effect. */
	if (err != 0 && errno != EINVAL)
		y->value = -errno;
}
