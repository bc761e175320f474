#include "trap/trial.h"

#include "base/own.h"
#include "trap/command.h"
#include "trap/notify.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define TRIAL_TIMEOUT_MS 30000
#define CONTAINER "a container's seccomp profile, AppArmor or an older kernel may refuse it"

static int fails(struct trial_failure *why, const char *what, const char *hint, int error)
{
	*why = (struct trial_failure){.what = what, .hint = hint, .error = error};
	return -ERR_UNSUPPORTED;
}

int trial_kernel(struct trial_failure *why)
{
	struct seccomp_notif_sizes sizes;

	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0)
		return fails(why, "user notification (SECCOMP_GET_NOTIF_SIZES)", CONTAINER, errno);
	if (sizes.seccomp_notif > sizeof(struct seccomp_notif) ||
	    sizes.seccomp_notif_resp > sizeof(struct seccomp_notif_resp) ||
	    sizes.seccomp_data != sizeof(struct seccomp_data))
		return fails(why, "user notification", "this kernel is newer than this wary", 0);
	/* No process has number 0: ESRCH says that the call itself is allowed. */
	if (ptrace(PTRACE_SEIZE, 0, NULL, NULL) == 0 || errno != ESRCH)
		return fails(why, "tracing a program's start (ptrace)", CONTAINER, errno);
	/* Nothing to unshare: the kernel is asked for nothing but leave. Each worker
	 * has a folder and umask of its own by this call. */
	if (unshare(0) != 0)
		return fails(why, "a thread's own folder and umask (unshare)", CONTAINER, errno);
	return 0;
}

static int try_memory(const struct seccomp_notif *n, struct trial_failure *why)
{
	char text[sizeof COMMAND_TRIAL_PATH];
	struct iovec here = {text, sizeof text};
	struct iovec there = {(void *)(uintptr_t)n->data.args[1], sizeof text};

	if (process_vm_readv((pid_t)n->pid, &here, 1, &there, 1, 0) != (ssize_t)sizeof text)
		return fails(why, "reading a supervised program's memory (process_vm_readv)",
		             CONTAINER ", or Yama's ptrace_scope is above 1", errno);
	if (memcmp(text, COMMAND_TRIAL_PATH, sizeof text) != 0)
		return fails(why, "the trial call", "it is not the one that was to be made", 0);
	return 0;
}

static int answer(int listener_fd, const struct seccomp_notif *n, struct trial_failure *why)
{
	auto_fd fd = eventfd(0, EFD_CLOEXEC);
	long added;
	int err = try_memory(n, why);

	if (err != 0)
		return err;
	if (notify_valid(listener_fd, n->id) != 0)
		return fails(why, "checking a call (SECCOMP_IOCTL_NOTIF_ID_VALID)", CONTAINER,
		             errno);
	added = fd < 0 ? -errno : notify_add_fd(listener_fd, n->id, fd, 0, -1);
	if (added < 0)
		return fails(why, "adding a descriptor (SECCOMP_IOCTL_NOTIF_ADDFD)", CONTAINER,
		             (int)-added);
	notify_send(listener_fd, n->id, added);
	return 0;
}

int trial_listener(int listener_fd, int go_fd, struct trial_failure *why)
{
	struct pollfd p = {.fd = listener_fd, .events = POLLIN};
	struct seccomp_notif n;
	int err;

	if (write(go_fd, "t", 1) != 1 || poll(&p, 1, TRIAL_TIMEOUT_MS) != 1 || p.revents != POLLIN)
		return fails(why, "waiting for a supervised call", CONTAINER, 0);
	err = notify_receive(listener_fd, &n);
	if (err != 0)
		return fails(why, "receiving a call (SECCOMP_IOCTL_NOTIF_RECV)", CONTAINER, -err);
	return answer(listener_fd, &n, why);
}
