#include "answer/pen.h"

#include "base/own.h"
#include "base/uses.h"

#include <errno.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

USES(landlock_add_rule, landlock_create_ruleset, landlock_restrict_self, prctl_no_new_privs);

#define PEN_STACK_BYTES ((size_t)64 << 10)

struct pen {
	int folder_fd;
	uint64_t access;
	void (*step)(void *ctx);
	void *ctx;
	int err;
};

static const uint64_t accesses[] = {
	[PEN_MAKE_SOCKET] = LANDLOCK_ACCESS_FS_MAKE_SOCK,
};

static int enter(const struct pen *p)
{
	struct landlock_ruleset_attr attr = {.handled_access_fs = p->access};
	struct landlock_path_beneath_attr beneath = {.allowed_access = p->access,
	                                             .parent_fd = p->folder_fd};
	auto_fd rules =
		(int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr.handled_access_fs, 0);

	if (rules < 0)
		return errno == ENOSYS || errno == EOPNOTSUPP ? -ERR_UNSUPPORTED : -ERR_SYS;
	if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) != 0)
		return -ERR_SYS;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_landlock_restrict_self, rules, 0) != 0)
		return -ERR_SYS;
	return 0;
}

static void *run(void *ctx)
{
	struct pen *p = ctx;

	p->err = enter(p);
	if (p->err == 0)
		p->step(p->ctx);
	return NULL;
}

int pen_run(int folder_fd, enum pen_allow what, void (*step)(void *ctx), void *ctx)
{
	struct pen p = {.folder_fd = folder_fd, .access = accesses[what], .step = step, .ctx = ctx};
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	if (pthread_attr_init(&attr) != 0)
		return -ERR_NOMEM;
	err = pthread_attr_setstacksize(&attr, PEN_STACK_BYTES);
	if (err == 0)
		err = pthread_create(&thread, &attr, run, &p);
	pthread_attr_destroy(&attr);
	if (err != 0)
		return -ERR_NOMEM;
	invariant(pthread_join(thread, NULL) == 0);
	return p.err;
}
