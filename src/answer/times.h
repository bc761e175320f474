/* The times that utimensat, utimes, futimesat and utime are given. */
#ifndef WARY_ANSWER_TIMES_H
#define WARY_ANSWER_TIMES_H

#include "answer/request.h"

#include <stdbool.h>
#include <time.h>

struct times {
	struct timespec ts[2]; /* access, change */
	bool now;              /* none were given: both become the present */
	bool nothing;          /* both UTIME_OMIT */
};

/** times_fetch: reads ROLE_TIMES in the form that the call takes.
 * Returns 0, -EFAULT, or -EINVAL as the kernel checks the older forms. */
must_check int times_fetch(struct request *r, struct times *out);

#endif
