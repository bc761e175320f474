/* A tree stands still as long as its guardian is there to say which it is. */
#include "ask/freeze.h"

#include "tests/unit/tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* A guardian with one child that runs; its number comes by the pipe. */
static pid_t guardian_start(int fds[2], pid_t *child)
{
	pid_t guardian;

	if (pipe(fds) != 0)
		exit(1);
	guardian = fork();
	if (guardian == 0) {
		pid_t pid = fork();

		if (pid == 0)
			for (;;)
				;
		if (write(fds[1], &pid, sizeof pid) != (ssize_t)sizeof pid)
			_exit(1);
		for (;;)
			pause();
	}
	if (read(fds[0], child, sizeof *child) != (ssize_t)sizeof *child)
		exit(1);
	return guardian;
}

/* Field 3 of /proc/PID/stat. */
static char state_of(pid_t pid)
{
	char path[64];
	char state = '?';
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f) {
		if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			state = '?';
		fclose(f);
	}
	return state;
}

int main(void)
{
	struct freeze *f = NULL;
	int fds[2];
	pid_t child = 0;
	pid_t guardian = guardian_start(fds, &child);

	tap_is_int(freeze_begin(guardian, 0, &f), 0, "the tree stands still");
	tap_is_int(state_of(child), 'T', "its process is stopped");
	freeze_end(f);
	f = NULL;
	tap_is_int(state_of(child), 'R', "and goes on");
	kill(guardian, SIGKILL);
	while (state_of(guardian) != 'Z')
		usleep(1000);
	tap_is_int(freeze_begin(guardian, 0, &f), -ERR_GONE,
	           "its guardian is dead: nobody knows the tree");
	tap_is_int(state_of(child), 'R', "nothing was stopped");
	waitpid(guardian, NULL, 0);
	tap_is_int(freeze_begin(guardian, 0, &f), -ERR_GONE, "its guardian is gone: likewise");
	kill(child, SIGKILL);
	return tap_done();
}
