#include "trap/exec.h"

#include "base/uses.h"
#include "tracee/regs.h"
#include "trap/notify.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

USES(kill, ptrace_stop, wait4);

/* A caller can be beyond seizing for a moment, while a sibling's exec or exit
 * passes: so often, and so long apart, it is tried again. */
#define SEIZE_TRIES 200
#define SEIZE_PAUSE_NS 1000000L

/* The kernel's own codes for "call again", seen only at a stop. */
#define RESTART_FIRST 512
#define RESTART_LAST 516

struct session {
	int listener_fd;
	uint64_t id;
	pid_t tid;
	const struct exec_watch *watch;
	struct exec_result *out;
	bool judged; /* one outcome has been taken; what follows is leftovers */
};

static bool valid(const struct session *s)
{
	return notify_valid(s->listener_fd, s->id) == 0;
}

/* Returns 0, or the errno for which the caller cannot be traced. */
static int seize(const struct session *s)
{
	const struct timespec pause = {.tv_nsec = SEIZE_PAUSE_NS};
	const unsigned long options = PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;

	for (unsigned i = 0;; i++) {
		int error;

		if (ptrace(PTRACE_SEIZE, s->tid, NULL, (void *)options) == 0)
			return 0;
		error = errno;
		if (error == ESRCH || i == SEIZE_TRIES || !valid(s))
			return error;
		(void)nanosleep(&pause, NULL);
	}
}

/* Lets a stopped task go on untraced; a signal it stopped for is delivered. */
static void let_go(pid_t pid, int status)
{
	long sig = status >> 16 ? 0 : WSTOPSIG(status);

	(void)ptrace(PTRACE_DETACH, pid, NULL, (void *)sig);
}

static void end(struct session *s, enum exec_end how, int error)
{
	if (s->judged)
		return;
	s->judged = true;
	s->out->end = how;
	s->out->error = error;
}

/* Stopped at a loaded program. */
static void at_exec(struct session *s, pid_t pid, int status)
{
	/* An exec that nobody judged cannot come through here but by an error
	 * of wary's own: it must not run. */
	if (!s->judged && s->watch->loaded(s->watch->ctx, pid)) {
		end(s, EXEC_LOADED, 0);
		let_go(pid, status);
		return;
	}
	end(s, EXEC_KILLED, 0);
	(void)kill(pid, SIGKILL);
	/* A dead tracee is not detached: it is waited for. */
}

/* Stopped where the call has returned, by the interrupt or a signal. */
static void at_return(struct session *s, pid_t pid, int status)
{
	struct regs regs;
	long result = 0;

	if (!s->judged && regs_read(pid, &regs) == 0)
		result = regs_result(&regs);
	if (result <= -RESTART_FIRST && result >= -RESTART_LAST)
		end(s, EXEC_RESTARTS, 0);
	else
		end(s, EXEC_FAILED, (int)-result);
	let_go(pid, status);
}

/* Waits until no tracee is left (invariant 2). */
static void drain(struct session *s)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, __WALL | __WNOTHREAD);

		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			break; /* ECHILD */
		if (!WIFSTOPPED(status))
			end(s, EXEC_DIED, 0);
		else if (status >> 16 == PTRACE_EVENT_EXEC)
			at_exec(s, pid, status);
		else
			at_return(s, pid, status);
	}
	end(s, EXEC_GONE, 0);
}

void exec_run(int listener_fd, uint64_t id, pid_t tid, const struct exec_watch *watch,
              struct exec_result *out)
{
	struct session s = {
		.listener_fd = listener_fd,
		.id = id,
		.tid = tid,
		.watch = watch,
		.out = out,
	};
	int error = seize(&s);

	if (error == ESRCH || (error && !valid(&s))) {
		end(&s, EXEC_GONE, 0);
		return;
	}
	if (error) {
		end(&s, EXEC_BUSY, error);
		return;
	}
	/* Only now is it certain who was seized: the caller, or whoever has its
	 * number meanwhile.  The latter is stopped and let go. */
	if (!valid(&s))
		end(&s, EXEC_GONE, 0);
	(void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	if (!s.judged)
		notify_continue(listener_fd, id);
	drain(&s);
}
