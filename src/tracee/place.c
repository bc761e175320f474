#include "tracee/place.h"

#include "base/own.h"
#include "base/uses.h"
#include "tracee/caller.h"
#include "tracee/canon.h"
#include "tracee/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

USES(fcntl_dup);

void place_init(struct place *p)
{
	p->text[0] = '\0';
	p->base_fd = -1;
	p->error = 0;
	p->fd = -1;
	p->parent_fd = -1;
	p->name[0] = '\0';
	p->slash = false;
	p->canon[0] = '\0';
	p->links_n = 0;
	p->textual = false;
	p->unnamed = false;
	p->proc_pid = 0;
	p->proc_fd = -1;
	p->proc_own = false;
	p->outside = false;
	p->st = (struct stat){0};
}

void place_done(struct place *p)
{
	fd_drop(&p->base_fd);
	fd_drop(&p->fd);
	fd_drop(&p->parent_fd);
	for (unsigned i = 0; i < p->links_n; i++)
		free(p->links[i]);
	p->links_n = 0;
}

/* Whether every component is a name, and there is one. */
static bool is_plain(const char *s)
{
	if (!*s)
		return false;
	for (;;) {
		size_t n = strcspn(s, "/");

		if (n == 0 || n > NAME_MAX || (n == 1 && s[0] == '.') ||
		    (n == 2 && s[0] == '.' && s[1] == '.'))
			return false;
		s += n;
		if (!*s)
			return true;
		s++;
	}
}

bool place_text_is_canonical(const char *text)
{
	return text[0] == '/' && (text[1] == '\0' || is_plain(text + 1));
}

bool place_text_is_plain(const char *text)
{
	return text[0] != '/' && is_plain(text);
}

/* Which process a procfs object belongs to, and whether that is any of the
 * caller's business.  The object is held already, so that a number that has
 * been given to another process meanwhile can only make the answer stricter
 * or meet a process that is dead. */
static void judge_proc(struct place *p, struct place_env *env)
{
	pid_t pid = canon_proc_pid(p->canon, NULL);

	if (strcmp(p->canon, "/proc") != 0 && strncmp(p->canon, "/proc/", 6) != 0) {
		p->outside = true; /* another name for procfs: not to be read */
		return;
	}
	if (pid == 0)
		return;
	p->proc_pid = pid;
	walk_judge_pid(p, env, pid);
}

/* Another instance of procfs (a container's) shows processes by numbers that
 * mean nothing here. */
static void judge_fs(struct place *p, struct place_env *env)
{
	if (p->st.st_dev == env->proc_dev)
		judge_proc(p, env);
	else if (walk_is_procfs(p->fd, &p->st))
		p->outside = true;
}

static int name_object(struct place *p, struct place_env *env)
{
	return canon_of_fd(env->self_fd_dir, p->fd, &p->st, p->canon, sizeof p->canon, &p->unnamed);
}

void place_of_fd(struct place *p, struct place_env *env, int fd)
{
	p->fd = fd;
	if (fstat(fd, &p->st) != 0) {
		p->error = -errno;
		return;
	}
	p->error = name_object(p, env);
	if (p->error == 0)
		judge_fs(p, env);
}

static void finish(struct place *p, struct place_env *env, struct walk *w)
{
	int err = 0;

	if (p->fd >= 0) {
		if (w->untouched && place_text_is_canonical(p->text))
			memcpy(p->canon, p->text, strlen(p->text) + 1);
		else
			err = name_object(p, env);
		if (err == -ENAMETOOLONG)
			err = walk_name_rest(w);
		if (err == 0)
			judge_fs(p, env);
	} else {
		err = walk_name_rest(w);
		if (err == 0 && p->parent_fd >= 0 && strncmp(p->canon, "/proc/", 6) == 0)
			judge_proc(p, env);
	}
	if (err != 0)
		p->error = err;
	if (p->outside)
		p->error = -EACCES;
}

/* The caller asked the kernel for a guarantee about the whole way (that it
 * never left a folder), which a walk in steps cannot give: the kernel walks
 * once more, and must arrive at the same object. */
static void confirm(struct place *p, unsigned flags, uint64_t resolve)
{
	int nofollow = flags & PLACE_FOLLOW ? 0 : O_NOFOLLOW;
	auto_fd fd = -1;
	struct stat st;

	if (p->error != 0 || p->fd < 0 || !(resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT)))
		return;
	fd = walk_open(p->base_fd, p->text, nofollow, resolve | RESOLVE_NO_MAGICLINKS);
	if (fd < 0 || fstat(fd, &st) != 0 || st.st_dev != p->st.st_dev || st.st_ino != p->st.st_ino)
		p->error = -EAGAIN;
}

void place_resolve(struct place *p, struct place_env *env, unsigned flags, uint64_t resolve)
{
	struct walk w;

	if (!p->text[0] && !(flags & PLACE_EMPTY)) {
		p->error = -ENOENT;
		return;
	}
	if (!p->text[0]) {
		place_of_fd(p, env, fcntl(p->base_fd, F_DUPFD_CLOEXEC, 0));
		return;
	}
	walk_begin(&w, p, env, flags, resolve);
	p->error = walk_run(&w);
	finish(p, env, &w);
	walk_end(&w);
	confirm(p, flags, resolve);
}
