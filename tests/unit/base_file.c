/* base/file: all of it, or told; and what is there now, whatever interrupts. */
#include "base/file.h"
#include "base/own.h"
#include "tests/unit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
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

/* ---- signals that come while it is asked ---------------------------------- */

#define ROUNDS 2000000
/* So often poll(2) itself must have been interrupted, or nothing was tried. */
#define ENOUGH 20
#define GIVE_UP_S 60

struct flood {
	pthread_t target;
	atomic_bool ended;
};

static void nothing(int signal)
{
	(void)signal;
}

static void *flood_main(void *arg)
{
	struct flood *f = arg;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	while (!atomic_load(&f->ended))
		pthread_kill(f->target, SIGUSR1);
	return NULL;
}

static void under_signals(void)
{
	struct sigaction act = {.sa_handler = nothing};
	struct flood f = {.target = pthread_self()};
	long interrupted = 0, wrong = 0;
	time_t end = time(NULL) + GIVE_UP_S;
	pthread_t thread;
	int ends[2];

	if (sigaction(SIGUSR1, &act, NULL) != 0 || pipe2(ends, O_CLOEXEC) != 0 ||
	    pthread_create(&thread, NULL, flood_main, &f) != 0) {
		tap_ok(false, "a pipe, and a thread that sends signals");
		return;
	}
	for (long i = 0; i < ROUNDS && interrupted < ENOUGH && time(NULL) < end; i++) {
		struct pollfd p = {.fd = ends[0], .events = POLLIN};

		interrupted += poll(&p, 1, 0) < 0 && errno == EINTR;
		wrong += file_ready(ends[0], POLLIN) != 0;
		wrong += file_ready(ends[1], POLLOUT) != POLLOUT;
	}
	atomic_store(&f.ended, true);
	pthread_join(thread, NULL);
	close(ends[0]);
	tap_ok(file_ready(ends[1], POLLOUT) & POLLERR, "the other end has gone");
	close(ends[1]);
	tap_ok(interrupted > 0, "poll is interrupted though it does not wait");
	tap_is_int(wrong, 0, "file_ready is not");
}

int main(void)
{
	through_a_pipe();
	to_a_full_disk();
	under_signals();
	return tap_done();
}
