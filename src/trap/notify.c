#include "trap/notify.h"

#include "base/uses.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

USES(ioctl_listener);

int notify_receive(int listener_fd, struct seccomp_notif *out)
{
	memset(out, 0, sizeof *out); /* the kernel wants it so */
	return ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_RECV, out) == 0 ? 0 : -errno;
}

int notify_valid(int listener_fd, uint64_t id)
{
	int got;

	/* Interrupted it says nothing; a caller that is taken for gone waits for ever. */
	do
		got = ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id);
	while (got < 0 && errno == EINTR);
	return got == 0 ? 0 : -ERR_GONE;
}

long notify_add_fd(int listener_fd, uint64_t id, int fd, unsigned fd_flags, int at_fd)
{
	struct seccomp_notif_addfd add = {
		.id = id,
		.srcfd = (uint32_t)fd,
		.newfd_flags = fd_flags,
		.newfd = at_fd < 0 ? 0 : (uint32_t)at_fd,
		.flags = at_fd < 0 ? 0u : (uint32_t)SECCOMP_ADDFD_FLAG_SETFD,
	};
	int got;

	do
		got = ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

static void send(int listener_fd, struct seccomp_notif_resp *resp)
{
	while (ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_SEND, resp) != 0)
		if (errno != EINTR)
			return; /* ENOENT: the caller has left */
}

void notify_send(int listener_fd, uint64_t id, long value)
{
	struct seccomp_notif_resp resp = {.id = id};

	/* Errors are small; a result may be any other number (a file's offset
	 * or an address is never answered here). */
	if (value < 0 && value > -4096)
		resp.error = (int)value;
	else
		resp.val = value;
	send(listener_fd, &resp);
}

void notify_continue(int listener_fd, uint64_t id)
{
	struct seccomp_notif_resp resp = {.id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

	send(listener_fd, &resp);
}
