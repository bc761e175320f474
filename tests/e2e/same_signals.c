/* Signals, attributes and owners: prints what each call gives, so that a native
 * and a supervised run can be compared line by line. */
#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *what, long n)
{
	if (n < 0)
		printf("%-40s %s\n", what, strerrorname_np(errno));
	else
		printf("%-40s %ld\n", what, n);
}

static volatile sig_atomic_t last_signal;
static volatile sig_atomic_t last_code;
static volatile sig_atomic_t last_value;
static volatile pid_t last_pid;

static void on_signal(int s, siginfo_t *i, void *context)
{
	(void)context;
	last_signal = s;
	last_code = i->si_code;
	last_pid = i->si_pid;
	last_value = i->si_value.sival_int;
}

static void catch (int s)
{
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

	sigaction(s, &sa, NULL);
}

static void say_signal(const char *what)
{
	printf("%-40s %d code %d from self %d value %d\n", what, last_signal, last_code,
	       last_pid == getpid(), last_value);
	last_signal = last_code = last_value = 0;
	last_pid = 0;
}

/* A child that waits until its pipe closes. */
static pid_t child(int *hold)
{
	int p[2];
	pid_t pid;
	char c;

	if (pipe(p) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		close(p[1]);
		setpgid(0, 0);
		(void)!write(STDOUT_FILENO, "", 0);
		(void)!read(p[0], &c, 1);
		_exit(0);
	}
	close(p[0]);
	setpgid(pid, pid);
	*hold = p[1];
	return pid;
}

static void ended(const char *what, pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	printf("%-40s %s %d\n", what, WIFSIGNALED(status) ? "by signal" : "exit",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* ---- signals ---------------------------------------------------------- */

static void to_self(void)
{
	siginfo_t info = {.si_code = SI_QUEUE};

	catch (SIGUSR1);
	say("kill self", kill(getpid(), SIGUSR1));
	say_signal("  got");
	say("raise", raise(SIGUSR1));
	say_signal("  got");
	say("tgkill self", syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1));
	say_signal("  got");
	say("tkill self", syscall(SYS_tkill, gettid(), SIGUSR1));
	say_signal("  got");
	say("sigqueue self", sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 7}));
	say_signal("  got");
	info.si_pid = getpid();
	info.si_value.sival_int = 8;
	say("rt_tgsigqueueinfo self",
	    syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGUSR1, &info));
	say_signal("  got");
	say("kill self with nothing", kill(getpid(), 0));
	say("kill self, no such signal", kill(getpid(), 99));
}

static void to_child(void)
{
	char folder[32];
	int proc;
	int hold;
	pid_t pid = child(&hold);
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	say("kill 0 to a child", kill(pid, 0));
	say("kill, no such signal", kill(pid, 99));
	say("tgkill, another process' thread", syscall(SYS_tgkill, getpid(), pid, 0));
	say("tgkill 0 to a child", syscall(SYS_tgkill, pid, pid, 0));
	say("pidfd_send_signal 0", syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0));
	snprintf(folder, sizeof folder, "/proc/%d", pid);
	proc = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	say("pidfd_send_signal by a folder", syscall(SYS_pidfd_send_signal, proc, 0, NULL, 0));
	close(proc);
	say("prlimit of -1", prlimit(-1, RLIMIT_NOFILE, NULL, NULL));
	say("sched_setscheduler of -1", sched_setscheduler(-1, SCHED_OTHER, NULL));
	say("pidfd_send_signal, odd flags",
	    syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 1u << 30));
	say("pidfd_send_signal, no descriptor", syscall(SYS_pidfd_send_signal, -1, 0, NULL, 0));
	say("pidfd_send_signal, no pidfd", syscall(SYS_pidfd_send_signal, 0, 0, NULL, 0));
	say("kill a child", kill(pid, SIGTERM));
	ended("  it ended", pid);
	say("kill it again", kill(pid, 0));
	say("pidfd_send_signal to it", syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0));
	say("kill nobody", kill(999999999, 0));
	say("tkill -1", syscall(SYS_tkill, -1, 0));
	say("kill no group", kill(-999999999, 0));
	close(pidfd);
	close(hold);
	pid = child(&hold);
	say("sigqueue to a child", sigqueue(pid, SIGKILL, (union sigval){.sival_int = 1}));
	ended("  it ended", pid);
	close(hold);
	pid = child(&hold);
	say("kill its group", kill(-pid, SIGKILL));
	ended("  it ended", pid);
	close(hold);
}

static void everyone(void)
{
	int hold[2];
	pid_t pids[2];

	fflush(stdout);
	pids[0] = child(&hold[0]);
	setpgid(0, 0);
	catch (SIGTERM);
	pids[1] = fork();
	if (pids[1] == 0) {
		signal(SIGTERM, SIG_IGN);
		_exit(kill(0, SIGTERM) == 0 ? 3 : 4);
	}
	catch (SIGTERM);
	ended("kill the own group", pids[1]);
	say_signal("  got");
	close(hold[0]);
	ended("not the other group", pids[0]);
}

static void *sleeper(void *arg)
{
	*(pid_t *)arg = gettid();
	poll(NULL, 0, 100);
	pause();
	return NULL;
}

static void to_thread(void)
{
	volatile pid_t tid = 0;
	pthread_t t;

	pthread_create(&t, NULL, sleeper, (void *)&tid);
	while (!tid)
		usleep(1000);
	say("tgkill a thread", syscall(SYS_tgkill, getpid(), tid, SIGUSR1));
	while (!last_signal)
		usleep(1000);
	say_signal("  got");
	pthread_cancel(t);
	pthread_join(t, NULL);
}

/* ---- attributes ------------------------------------------------------- */

static void attributes(void)
{
	struct rlimit r = {.rlim_cur = 77, .rlim_max = 99};
	struct rlimit old = {0};
	struct sched_param sp = {0};
	cpu_set_t cpus;
	int hold;
	pid_t pid = child(&hold);

	say("prlimit set", prlimit(pid, RLIMIT_NOFILE, &r, &old));
	say("prlimit get", prlimit(pid, RLIMIT_NOFILE, NULL, &old));
	printf("%-40s %lu %lu\n", "  limits", (unsigned long)old.rlim_cur,
	       (unsigned long)old.rlim_max);
	r.rlim_cur = 100;
	say("prlimit, soft above hard", prlimit(pid, RLIMIT_NOFILE, &r, NULL));
	say("prlimit, bad pointer", prlimit(pid, RLIMIT_NOFILE, (void *)16, NULL));
	say("prlimit, no such limit", prlimit(pid, 99, NULL, &old));
	say("setpriority", setpriority(PRIO_PROCESS, (id_t)pid, 5));
	say("getpriority", getpriority(PRIO_PROCESS, (id_t)pid));
	say("setpriority of its group", setpriority(PRIO_PGRP, (id_t)pid, 6));
	say("setpriority, no such kind", setpriority(9, (id_t)pid, 6));
	say("setpriority of nobody", setpriority(PRIO_PROCESS, 999999999, 5));
	sched_getaffinity(pid, sizeof cpus, &cpus);
	say("sched_setaffinity", sched_setaffinity(pid, sizeof cpus, &cpus));
	say("sched_setaffinity, bad pointer", sched_setaffinity(pid, sizeof cpus, (void *)16));
	say("sched_setscheduler", sched_setscheduler(pid, SCHED_BATCH, &sp));
	say("sched_getscheduler", sched_getscheduler(pid));
	say("sched_setparam", sched_setparam(pid, &sp));
	say("sched_setscheduler, no such one", sched_setscheduler(pid, 77, &sp));
	say("ioprio_set", syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, pid,
	                          IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 6)));
	say("ioprio_get", syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, pid));
	close(hold);
	ended("child", pid);
}

/* Group 0 is the caller's, whoever makes the call for it. */
static void own_group(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		say("setpriority of the own group", setpriority(PRIO_PGRP, 0, 7));
		say("  is", getpriority(PRIO_PROCESS, 0));
		say("ioprio_set of the own group", syscall(SYS_ioprio_set, IOPRIO_WHO_PGRP, 0,
		                                           IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 5)));
		say("  is", syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0));
		fflush(stdout);
		_exit(0);
	}
	ended("child", pid);
}

/* ---- owners ----------------------------------------------------------- */

static void owners(void)
{
	struct f_owner_ex ex = {.type = F_OWNER_TID, .pid = gettid()};
	int pair[2];
	int number = getpid();
	int hold;
	pid_t pid = child(&hold);

	catch (SIGIO);
	catch (SIGUSR2);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	say("F_SETOWN", fcntl(pair[0], F_SETOWN, getpid()));
	printf("%-40s %d\n", "F_GETOWN", fcntl(pair[0], F_GETOWN) == getpid());
	fcntl(pair[0], F_SETFL, O_ASYNC);
	(void)!write(pair[1], "x", 1);
	while (!last_signal)
		usleep(1000);
	printf("%-40s %d\n", "SIGIO", last_signal);
	last_signal = 0;
	say("F_SETSIG", fcntl(pair[0], F_SETSIG, SIGUSR2));
	say("F_SETOWN_EX", fcntl(pair[0], F_SETOWN_EX, &ex));
	(void)!write(pair[1], "x", 1);
	while (!last_signal)
		usleep(1000);
	printf("%-40s %d\n", "the other signal", last_signal);
	say("FIOSETOWN", ioctl(pair[0], FIOSETOWN, &number));
	say("FIOSETOWN, no socket", ioctl(STDIN_FILENO, FIOSETOWN, &number));
	say("SIOCSPGRP, bad pointer", ioctl(pair[0], SIOCSPGRP, (void *)16));
	say("F_SETOWN to a child", fcntl(pair[0], F_SETOWN, pid));
	say("F_SETOWN to its group", fcntl(pair[0], F_SETOWN, -pid));
	say("F_SETOWN to nobody", fcntl(pair[0], F_SETOWN, 0));
	say("F_SETOWN, no such process", fcntl(pair[0], F_SETOWN, 999999999));
	say("F_SETSIG, no such signal", fcntl(pair[0], F_SETSIG, 99));
	say("F_SETOWN, no descriptor", fcntl(-1, F_SETOWN, getpid()));
	close(hold);
	ended("child", pid);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	to_self();
	to_child();
	to_thread();
	attributes();
	own_group();
	owners();
	everyone();
	return 0;
}
