/* What killed_record.py runs under wary: processes that change names as fast
 * as they can, and say of every change what came of it.
 *
 * killed_work REPORT LANES: in the working folder. Each line of REPORT is one
 * write: "LANE OP NUMBER RESULT", where RESULT is 0 or more, or -errno. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Files of a lane that stay: the one so many before is removed. */
#define KEPT 5

static int report_fd;

static int create(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

static int link_to(const char *name)
{
	return symlink("nowhere", name);
}

static int make_folder(const char *name)
{
	return mkdir(name, 0700);
}

static const struct {
	char letter;
	int (*call)(const char *name);
} ops[] = {{'c', create}, {'l', link_to}, {'d', make_folder}};

static void say(unsigned lane, char op, unsigned n, int result)
{
	char line[64];
	int len = snprintf(line, sizeof line, "%u %c %u %d\n", lane, op, n,
	                   result < 0 ? -errno : result);

	/* One that cannot be said was not reported: nothing is lost. */
	if (write(report_fd, line, (size_t)len) != len)
		_exit(1);
}

static void lane_main(unsigned lane)
{
	for (unsigned n = 0;; n++) {
		char name[64];

		for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
			snprintf(name, sizeof name, "%u.%c.%u", lane, ops[i].letter, n);
			say(lane, ops[i].letter, n, ops[i].call(name));
		}
		if (n < KEPT)
			continue;
		snprintf(name, sizeof name, "%u.c.%u", lane, n - KEPT);
		say(lane, 'u', n - KEPT, unlink(name));
	}
}

int main(int argc, char **argv)
{
	unsigned lanes = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;

	report_fd = argc > 1 ? open(argv[1], O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
	if (report_fd < 0 || !lanes)
		return 2;
	for (unsigned i = 0; i < lanes; i++)
		if (fork() == 0)
			lane_main(i);
	while (wait(NULL) > 0)
		;
	return 0;
}
