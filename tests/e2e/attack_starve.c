/* A hostile tree that tries to use up what wary has: processes, threads,
 * descriptors, calls, callers that die on the way, calls that wait.
 *
 *   attack_starve MODE N
 *
 * In an empty folder of its own.  While the attack runs, a process beside it
 * makes its calls; prints how many attempts were made and how many of the other
 * process' calls were served, then waits for the end of its input. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SERVED = 300, BLOCKED_MAX = 400, STORMERS = 8, RIGHTS = 250 };

static int open_once(void)
{
	int fd = open("file", O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* ---- attacks: each returns how many attempts it made -------------------- */

static long nothing(long n)
{
	return n;
}

/* Programs that stay: each is on record, and its end is waited for. */
static long programs(long n)
{
	pid_t *all = calloc((size_t)n, sizeof *all);
	long made = 0;

	while (all && made < n) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (pid == 0) {
			execlp("sleep", "sleep", "1000", (char *)NULL);
			_exit(1);
		}
		all[made++] = pid;
	}
	/* The last to be started is at its work once its name is sleep's. */
	for (long i = 0; i < made; i++) {
		char path[64];
		char name[32] = "";

		snprintf(path, sizeof path, "/proc/%d/comm", (int)all[i]);
		while (strncmp(name, "sleep", 5) != 0 && waitpid(all[i], NULL, WNOHANG) == 0) {
			int fd = open(path, O_RDONLY | O_CLOEXEC);

			(void)!read(fd, name, sizeof name - 1);
			close(fd);
			sched_yield();
		}
	}
	for (long i = 0; i < made; i++) {
		kill(all[i], SIGKILL);
		waitpid(all[i], NULL, 0);
	}
	free(all);
	return made;
}

/* Processes that make processes, until the kernel says no or there are n. */
static void bomb(_Atomic long *made, long n)
{
	while (atomic_load(made) < n) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (pid == 0) {
			atomic_fetch_add(made, 1);
			(void)open_once();
		}
	}
	_exit(0);
}

static long fork_bomb(long n)
{
	_Atomic long *made =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (made == MAP_FAILED)
		return 0;
	pid = fork();
	if (pid == 0)
		bomb(made, n);
	waitpid(pid, NULL, 0);
	return atomic_load(made);
}

static void *one_thread(void *arg)
{
	(void)arg;
	(void)open_once();
	return NULL;
}

/* As many threads at once as there may be, each with a call. */
static long threads(long n)
{
	pthread_t *t = calloc((size_t)n, sizeof *t);
	pthread_attr_t small;
	long made = 0;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	while (t && made < n && pthread_create(&t[made], &small, one_thread, NULL) == 0)
		made++;
	for (long i = 0; i < made; i++)
		pthread_join(t[i], NULL);
	free(t);
	return made;
}

/* One thread after the other, each with a call. */
static long brief(long n)
{
	pthread_t t;
	long made = 0;

	while (made < n && pthread_create(&t, NULL, one_thread, NULL) == 0) {
		pthread_join(t, NULL);
		made++;
	}
	return made;
}

/* Descriptors until there are no more, then some that cannot be had. */
static long descriptors(long n)
{
	struct rlimit most;
	long made = 0;
	int last = -1;

	getrlimit(RLIMIT_NOFILE, &most);
	most.rlim_cur = most.rlim_max < (rlim_t)n ? most.rlim_max : (rlim_t)n;
	setrlimit(RLIMIT_NOFILE, &most);
	for (int fd; made < n && (fd = open("file", O_RDONLY)) >= 0; made++)
		last = fd;
	for (int i = 0; i < 100; i++)
		made += open("made_at_the_limit", O_RDWR | O_CREAT | O_EXCL, 0600) < 0;
	for (int fd = 3; fd <= last; fd++)
		close(fd);
	return made;
}

static long storm(long n)
{
	pid_t pids[STORMERS];

	for (int i = 0; i < STORMERS; i++) {
		pids[i] = fork();
		for (long k = 0; pids[i] == 0 && k < n / STORMERS; k++)
			(void)open_once();
		if (pids[i] == 0)
			_exit(0);
	}
	for (int i = 0; i < STORMERS; i++)
		waitpid(pids[i], NULL, 0);
	return n;
}

/* What a caller is in the middle of when it is killed. */
static void one_of(long i)
{
	char *const argv[] = {(char *)"true", NULL};
	char link[4096];

	for (;;)
		switch (i % 5) {
		case 0:
			(void)open_once();
			break;
		case 1:
			(void)!open("fifo", O_RDONLY);
			break;
		case 2:
			execv("/bin/true", argv);
			break;
		case 3:
			(void)!readlink("/proc/self/exe", link, sizeof link);
			(void)!rename("from", "to");
			break;
		default:
			if (fork() == 0)
				_exit(0);
			(void)wait(NULL);
			break;
		}
}

/* Callers that are killed at every stage of a call. */
static long dying(long n)
{
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0)
			one_of(i);
		usleep((useconds_t)(i * 37 % 1500));
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	return n;
}

/* More calls that wait than wary has room for. */
static long waiting(long n)
{
	pid_t pids[BLOCKED_MAX];
	long made = 0;

	for (; made < n && made < BLOCKED_MAX; made++) {
		pids[made] = fork();
		if (pids[made] < 0)
			break;
		if (pids[made] == 0) {
			while (open("fifo", O_RDONLY) < 0 && errno == EAGAIN)
				usleep(10000);
			pause();
		}
	}
	usleep(300000);
	for (long i = 0; i < made; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	return made;
}

/* Messages that carry as many descriptors as one may, which wary gets too. */
static long rights(long n)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(RIGHTS * sizeof(int))];
	} control;
	char byte = 'x';
	struct iovec v = {&byte, 1};
	int fds[RIGHTS];
	int s[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, s) != 0)
		return 0;
	for (int i = 0; i < RIGHTS; i++)
		fds[i] = s[0];
	for (long i = 0; i < n; i++) {
		struct msghdr m = {.msg_iov = &v,
		                   .msg_iovlen = 1,
		                   .msg_control = &control,
		                   .msg_controllen = sizeof control.bytes};

		memset(&control, 0, sizeof control);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof fds);
		memcpy(CMSG_DATA(&control.head), fds, sizeof fds);
		(void)sendmsg(s[0], &m, MSG_DONTWAIT);
		m = (struct msghdr){.msg_iov = &v, .msg_iovlen = 1};
		(void)recvmsg(s[1], &m, MSG_DONTWAIT);
	}
	return n;
}

static const struct {
	const char *name;
	long (*run)(long n);
} modes[] = {
	{"nothing", nothing},   {"fork_bomb", fork_bomb},
	{"threads", threads},   {"descriptors", descriptors},
	{"storm", storm},       {"dying", dying},
	{"waiting", waiting},   {"rights", rights},
	{"programs", programs}, {"brief", brief},
};

/* Beside the attack. The status says how many hundredths were served. */
static pid_t start_other(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		int served = 0;

		for (int i = 0; i < SERVED; i++) {
			served += open_once();
			usleep(200);
		}
		_exit(served * 100 / SERVED);
	}
	return pid;
}

int main(int argc, char **argv)
{
	long n = argc == 3 ? atol(argv[2]) : 0;
	char byte;

	close(open("file", O_CREAT | O_RDWR, 0600));
	close(open("from", O_CREAT | O_RDWR, 0600));
	(void)mkfifo("fifo", 0600);
	for (size_t i = 0; argc == 3 && i < sizeof modes / sizeof modes[0]; i++) {
		pid_t other;
		int status = 0;
		long made;

		if (strcmp(modes[i].name, argv[1]) != 0)
			continue;
		other = start_other();
		made = modes[i].run(n);
		waitpid(other, &status, 0);
		printf("made %ld served %d\n", made, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
		fflush(stdout);
		return read(0, &byte, 1) < 0;
	}
	return 2;
}
