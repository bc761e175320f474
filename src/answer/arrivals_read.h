/* Looking at what a run of a package manager left, and putting it on record. */
#ifndef WARY_ANSWER_ARRIVALS_READ_H
#define WARY_ANSWER_ARRIVALS_READ_H

#include "audit/audit.h"
#include "base/err.h"
#include "package/touched.h"

/* On whose behalf, and until when. */
struct arrivals_from {
	struct audit *audit;
	pid_t pid;
	uid_t uid;
	const char *manager; /* NULL: what is usual for the place */
	const char *program, *registry;
	uint64_t until_ns; /* CLOCK_MONOTONIC */
};

/** arrivals_read: a row for each package of a set.
 * @set: places in whole folders are added to it.
 * Returns 0, -ERR_NOMEM or -ERR_RECORD.  Blocks on reading files. */
must_check int arrivals_read(const struct arrivals_from *from, struct touched *set);

#endif
