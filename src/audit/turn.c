#include "audit/turn.h"

#include "audit/folder.h"
#include "base/clock.h"
#include "base/own.h"
#include "base/uses.h"

#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

USES(flock, open_read);

#define PAUSE_FIRST_NS 100000u
#define PAUSE_LAST_NS 10000000u

int turn_open(const char *db, int *fd)
{
	auto_buf folder = BUF_INIT;
	int err;

	folder_journals(&folder, db);
	if (!buf_text(&folder))
		return -ERR_NOMEM;
	err = folder_make(folder.data);
	if (err)
		return err;
	*fd = open(folder.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*fd >= 0)
		return 0;
	return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -ERR_SYS : -ERR_PERM;
}

/* flock(2) has no time limit of its own, and its holder may be stopped. */
int turn_take(int fd, unsigned wait_ms)
{
	uint64_t until_ns = clock_mono_ns() + (uint64_t)wait_ms * 1000000;
	struct timespec pause = {.tv_nsec = PAUSE_FIRST_NS};

	while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -ERR_SYS;
		if (clock_mono_ns() >= until_ns)
			return -ERR_BUSY;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < PAUSE_LAST_NS)
			pause.tv_nsec *= 2;
	}
	return 0;
}

void turn_give(int fd)
{
	if (fd >= 0)
		flock(fd, LOCK_UN);
}
