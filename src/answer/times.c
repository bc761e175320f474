#include "answer/times.h"

#include "answer/fetch.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <utime.h>

#define USEC_PER_SEC 1000000
#define NSEC_PER_USEC 1000

static int fetch_timeval(struct request *r, struct times *out)
{
	struct timeval tv[2];
	int err = fetch_bytes(r, ROLE_TIMES, tv, sizeof tv);

	for (int i = 0; i < 2 && err == 0; i++) {
		if (tv[i].tv_usec < 0 || tv[i].tv_usec >= USEC_PER_SEC)
			err = -EINVAL;
		out->ts[i].tv_sec = tv[i].tv_sec;
		out->ts[i].tv_nsec = tv[i].tv_usec * NSEC_PER_USEC;
	}
	return err;
}

static int fetch_utimbuf(struct request *r, struct times *out)
{
	struct utimbuf u;
	int err = fetch_bytes(r, ROLE_TIMES, &u, sizeof u);

	if (err != 0)
		return err;
	out->ts[0] = (struct timespec){.tv_sec = u.actime};
	out->ts[1] = (struct timespec){.tv_sec = u.modtime};
	return 0;
}

int times_fetch(struct request *r, struct times *out)
{
	int err;

	*out = (struct times){.now = fetch_arg(r, ROLE_TIMES) == 0};
	if (out->now)
		return 0;
	if (r->call->row->op == OP_UTIME)
		return fetch_utimbuf(r, out);
	if (r->call->row->op != OP_UTIMENSAT)
		return fetch_timeval(r, out);
	err = fetch_bytes(r, ROLE_TIMES, out->ts, sizeof out->ts);
	out->nothing = out->ts[0].tv_nsec == UTIME_OMIT && out->ts[1].tv_nsec == UTIME_OMIT;
	return err;
}
