/* Calls that wait, are interrupted, or meet a limit: prints what each gives, so
 * that a native and a supervised run can be compared.  Runs in an empty folder
 * of its own.
 * rows: open openat truncate */
#include "tests/lib/say.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
	(void)number;
	signals++;
}

static void handle(int number, int flags)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = flags};

	sigaction(number, &sa, NULL);
}

static void finished(pid_t pid, const char *what)
{
	int status = 0;

	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("%-48s signal %d\n", what, WTERMSIG(status));
	else
		printf("%-48s status %d\n", what, WEXITSTATUS(status));
}

static void no_waiting(void)
{
	int fd;

	mkfifo("f", 0666);
	say_open("nobody reads", open("f", O_WRONLY | O_NONBLOCK));
	say_open("nobody writes", open("f", O_RDONLY | O_NONBLOCK));
	say_open("for both", open("f", O_RDWR));
	fd = open("f", O_RDWR);
	say_open("somebody reads", open("f", O_WRONLY | O_NONBLOCK));
	say_open("a fifo, emptied", open("f", O_RDONLY | O_NONBLOCK | O_TRUNC));
	say_open("a fifo as a folder", open("f", O_RDONLY | O_DIRECTORY));
	close(fd);
}

static void meeting(void)
{
	char c = 0;
	pid_t pid = fork();
	int fd;

	if (pid == 0) {
		fd = open("f", O_WRONLY);
		_exit(write(fd, "z", 1) != 1);
	}
	fd = open("f", O_RDONLY);
	say_number("read from who came", read(fd, &c, 1));
	printf("%-48s %c\n", "the byte", c);
	close(fd);
	finished(pid, "the writer");
}

/* A timer that goes on, so that no signal can be too early. */
static void start_timer(void)
{
	const struct itimerval each = {{0, 50000}, {0, 50000}};

	setitimer(ITIMER_REAL, &each, NULL);
}

static void stop_timer(void)
{
	const struct itimerval none = {{0, 0}, {0, 0}};

	setitimer(ITIMER_REAL, &none, NULL);
}

static void interrupted(void)
{
	signals = 0;
	handle(SIGALRM, 0);
	start_timer();
	say_open("interrupted", open("f", O_RDONLY));
	stop_timer();
	printf("%-48s %s\n", "a signal came", signals ? "yes" : "no");
}

/* The call goes on after the handler, until a writer comes. */
static void restarted(void)
{
	pid_t pid;

	signals = 0;
	handle(SIGALRM, SA_RESTART);
	pid = fork();
	if (pid == 0) {
		usleep(400000);
		_exit(open("f", O_WRONLY) < 0);
	}
	start_timer();
	say_open("restarted", open("f", O_RDONLY));
	stop_timer();
	printf("%-48s %s\n", "a signal came", signals ? "yes" : "no");
	finished(pid, "the writer");
}

static void killed(int number)
{
	pid_t pid = fork();

	if (pid == 0) {
		signal(number, SIG_DFL);
		_exit(open("f", O_RDONLY) < 0);
	}
	usleep(200000);
	kill(pid, number);
	finished(pid, "killed while it waited");
}

/* Whoever was killed reads no more. */
static void nobody_left(void)
{
	int fd = -1;

	for (int i = 0; i < 200 && errno != ENXIO; i++) {
		fd = open("f", O_WRONLY | O_NONBLOCK);
		if (fd >= 0)
			close(fd);
		usleep(10000);
	}
	say_open("no reader is left", open("f", O_WRONLY | O_NONBLOCK));
}

static void leases(void)
{
	int fd;

	make_text("leased", "x");
	fd = open("leased", O_RDONLY);
	handle(SIGIO, 0);
	say("a lease", fcntl(fd, F_SETLEASE, F_RDLCK));
	say_open("without waiting for it", open("leased", O_WRONLY | O_NONBLOCK));
	fcntl(fd, F_SETLEASE, F_UNLCK);
	say_open("after it was given up", open("leased", O_WRONLY));
	close(fd);
}

static int leased_fd;

static void give_up(int number)
{
	(void)number;
	fcntl(leased_fd, F_SETLEASE, F_UNLCK);
}

/* Holds a lease until it is asked for. */
static void hold_lease(int ready)
{
	struct sigaction sa = {.sa_handler = give_up};

	leased_fd = open("leased", O_RDONLY);
	sigaction(SIGIO, &sa, NULL);
	if (fcntl(leased_fd, F_SETLEASE, F_WRLCK) != 0 || write(ready, "x", 1) != 1)
		_exit(1);
	while (fcntl(leased_fd, F_GETLEASE) != F_UNLCK)
		usleep(1000);
	_exit(0);
}

static void waiting_for_lease(const char *what, int flags)
{
	int ends[2];
	char c;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	pid = fork();
	if (pid == 0)
		hold_lease(ends[1]);
	say_number("the lease is held", read(ends[0], &c, 1));
	say_open(what, open("leased", flags));
	finished(pid, "who held it");
	close(ends[0]);
	close(ends[1]);
}

/* The lock goes with the last descriptor, and that is the caller's. */
static void locks(void)
{
	for (int i = 0; i < 50; i++) {
		int fd = open("locked", O_CREAT | O_RDWR, 0600);

		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0) {
			say("locked at once", -1);
			return;
		}
		close(fd);
	}
	say("locked at once, fifty times", 0);
}

static void limits(void)
{
	struct rlimit old;
	struct rlimit new;
	pid_t pid;

	getrlimit(RLIMIT_FSIZE, &old);
	make_text("limited", "x");
	new = old;
	new.rlim_cur = 1000;
	setrlimit(RLIMIT_FSIZE, &new);
	handle(SIGXFSZ, 0);
	signals = 0;
	say("truncate within the limit", truncate("limited", 1000));
	say("truncate beyond it", truncate("limited", 1001));
	printf("%-48s %d\n", "signals", (int)signals);
	signal(SIGXFSZ, SIG_IGN);
	say("beyond it, not minding", truncate("limited", 5000));
	say_what("limited");
	pid = fork();
	if (pid == 0) {
		signal(SIGXFSZ, SIG_DFL);
		_exit(truncate("limited", 5000) != 0);
	}
	finished(pid, "beyond it, minding");
	setrlimit(RLIMIT_FSIZE, &old);
	say("truncate without a limit", truncate("limited", 5000));
}

/* Written, closed, run: nobody else may still hold it. */
static void run_at_once(void)
{
	char buffer[65536];
	int bad = 0;

	for (int i = 0; i < 20; i++) {
		int out = open("program", O_CREAT | O_TRUNC | O_WRONLY, 0755);
		int in = open("/bin/true", O_RDONLY);
		ssize_t n;
		pid_t pid;
		int status = 0;

		while ((n = read(in, buffer, sizeof buffer)) > 0)
			bad += write(out, buffer, (size_t)n) != n;
		close(out);
		close(in);
		pid = fork();
		if (pid == 0) {
			execl("./program", "program", (char *)NULL);
			_exit(1);
		}
		waitpid(pid, &status, 0);
		bad += status != 0;
		unlink("program");
	}
	printf("%-48s %d\n", "written, closed and run: failures", bad);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	no_waiting();
	meeting();
	interrupted();
	restarted();
	killed(SIGINT);
	killed(SIGKILL);
	nobody_left();
	leases();
	waiting_for_lease("reading what is leased", O_RDONLY);
	waiting_for_lease("writing it", O_WRONLY);
	waiting_for_lease("not following it", O_RDONLY | O_NOFOLLOW);
	waiting_for_lease("creating it", O_RDWR | O_CREAT);
	locks();
	limits();
	run_at_once();
	return 0;
}
