#include "cmd/limits.h"

#include "base/log.h"
#include "base/uses.h"
#include "trap/inherit.h"

#include <inttypes.h>

USED_BEFORE(prlimit64);

/* A session takes 30 to start; calls need some each, at the same time. */
#define DESCRIPTORS_LEAST 64

/* Below these a start may fail; a machine that is set up for work has more. */
static const struct {
	int resource;
	rlim_t enough;
	unsigned shift; /* what ulimit counts in */
	const char *words;
} limits[] = {
	{RLIMIT_NOFILE, 256, 0, "descriptors (ulimit -n)"},
	{RLIMIT_NPROC, 256, 0, "processes of this user (ulimit -u)"},
	{RLIMIT_AS, (rlim_t)1 << 28, 10, "KiB of address space (ulimit -v)"},
	{RLIMIT_DATA, (rlim_t)1 << 28, 10, "KiB of data (ulimit -d)"},
	{RLIMIT_FSIZE, (rlim_t)1 << 24, 10, "KiB in a file (ulimit -f)"},
};

int limits_enough(void)
{
	struct rlimit may = {0};
	size_t room = inherit_room(DESCRIPTORS_LEAST);

	if (getrlimit(RLIMIT_STACK, &may) == 0 && may.rlim_cur < INHERIT_STACK_BYTES) {
		log_error(
			"too small a stack, so nothing was run: wary needs %zu KiB (ulimit -Hs is "
			"%" PRIu64 ")",
			INHERIT_STACK_BYTES >> 10, (uint64_t)may.rlim_cur >> 10);
		return -ERR_SYS;
	}
	if (room == DESCRIPTORS_LEAST)
		return 0;
	(void)getrlimit(RLIMIT_NOFILE, &may);
	log_error("too few descriptors, so nothing was run: wary needs %d of its own, and can "
	          "open %zu (ulimit -Hn is %" PRIu64 ")",
	          DESCRIPTORS_LEAST, room, (uint64_t)may.rlim_cur);
	return -ERR_SYS;
}

void limits_say(void)
{
	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
		struct rlimit may;

		if (getrlimit((__rlimit_resource_t)limits[i].resource, &may) != 0 ||
		    may.rlim_cur >= limits[i].enough)
			continue;
		/* A line each, since memory may be what there is too little of. */
		log_error("a limit here is low, which may be why: at most %" PRIu64 " %s",
		          (uint64_t)(may.rlim_cur >> limits[i].shift), limits[i].words);
	}
}
