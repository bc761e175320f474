#include "answer/member.h"

#include "base/own.h"
#include "base/text.h"
#include "base/uses.h"
#include "supervise.h"
#include "tracee/caller.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

USES(faccessat, getdents64, getpgid, open_read);

/* Rounds over /proc: a tree that makes processes faster than that is stopped
 * by other means (limits), not by a signal to each. */
#define ROUNDS_MAX 16
#define PID_BITS ((size_t)4 << 20) /* PID_MAX_LIMIT */

static bool in_tree(const struct request *r, pid_t pid)
{
	const struct supervisor *s = r->sup;

	return pid != s->guardian_pid && pid != s->wary_pid &&
	       lineage_in_tree(s->lineage, pid, s->guardian_pid);
}

static int pin(pid_t pid, struct member *out)
{
	char path[32];
	int fd;

	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE ? -ERR_NOFD : -ESRCH;
	*out = (struct member){.pid = pid, .proc_fd = fd};
	return 0;
}

bool member_still(const struct member *m)
{
	/* A folder in /proc is of the process, not of the number. */
	return faccessat(m->proc_fd, "stat", F_OK, 0) == 0;
}

void member_close(struct member *m)
{
	fd_drop(&m->proc_fd);
}

int member_open(struct request *r, pid_t pid, struct member *out)
{
	struct member m = {.proc_fd = -1};
	int err = pin(pid, &m);

	if (err != 0)
		return err;
	if (!in_tree(r, pid)) {
		bool gone = !member_still(&m);

		member_close(&m);
		return gone ? -ESRCH : -ERR_OUTSIDE;
	}
	if (!member_still(&m)) { /* the answer may be about its successor */
		member_close(&m);
		return -ESRCH;
	}
	*out = m;
	return 0;
}

bool member_is_caller(struct request *r, pid_t pid)
{
	if (pid == r->call->tid)
		return true;
	if (r->caller.tgid <= 0)
		r->caller.tgid = caller_tgid(r->call->tid);
	return pid == r->caller.tgid;
}

/* ---- groups ----------------------------------------------------------- */

/* Which numbers a round over /proc has met. */
struct met {
	uint8_t *bits;
};

static bool meet(struct met *met, pid_t pid)
{
	size_t byte = (size_t)pid / 8;
	uint8_t bit = (uint8_t)(1u << (pid % 8));

	if ((size_t)pid >= PID_BITS || (met->bits[byte] & bit))
		return false;
	met->bits[byte] |= bit;
	return true;
}

static pid_t number_of(const char *name)
{
	unsigned long long n;

	return text_number(name, PID_BITS, &n) == 0 ? (pid_t)n : 0;
}

struct round {
	struct request *r;
	pid_t group;
	int (*each)(void *ctx, const struct member *m);
	void *ctx;
	struct met met;
	int done;  /* each gave 0 */
	int error; /* the first that it gave otherwise */
	int own;   /* wary's own failure to look at one; 0: none */
};

static void visit(struct round *o, pid_t pid)
{
	struct member m = {.proc_fd = -1};
	int err;

	if (o->group != 0 && getpgid(pid) != o->group)
		return;
	err = member_open(o->r, pid, &m);
	if (err != 0) {
		if (err != -ESRCH && err != -ERR_OUTSIDE)
			o->own = err;
		return;
	}
	/* Asked again, now that the process is known. */
	if (o->group == 0 || (getpgid(pid) == o->group && member_still(&m))) {
		err = o->each(o->ctx, &m);
		if (err == 0)
			o->done++;
		else if (o->error == 0)
			o->error = err;
	}
	member_close(&m);
}

/* Returns how many processes were met for the first time, or -ERR_SYS. */
static int go_round(struct round *o)
{
	DIR *dir = opendir("/proc");
	const struct dirent *e;
	int met = 0;

	if (!dir)
		return -ERR_SYS;
	while ((e = readdir(dir)) != NULL) {
		pid_t pid = number_of(e->d_name);

		if (pid <= 0 || !meet(&o->met, pid))
			continue;
		met++;
		visit(o, pid);
	}
	closedir(dir);
	return met;
}

int member_each(struct request *r, pid_t group, int (*each)(void *ctx, const struct member *m),
                void *ctx)
{
	struct round o = {.r = r, .group = group, .each = each, .ctx = ctx};
	int met = 1;

	o.met.bits = calloc(PID_BITS / 8, 1);
	if (!o.met.bits)
		return -ERR_NOMEM;
	for (int i = 0; i < ROUNDS_MAX && met > 0; i++)
		met = go_round(&o);
	free(o.met.bits);
	if (met < 0)
		return met;
	if (o.own != 0) /* not all were looked at: whatever was found is not the whole */
		return o.own;
	return o.done > 0 || o.error == 0 ? o.done : o.error;
}

bool member_group_is_inside(struct request *r, pid_t group)
{
	DIR *dir = opendir("/proc");
	const struct dirent *e;
	bool inside = true;
	int n = 0;

	if (!dir)
		return false;
	while (inside && (e = readdir(dir)) != NULL) {
		pid_t pid = number_of(e->d_name);

		if (pid <= 0 || getpgid(pid) != group)
			continue;
		n++;
		inside = in_tree(r, pid);
	}
	closedir(dir);
	return inside && n > 0;
}
