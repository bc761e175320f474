/* The caller's terminal: prints what each call gives, so that a native and a
 * supervised run can be compared.  Runs on a terminal, in an empty folder.
 * rows: openat */
#include "tests/lib/say.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>

static void own(void)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);

	say("is a terminal", isatty(fd) ? 0 : -1);
	say("is called", ttyname(fd) ? 0 : -1);
	printf("%-48s %s\n", "its group is mine", tcgetpgrp(fd) == getpgrp() ? "yes" : "no");
	say_number("written", write(fd, "to the terminal\r\n", 17));
	say_open("/dev/tty", fd);
	say_open("for reading", open("/dev/tty", O_RDONLY));
	say_open("for writing, not waiting", open("/dev/tty", O_WRONLY | O_NONBLOCK));
	say_open("emptied", open("/dev/tty", O_WRONLY | O_TRUNC));
	say_open("created", open("/dev/tty", O_WRONLY | O_CREAT, 0600));
	say_open("as a folder", open("/dev/tty", O_RDONLY | O_DIRECTORY));
	say_open("/dev/stdin", open("/dev/stdin", O_RDONLY));
	say_open("by its name", open(ttyname(1), O_RDWR | O_NOCTTY));
}

/* A session of its own, on a terminal of its own. */
static void session(const char *slave)
{
	char c = 0;
	int fd;

	setsid();
	say_open("without a terminal", open("/dev/tty", O_RDWR));
	fd = open(slave, O_RDWR | O_NOCTTY);
	say("becomes the terminal", ioctl(fd, TIOCSCTTY, 0));
	close(fd);
	fd = open("/dev/tty", O_RDWR);
	say_number("written", write(fd, "x", 1));
	say_number("read", read(fd, &c, 1));
	printf("%-48s %c\n", "the byte", c);
	/* What it looks like differs: it is opened by its own name. */
	say("/dev/tty of another session", isatty(fd) ? 0 : -1);
	fflush(stdout);
	_exit(0);
}

static void another(void)
{
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct termios t;
	char c = 0;
	pid_t pid;
	const char *slave;
	int fd;

	say("unlocked", grantpt(master) == 0 && unlockpt(master) == 0 ? 0 : -1);
	slave = ptsname(master);
	if (!slave)
		return;
	/* Held open, and without a line's manners: bytes pass as they are. */
	fd = open(slave, O_RDWR | O_NOCTTY | O_CLOEXEC);
	tcgetattr(fd, &t);
	cfmakeraw(&t);
	tcsetattr(fd, TCSANOW, &t);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		session(slave);
	say_number("what the other wrote", read(master, &c, 1));
	printf("%-48s %c\n", "the byte", c);
	(void)!write(master, "y", 1);
	waitpid(pid, NULL, 0);
	say_open("the other end", master);
	say("an end that has gone", open(slave, O_RDWR | O_NOCTTY));
	close(fd);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	own();
	another();
	return 0;
}
