#include "trap/launch.h"

#include "base/own.h"
#include "base/uses.h"
#include "trap/privilege.h"
#include "trap/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

USES(recvfrom, sendto, wait4);
USED_BEFORE(clone, ioctl, pidfd_getfd, pidfd_open, pipe2, prctl, socketpair);

enum state { STATE_STARTING, STATE_FORKED, STATE_LISTENING, STATE_FAILED };

/* linux/seccomp.h since 6.6 */
#define NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define NOTIF_SYNC_WAKE_UP 1UL

struct launch {
	struct launch_config config;
	struct launch_info info;
	struct trial_failure failure;
	pthread_t thread;
	int channel_fd[2]; /* wary's end, the guardian's end */
	int ready_fd[2];
	int go_fd[2];
	int wary_pidfd;
	/* Below: under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum state state;
	int (*run)(void *ctx);
	void *run_ctx;
	int run_result;
	bool ending;
};

static int fails(struct launch *l, const char *what, const char *hint, int error)
{
	l->failure = (struct trial_failure){.what = what, .hint = hint, .error = error};
	return -ERR_UNSUPPORTED;
}

static void set_state(struct launch *l, enum state state)
{
	pthread_mutex_lock(&l->lock);
	l->state = state;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

/* ---- the launcher thread ------------------------------------------------ */

static _Noreturn void become_guardian(struct launch *l)
{
	const struct guardian g = {
		.command = {.argv = l->config.argv,
	                    .envp = l->config.envp,
	                    .inherit = l->config.inherit,
	                    .stat = l->config.stat,
	                    .scoped = l->info.boundary.signals,
	                    .ready_fd = l->ready_fd[1],
	                    .go_fd = l->go_fd[0]},
		.channel_fd = l->channel_fd[1],
		.wary_pidfd = l->wary_pidfd,
		.scoped = l->info.boundary.signals,
		.watched = &l->config.inherit->watched,
	};

	/* Wary's own ends: their closing is what tells the other side. */
	(void)close(l->channel_fd[0]);
	(void)close(l->ready_fd[0]);
	(void)close(l->go_fd[1]);
	guardian_run(&g);
}

static int fork_guardian(struct launch *l)
{
	int err = boundary_enter(l->config.policy, &l->info.boundary);

	if (err != 0)
		return fails(l, "the second boundary (Landlock)", NULL, -err);
	/* Workers wear the caller's rights: they need no more than a tree may
	 * have, but to trace it. */
	err = privilege_drop(privilege_forbidden() & ~PRIVILEGE_BIT(CAP_SYS_PTRACE));
	if (err != 0)
		return fails(l, "dropping capabilities", NULL, -err);
	l->info.guardian_pid = fork();
	if (l->info.guardian_pid == 0)
		become_guardian(l);
	if (l->info.guardian_pid < 0)
		return fails(l, "starting a process (fork)", NULL, errno);
	fd_drop(&l->channel_fd[1]);
	fd_drop(&l->ready_fd[1]);
	fd_drop(&l->go_fd[0]);
	return 0;
}

static const char *hint_of(const struct command_ready *r)
{
	if (r->step != COMMAND_FILTER)
		return NULL;
	switch (-r->result) {
	case EBUSY:
		return "it is supervised already, and the kernel allows one supervisor: "
		       "is this wary inside wary?";
	case EINVAL:
		return "Linux 5.19 or newer is needed";
	default:
		return "a container's seccomp profile may refuse it";
	}
}

static int wait_for_command(struct launch *l, struct command_ready *r)
{
	static const char *const steps[] = {
		[COMMAND_INHERIT] = "limits and signals of the command",
		[COMMAND_PRIVILEGE] = "dropping the command's capabilities",
		[COMMAND_FILTER] = "putting the command under supervision (seccomp)",
	};
	struct guardian_message m;
	ssize_t got;

	if (recv(l->channel_fd[0], &m, sizeof m, 0) != (ssize_t)sizeof m ||
	    m.kind != GUARDIAN_STARTED)
		return fails(l, "starting the guardian", NULL, 0);
	l->info.command_pid = m.pid;
	do
		got = read(l->ready_fd[0], r, sizeof *r);
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof *r || r->step < 0 || r->step > COMMAND_FILTER)
		return fails(l, "starting the command", NULL, 0);
	if (r->result < 0)
		return fails(l, steps[r->step], hint_of(r), -r->result);
	return 0;
}

static int take_listener(struct launch *l, int number)
{
	auto_fd pidfd = (int)syscall(SYS_pidfd_open, l->info.command_pid, 0);

	if (pidfd < 0)
		return fails(l, "a handle of the command (pidfd_open)", NULL, errno);
	l->info.listener_fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	if (l->info.listener_fd < 0)
		return fails(l, "taking the listener (pidfd_getfd)",
		             "ptrace of one's own children may be refused here: Yama's "
		             "ptrace_scope is above 1, or a container's seccomp profile",
		             errno);
	/* Linux 6.6: who notifies hands its processor over. Only a speed-up. */
	(void)ioctl(l->info.listener_fd, NOTIF_SET_FLAGS, NOTIF_SYNC_WAKE_UP);
	return 0;
}

static int listen_to_command(struct launch *l)
{
	struct command_ready ready;
	int err = wait_for_command(l, &ready);

	if (err == 0)
		err = take_listener(l, ready.result);
	if (err == 0)
		err = trial_listener(l->info.listener_fd, l->go_fd[1], &l->failure);
	fd_drop(&l->ready_fd[0]);
	return err;
}

/* Runs what it is asked to, until the end. */
static void serve(struct launch *l)
{
	pthread_mutex_lock(&l->lock);
	for (;;) {
		while (!l->run && !l->ending)
			pthread_cond_wait(&l->changed, &l->lock);
		if (!l->run)
			break;
		pthread_mutex_unlock(&l->lock);
		l->run_result = l->run(l->run_ctx);
		pthread_mutex_lock(&l->lock);
		l->run = NULL;
		pthread_cond_broadcast(&l->changed);
	}
	pthread_mutex_unlock(&l->lock);
}

static void *launcher(void *arg)
{
	struct launch *l = arg;

	if (fork_guardian(l) != 0) {
		set_state(l, STATE_FAILED);
		return NULL;
	}
	set_state(l, STATE_FORKED);
	set_state(l, listen_to_command(l) == 0 ? STATE_LISTENING : STATE_FAILED);
	serve(l);
	return NULL;
}

/* ---- the rest of wary --------------------------------------------------- */

static int open_all(struct launch *l)
{
	l->wary_pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (l->wary_pidfd < 0)
		return fails(l, "a handle of a process (pidfd_open)",
		             "Linux 5.19 or newer is needed, or a container's seccomp profile "
		             "refuses it",
		             errno);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, l->channel_fd) != 0 ||
	    pipe2(l->ready_fd, O_CLOEXEC) != 0 || pipe2(l->go_fd, O_CLOEXEC) != 0)
		return fails(l, "a pipe to the command", NULL, errno);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
		return fails(l, "becoming the parent of orphans (PR_SET_CHILD_SUBREAPER)",
		             "is this wary inside wary?", errno);
	return trial_kernel(&l->failure);
}

static void close_all(struct launch *l)
{
	fd_drop(&l->info.listener_fd);
	fd_drop(&l->wary_pidfd);
	for (int i = 0; i < 2; i++) {
		fd_drop(&l->channel_fd[i]);
		fd_drop(&l->ready_fd[i]);
		fd_drop(&l->go_fd[i]);
	}
}

static enum state wait_past(struct launch *l, enum state state)
{
	enum state now;

	pthread_mutex_lock(&l->lock);
	while (l->state <= state)
		pthread_cond_wait(&l->changed, &l->lock);
	now = l->state;
	pthread_mutex_unlock(&l->lock);
	return now;
}

int launch_begin(const struct launch_config *c, struct launch **out, struct trial_failure *why)
{
	struct launch *l = calloc(1, sizeof *l);
	int err;

	*why = (struct trial_failure){.what = "memory", .error = ENOMEM};
	if (!l)
		return -ERR_NOMEM;
	*l = (struct launch){
		.config = *c,
		.info.listener_fd = -1,
		.wary_pidfd = -1,
		.channel_fd = {-1, -1},
		.ready_fd = {-1, -1},
		.go_fd = {-1, -1},
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};
	err = open_all(l);
	if (err == 0 && (errno = pthread_create(&l->thread, NULL, launcher, l)) != 0)
		err = fails(l, "a thread", NULL, errno);
	if (err == 0 && wait_past(l, STATE_STARTING) == STATE_FAILED && l->info.guardian_pid <= 0) {
		(void)pthread_join(l->thread, NULL);
		err = -ERR_UNSUPPORTED;
	}
	if (err != 0) {
		*why = l->failure;
		close_all(l);
		free(l);
		return err;
	}
	*out = l;
	return 0;
}

int launch_listen(struct launch *l, struct launch_info *out, struct trial_failure *why)
{
	if (wait_past(l, STATE_FORKED) == STATE_FAILED) {
		*why = l->failure;
		return -ERR_UNSUPPORTED;
	}
	*out = l->info;
	return 0;
}

int launch_inside(struct launch *l, int (*run)(void *ctx), void *ctx)
{
	int result;

	pthread_mutex_lock(&l->lock);
	invariant(!l->run && !l->ending);
	l->run = run;
	l->run_ctx = ctx;
	pthread_cond_broadcast(&l->changed);
	while (l->run)
		pthread_cond_wait(&l->changed, &l->lock);
	result = l->run_result;
	pthread_mutex_unlock(&l->lock);
	return result;
}

int launch_go(struct launch *l)
{
	ssize_t written = write(l->go_fd[1], "g", 1);

	fd_drop(&l->go_fd[1]);
	return written == 1 ? 0 : -ERR_SYS;
}

int launch_event_fd(const struct launch *l)
{
	return l->channel_fd[0];
}

int launch_event(struct launch *l, struct guardian_message *out)
{
	ssize_t got = recv(l->channel_fd[0], out, sizeof *out, MSG_DONTWAIT);

	if (got == (ssize_t)sizeof *out)
		return 0;
	return got < 0 && (errno == EAGAIN || errno == EINTR) ? -ERR_BUSY : -ERR_GONE;
}

static void tell(struct launch *l, enum guardian_kind kind, int value, pid_t sender)
{
	const struct guardian_message m = {(int32_t)kind, sender, value};

	/* Fails only where the guardian has gone, which is seen elsewhere. */
	(void)!send(l->channel_fd[0], &m, sizeof m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void launch_forward(struct launch *l, int signal, pid_t sender)
{
	tell(l, GUARDIAN_FORWARD, signal, sender);
}

static int kill_inside(void *ctx)
{
	const struct launch *l = ctx;

	tree_end(l->info.boundary.signals);
	return 0;
}

void launch_kill(struct launch *l, bool guardian_gone)
{
	if (guardian_gone)
		(void)launch_inside(l, kill_inside, l);
	else
		tell(l, GUARDIAN_END, 0, 0);
}

void launch_stop(struct launch *l)
{
	if (l->go_fd[1] >= 0) /* not let go: it may wait in its trial call */
		tell(l, GUARDIAN_END, 0, 0);
	fd_drop(&l->go_fd[1]);
	(void)waitpid(l->info.guardian_pid, NULL, __WALL);
}

void launch_free(struct launch *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->ending = true;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	(void)pthread_join(l->thread, NULL);
	close_all(l);
	free(l);
}
