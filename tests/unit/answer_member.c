/* answer/member: a group of which not every process can be looked at. */
#include "answer/member.h"

#include "supervise.h"
#include "tests/unit/tap.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#define DESCRIPTORS 64u

static int count(void *ctx, const struct member *m)
{
	(void)m;
	++*(int *)ctx;
	return 0;
}

int main(void)
{
	struct supervisor sup = {.wary_pid = -1, .guardian_pid = -1};
	struct request r = {.sup = &sup};
	struct rlimit kept;
	struct rlimit few;
	int called = 0, last = -1;

	getrlimit(RLIMIT_NOFILE, &kept);
	few = kept;
	few.rlim_cur = DESCRIPTORS;
	setrlimit(RLIMIT_NOFILE, &few);
	for (int fd; (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;)
		last = fd;
	tap_ok(last > 0, "no descriptor is left");
	close(last); /* but one: for the folder /proc */
	tap_is_int(member_each(&r, getpgrp(), count, &called), -ERR_NOFD,
	           "a group that cannot be looked at is not an empty one");
	tap_is_int(called, 0, "nobody was found");
	setrlimit(RLIMIT_NOFILE, &kept); /* a sanitizer looks around at the end */
	return tap_done();
}
