#include "tracee/wear.h"

#include "base/uses.h"

#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

USES(capget, capset, getegid, geteuid, getgid, getgroups, getresuid, getuid, setfsgid, setfsuid,
     setgroups, setresgid_kept, setresuid_kept, umask);

struct ids {
	uid_t fsuid;
	gid_t fsgid;
	unsigned groups_n;
	gid_t groups[CALLER_GROUPS_MAX];
};

/* What the kernel notes of who connects, listens or sends. */
struct names {
	uid_t ruid, euid;
	gid_t rgid, egid;
};

struct wear {
	struct ids own;
	struct ids now;
	struct names own_names;
	bool may_name; /* the saved user is 0: the way back */
	bool named;
	uint64_t caps_own; /* effective */
	uint64_t caps_permitted;
	uint64_t caps_inheritable;
	uint64_t caps_now; /* effective */
	mode_t umask_now;
};

static int caps_get(struct wear *w)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d) != 0)
		return -ERR_SYS;
	w->caps_own = d[0].effective | (uint64_t)d[1].effective << 32;
	w->caps_permitted = d[0].permitted | (uint64_t)d[1].permitted << 32;
	w->caps_inheritable = d[0].inheritable | (uint64_t)d[1].inheritable << 32;
	w->caps_now = w->caps_own;
	return 0;
}

static int caps_set(struct wear *w, uint64_t effective)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct d[2] = {
		{(uint32_t)effective, (uint32_t)w->caps_permitted, (uint32_t)w->caps_inheritable},
		{(uint32_t)(effective >> 32), (uint32_t)(w->caps_permitted >> 32),
	         (uint32_t)(w->caps_inheritable >> 32)},
	};

	if (effective == w->caps_now)
		return 0;
	if (syscall(SYS_capset, &h, d) != 0)
		return -ERR_SYS;
	w->caps_now = effective;
	return 0;
}

int wear_new(struct wear **out)
{
	struct wear *w = calloc(1, sizeof *w);
	uid_t ruid;
	uid_t euid;
	uid_t suid = 0;
	long n;

	if (!w)
		return -ERR_NOMEM;
	w->own.fsuid = geteuid();
	w->own.fsgid = getegid();
	w->own_names = (struct names){getuid(), geteuid(), getgid(), getegid()};
	n = getresuid(&ruid, &euid, &suid);
	w->may_name = n == 0 && suid == 0;
	n = syscall(SYS_getgroups, CALLER_GROUPS_MAX, w->own.groups);
	if (n < 0 || caps_get(w) != 0) {
		free(w);
		return -ERR_SYS;
	}
	w->own.groups_n = (unsigned)n;
	w->now = w->own;
	w->umask_now = umask(077);
	umask(w->umask_now);
	*out = w;
	return 0;
}

void wear_free(struct wear *w)
{
	free(w);
}

static bool same_groups(const struct ids *a, const struct ids *b)
{
	return a->groups_n == b->groups_n &&
	       memcmp(a->groups, b->groups, a->groups_n * sizeof a->groups[0]) == 0;
}

static bool same_ids(const struct ids *a, const struct ids *b)
{
	return a->fsuid == b->fsuid && a->fsgid == b->fsgid && same_groups(a, b);
}

/* Needs CAP_SETUID and CAP_SETGID in the effective set. */
static int ids_set(struct wear *w, const struct ids *to)
{
	if (!same_groups(&w->now, to)) {
		if (syscall(SYS_setgroups, to->groups_n, to->groups) != 0)
			return -ERR_SYS;
		w->now.groups_n = to->groups_n;
		memcpy(w->now.groups, to->groups, to->groups_n * sizeof to->groups[0]);
	}
	/* These two report the former id, not success: asked again to see. */
	if (w->now.fsgid != to->fsgid) {
		(void)syscall(SYS_setfsgid, to->fsgid);
		if ((gid_t)syscall(SYS_setfsgid, (gid_t)-1) != to->fsgid)
			return -ERR_SYS;
		w->now.fsgid = to->fsgid;
	}
	if (w->now.fsuid != to->fsuid) {
		(void)syscall(SYS_setfsuid, to->fsuid);
		if ((uid_t)syscall(SYS_setfsuid, (uid_t)-1) != to->fsuid)
			return -ERR_SYS;
		w->now.fsuid = to->fsuid;
		/* Leaving or taking user 0 changes the effective set. */
		w->caps_now = UINT64_MAX;
	}
	return 0;
}

int wear_on(struct wear *w, const struct caller_creds *c)
{
	struct ids to = {.fsuid = c->fsuid, .fsgid = c->fsgid, .groups_n = c->groups_n};
	int err = 0;

	memcpy(to.groups, c->groups, c->groups_n * sizeof to.groups[0]);
	if (!same_ids(&w->now, &to)) {
		err = caps_set(w, w->caps_own);
		if (err == 0)
			err = ids_set(w, &to);
	}
	if (err == 0)
		err = caps_set(w, c->cap_effective & w->caps_permitted);
	if (err != 0)
		wear_off(w);
	return err;
}

/* Needs CAP_SETUID and CAP_SETGID, and the saved user 0, which keeps the permitted set.
 * The ids for files follow the effective ones. */
static int names_set(struct wear *w, const struct names *to)
{
	if (syscall(SYS_setresgid, to->rgid, to->egid, (gid_t)-1) != 0 ||
	    syscall(SYS_setresuid, to->ruid, to->euid, (uid_t)-1) != 0)
		return -ERR_SYS;
	w->now.fsuid = to->euid;
	w->now.fsgid = to->egid;
	w->caps_now = UINT64_MAX;
	return 0;
}

int wear_names(struct wear *w, const struct caller_creds *c)
{
	const struct names to = {c->ruid, c->euid, c->rgid, c->egid};
	int err;

	if (memcmp(&to, &w->own_names, sizeof to) == 0)
		return 0;
	err = w->may_name ? caps_set(w, w->caps_own) : -ERR_SYS;
	if (err == 0) {
		w->named = true;
		err = names_set(w, &to);
	}
	if (err == 0)
		err = caps_set(w, w->caps_own);
	if (err == 0)
		err = wear_on(w, c);
	if (err != 0)
		wear_off(w);
	return err;
}

int wear_caps(struct wear *w, uint64_t cap_effective)
{
	return caps_set(w, cap_effective & w->caps_permitted);
}

void wear_off(struct wear *w)
{
	if (w->named) {
		invariant(caps_set(w, w->caps_own) == 0);
		invariant(names_set(w, &w->own_names) == 0);
		w->named = false;
	}
	if (!same_ids(&w->now, &w->own)) {
		invariant(caps_set(w, w->caps_own) == 0);
		invariant(ids_set(w, &w->own) == 0);
	}
	invariant(caps_set(w, w->caps_own) == 0);
}

void wear_umask(struct wear *w, mode_t mask)
{
	if (w->umask_now == mask)
		return;
	umask(mask);
	w->umask_now = mask;
}

uint64_t wear_own_caps(const struct wear *w)
{
	return w->caps_own;
}
