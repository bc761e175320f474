/* A hostile program of the tree: tries everything that would touch wary, its
 * guardian, or another process of the user's, by number.
 *
 *   attack_self processes PID…     each attempt on each process
 *   attack_self terminal           requests that type for the person
 *   attack_self everyone           signals to whoever there is
 *   attack_self peer               each attempt on who is said to be at the other end of
 *                                  a unix socket, with the handle of it that the kernel gives
 *
 * Prints a line for each attempt: its name, the number, and "DONE" or the errno.
 * rows: kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal
 * rows: ptrace process_vm_readv process_vm_writev process_madvise
 * rows: process_mrelease kcmp pidfd_getfd perf_event_open prlimit64 setpriority
 * rows: sched_setaffinity sched_setscheduler sched_setparam sched_setattr
 * rows: ioprio_set migrate_pages move_pages fcntl ioctl */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* SO_PEERPIDFD, which older headers lack. */
#define PEERPIDFD 77

static int handle = -1; /* pidfd of the target, where one is given */

static long by_kill(pid_t p)
{
	return kill(p, SIGURG);
}

/* The target's whole group, which no process of the tree is in. */
static long by_kill_group(pid_t p)
{
	return kill(-p, SIGURG);
}

static long by_tkill(pid_t p)
{
	return syscall(SYS_tkill, p, SIGURG);
}

static long by_tgkill(pid_t p)
{
	return syscall(SYS_tgkill, p, p, SIGURG);
}

static long by_queue(pid_t p)
{
	siginfo_t i = {.si_code = SI_QUEUE, .si_signo = SIGURG};

	return syscall(SYS_rt_sigqueueinfo, p, SIGURG, &i);
}

static long by_queue_to_thread(pid_t p)
{
	siginfo_t i = {.si_code = SI_QUEUE, .si_signo = SIGURG};

	return syscall(SYS_rt_tgsigqueueinfo, p, p, SIGURG, &i);
}

static long by_handle(pid_t p)
{
	(void)p;
	return syscall(SYS_pidfd_send_signal, handle, SIGURG, NULL, 0);
}

static long by_handle_to_group(pid_t p)
{
	(void)p;
	return syscall(SYS_pidfd_send_signal, handle, SIGURG, NULL, 4);
}

static long attach(pid_t p)
{
	return ptrace(PTRACE_ATTACH, p, NULL, NULL);
}

static long seize(pid_t p)
{
	return ptrace(PTRACE_SEIZE, p, NULL, NULL);
}

static char bytes[8];

static long read_memory(pid_t p)
{
	struct iovec here = {bytes, sizeof bytes};
	struct iovec there = {bytes, sizeof bytes};

	return process_vm_readv(p, &here, 1, &there, 1, 0);
}

static long write_memory(pid_t p)
{
	struct iovec here = {bytes, sizeof bytes};
	struct iovec there = {bytes, sizeof bytes};

	return process_vm_writev(p, &here, 1, &there, 1, 0);
}

static long advise(pid_t p)
{
	struct iovec there = {bytes, sizeof bytes};

	(void)p;
	return syscall(SYS_process_madvise, handle, &there, 1, 4, 0);
}

static long release(pid_t p)
{
	(void)p;
	return syscall(SYS_process_mrelease, handle, 0);
}

static long compare(pid_t p)
{
	return syscall(SYS_kcmp, getpid(), p, 2, 0, 0);
}

static long take_descriptor(pid_t p)
{
	(void)p;
	return syscall(SYS_pidfd_getfd, handle, 1, 0);
}

static long measure(pid_t p)
{
	struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE, .size = sizeof a};

	return syscall(SYS_perf_event_open, &a, p, -1, -1, 0);
}

static long limit(pid_t p)
{
	struct rlimit none = {0, 0};

	return prlimit(p, RLIMIT_NOFILE, &none, NULL);
}

static long limit_looked_at(pid_t p)
{
	struct rlimit is;

	return prlimit(p, RLIMIT_NOFILE, NULL, &is);
}

static long be_nice(pid_t p)
{
	return setpriority(PRIO_PROCESS, (id_t)p, 19);
}

/* Natively this would reach every process of the user's (root's: the kernel's
 * too), so it is made under wary alone, where it must not; and to what most are
 * at already. */
static long be_nice_to_user(pid_t p)
{
	(void)p;
	if (!getenv("WARY_ATTACK")) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return setpriority(PRIO_USER, getuid(), 0);
}

static long pin(pid_t p)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	return sched_setaffinity(p, sizeof one, &one);
}

static long set_scheduler(pid_t p)
{
	struct sched_param none = {0};

	return sched_setscheduler(p, SCHED_IDLE, &none);
}

static long set_param(pid_t p)
{
	struct sched_param none = {0};

	return sched_setparam(p, &none);
}

static long set_attr(pid_t p)
{
	uint32_t idle[14] = {56, SCHED_IDLE};

	return syscall(SYS_sched_setattr, p, idle, 0);
}

static long set_io(pid_t p)
{
	return syscall(SYS_ioprio_set, 1, p, 3 << 13);
}

static long migrate(pid_t p)
{
	unsigned long node = 1;

	return syscall(SYS_migrate_pages, p, 64, &node, &node);
}

static long move(pid_t p)
{
	void *page = bytes;
	int node = 0;
	int status = 0;

	return syscall(SYS_move_pages, p, 1, &page, &node, &status, 2);
}

static long own_signals(pid_t p)
{
	int s[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0 ? fcntl(s[0], F_SETOWN, p) : 0;
}

static long own_signals_ex(pid_t p)
{
	struct f_owner_ex owner = {F_OWNER_TID, p};
	int s[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0 ? fcntl(s[0], F_SETOWN_EX, &owner) : 0;
}

static long own_signals_by_request(pid_t p)
{
	int s[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0 ? ioctl(s[0], 0x8901, &p) : 0;
}

static long own_signals_of_socket(pid_t p)
{
	int s[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0 ? ioctl(s[0], 0x8902, &p) : 0;
}

static long time_out(pid_t p)
{
	struct sigevent e = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGURG};
	timer_t t;

	e._sigev_un._tid = p;
	return timer_create(CLOCK_MONOTONIC, &e, &t);
}

static long join_group(pid_t p)
{
	return setpgid(p, getpgrp());
}

static long open_in(pid_t p, const char *name, int flags)
{
	char path[128];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)p, name);
	return open(path, flags);
}

static long open_memory(pid_t p)
{
	return open_in(p, "mem", O_RDWR);
}

static long open_environment(pid_t p)
{
	return open_in(p, "environ", O_RDONLY);
}

static long open_maps(pid_t p)
{
	return open_in(p, "maps", O_RDONLY);
}

static long open_output(pid_t p)
{
	return open_in(p, "fd/1", O_WRONLY);
}

static long open_root(pid_t p)
{
	return open_in(p, "root/etc/passwd", O_RDONLY);
}

static long open_by_thread(pid_t p)
{
	char name[64];

	snprintf(name, sizeof name, "task/%d/mem", (int)p);
	return open_in(p, name, O_RDWR);
}

static long score(pid_t p)
{
	return open_in(p, "oom_score_adj", O_WRONLY);
}

static long rename_it(pid_t p)
{
	return open_in(p, "comm", O_WRONLY);
}

static const struct attempt {
	const char *name;
	long (*make)(pid_t p);
} attempts[] = {
	{"kill", by_kill},
	{"kill_group", by_kill_group},
	{"tkill", by_tkill},
	{"tgkill", by_tgkill},
	{"rt_sigqueueinfo", by_queue},
	{"rt_tgsigqueueinfo", by_queue_to_thread},
	{"pidfd_send_signal", by_handle},
	{"pidfd_send_signal_group", by_handle_to_group},
	{"ptrace_attach", attach},
	{"ptrace_seize", seize},
	{"process_vm_readv", read_memory},
	{"process_vm_writev", write_memory},
	{"process_madvise", advise},
	{"process_mrelease", release},
	{"kcmp", compare},
	{"pidfd_getfd", take_descriptor},
	{"perf_event_open", measure},
	{"prlimit_set", limit},
	{"prlimit_get", limit_looked_at},
	{"setpriority", be_nice},
	{"setpriority_user", be_nice_to_user},
	{"sched_setaffinity", pin},
	{"sched_setscheduler", set_scheduler},
	{"sched_setparam", set_param},
	{"sched_setattr", set_attr},
	{"ioprio_set", set_io},
	{"migrate_pages", migrate},
	{"move_pages", move},
	{"F_SETOWN", own_signals},
	{"F_SETOWN_EX", own_signals_ex},
	{"FIOSETOWN", own_signals_by_request},
	{"SIOCSPGRP", own_signals_of_socket},
	{"timer_create", time_out},
	{"setpgid", join_group},
	{"proc_mem", open_memory},
	{"proc_task_mem", open_by_thread},
	{"proc_environ", open_environment},
	{"proc_maps", open_maps},
	{"proc_fd", open_output},
	{"proc_root", open_root},
	{"proc_oom_score_adj", score},
	{"proc_comm", rename_it},
};

static void tell(const char *name, pid_t p, long result)
{
	if (result >= 0)
		printf("%s %d DONE\n", name, (int)p);
	else
		printf("%s %d %s\n", name, (int)p, strerrorname_np(errno));
	fflush(stdout);
}

static void try_all(pid_t p)
{
	for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
		errno = 0;
		tell(attempts[i].name, p, attempts[i].make(p));
	}
	close(handle);
}

static void on_process(pid_t p)
{
	handle = (int)syscall(SYS_pidfd_open, p, 0);
	try_all(p);
}

/* wary connects, so that its own is the number that the kernel notes. */
static void on_peer(void)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "peer.sock"};
	struct ucred peer = {0};
	socklen_t len = sizeof peer;
	socklen_t handle_len = sizeof handle;
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int taken;

	(void)unlink(un.sun_path);
	if (bind(server, (struct sockaddr *)&un, sizeof un) != 0 || listen(server, 1) != 0 ||
	    connect(fd, (struct sockaddr *)&un, sizeof un) != 0)
		return;
	taken = accept(server, NULL, NULL);
	if (getsockopt(taken, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return;
	if (getsockopt(taken, SOL_SOCKET, PEERPIDFD, &handle, &handle_len) != 0)
		handle = -1; /* before Linux 6.5 */
	printf("peer %d %s\n", (int)peer.pid, handle >= 0 ? "handle" : "number");
	fflush(stdout);
	try_all(peer.pid);
}

/* On descriptor 0, in every spelling of 64 bits that the kernel cuts to 32. */
static void on_terminal(void)
{
	static const struct {
		const char *name;
		unsigned long request;
	} requests[] = {{"TIOCSTI", 0x5412},
	                {"TIOCLINUX", 0x541c},
	                {"TIOCSETD", 0x5423},
	                {"TIOCCONS", 0x541d}};
	static const unsigned long high[] = {0, 1UL << 32, 0xffffffffUL << 32, 1UL << 63};
	char key[4] = "x";

	for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
		for (size_t k = 0; k < sizeof high / sizeof high[0]; k++)
			tell(requests[i].name, (pid_t)k,
			     syscall(SYS_ioctl, 0, requests[i].request | high[k], key));
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "terminal") == 0)
		on_terminal();
	if (strcmp(argv[1], "processes") == 0)
		for (int i = 2; i < argc; i++)
			on_process((pid_t)atoi(argv[i]));
	if (strcmp(argv[1], "peer") == 0)
		on_peer();
	if (strcmp(argv[1], "everyone") == 0) {
		signal(SIGUSR1, SIG_IGN);
		tell("kill_everyone", -1, kill(-1, SIGUSR1));
		tell("kill_own_group", 0, kill(0, SIGUSR1));
	}
	return 0;
}
