#include "tracee/walk.h"

#include "base/own.h"
#include "base/uses.h"
#include "tracee/caller.h"
#include "tracee/canon.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

USES(fcntl_dup, fstatfs, open_any, openat2, readlinkat, statx);

/* As many links as the kernel follows for one name. */
#define FOLLOW_MAX 40
#ifndef ST_NOSYMFOLLOW
#define ST_NOSYMFOLLOW 0x2000
#endif

/* One component of a name. */
struct part {
	char name[NAME_MAX + 1];
	const char *after; /* what follows it */
	bool last;         /* nothing but slashes does */
	bool slash;
};

int walk_open(int dir_fd, const char *name, int flags, uint64_t resolve)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)(O_PATH | O_CLOEXEC | flags),
		.resolve = resolve,
	};
	int fd = (int)syscall(SYS_openat2, dir_fd, name, &how, sizeof how);

	return fd < 0 ? -errno : fd;
}

bool walk_is_procfs(int fd, const struct stat *st)
{
	struct statfs fs;

	/* A file system on a device of its own is none of the kernel's. */
	if (major(st->st_dev) != 0)
		return false;
	return fstatfs(fd, &fs) != 0 || fs.f_type == PROC_SUPER_MAGIC;
}

static pid_t caller_process(struct place_env *env)
{
	if (env->tgid == 0)
		env->tgid = caller_tgid(env->tid);
	return env->tgid;
}

void walk_judge_pid(struct place *p, struct place_env *env, pid_t pid)
{
	p->proc_own = pid == env->tid || pid == caller_process(env) ||
	              caller_tgid(pid) == caller_process(env);
	if (!p->proc_own && !env->in_tree(env->ctx, pid))
		p->outside = true;
}

void walk_begin(struct walk *w, struct place *p, struct place_env *env, unsigned flags,
                uint64_t resolve)
{
	bool scoped = (resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT)) != 0;

	*w = (struct walk){
		.p = p,
		.env = env,
		.flags = flags,
		.resolve = resolve,
		.cur = p->base_fd < 0 || (p->text[0] == '/' && !scoped) ? env->root_fd : p->base_fd,
		.hold = -1,
		.scope = scoped ? p->base_fd : -1,
		.rest = p->text,
		.untouched = !scoped,
		.root_known = scoped || p->text[0] == '/',
	};
}

void walk_end(struct walk *w)
{
	fd_drop(&w->hold);
	free(w->memory);
	w->memory = NULL;
}

static void go_to(struct walk *w, int fd)
{
	fd_drop(&w->hold);
	w->hold = fd;
	w->cur = fd;
}

static uint64_t step_bits(const struct walk *w)
{
	return RESOLVE_NO_SYMLINKS | (w->resolve & RESOLVE_NO_XDEV);
}

static bool same_object(int a, int b)
{
	struct stat x;
	struct stat y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

int walk_name_rest(struct walk *w)
{
	struct place *p = w->p;
	struct stat st;
	int err;

	if (w->untouched && place_text_is_canonical(p->text)) {
		memcpy(p->canon, p->text, strlen(p->text) + 1);
		return 0;
	}
	if (fstat(w->cur, &st) != 0)
		return -errno;
	err = canon_of_fd(w->env->self_fd_dir, w->cur, &st, p->canon, sizeof p->canon, &p->unnamed);
	if (err != 0 || p->unnamed)
		return err;
	err = canon_join(p->canon, sizeof p->canon, w->rest);
	/* A name that goes up again behind what does not exist: the kernel gave
	 * up before, and the name so far says enough. */
	return err == -EINVAL ? 0 : err;
}

/* ---- the end of the way ---------------------------------------------- */

static int end_at(struct walk *w, int fd, const struct stat *st, bool slash)
{
	struct place *p = w->p;

	p->fd = fd;
	p->st = *st;
	p->slash = slash;
	if ((slash || (w->flags & PLACE_DIR)) && !S_ISDIR(st->st_mode) &&
	    !(w->flags & PLACE_PARENT))
		return -ENOTDIR;
	return 0;
}

/* Of the walk's own descriptor the place becomes the owner. */
static int keep_parent(struct walk *w, const char *name, bool slash)
{
	struct place *p = w->p;

	if (w->cur != p->parent_fd) {
		fd_drop(&p->parent_fd);
		p->parent_fd =
			w->cur == w->hold ? fd_take(&w->hold) : fcntl(w->cur, F_DUPFD_CLOEXEC, 0);
	}
	if (p->parent_fd < 0)
		return -ENFILE;
	p->slash = slash;
	snprintf(p->name, sizeof p->name, "%s", name);
	return 0;
}

/* The way ends at the folder itself: "/", "." */
static int end_at_folder(struct walk *w, const char *name)
{
	int fd = walk_open(w->cur, ".", 0, 0);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) != 0) {
		close(fd);
		return -EIO;
	}
	if ((w->flags & PLACE_PARENT) && keep_parent(w, name, false) != 0) {
		close(fd);
		return -ENFILE;
	}
	return end_at(w, fd, &st, false);
}

/* ---- links ------------------------------------------------------------ */

/* fs.protected_symlinks: in a sticky folder that all may write, only links of
 * the follower or of the folder's owner are followed as the last component. */
static int may_follow(const struct walk *w, const struct stat *link)
{
	struct stat dir;

	if (!w->env->protected_links)
		return 0;
	if (fstat(w->cur, &dir) != 0)
		return -EACCES;
	if ((dir.st_mode & (S_ISVTX | S_IWOTH)) != (S_ISVTX | S_IWOTH))
		return 0;
	if (link->st_uid == w->env->fsuid || link->st_uid == dir.st_uid)
		return 0;
	return -EACCES;
}

static int folder_name(struct walk *w, char *out, size_t cap_bytes)
{
	struct stat st;
	bool unnamed;

	if (w->cur == w->env->root_fd) { /* most links on the way of programs */
		snprintf(out, cap_bytes, "/");
		return 0;
	}
	if (fstat(w->cur, &st) != 0)
		return -errno;
	return canon_of_fd(w->env->self_fd_dir, w->cur, &st, out, cap_bytes, &unnamed);
}

/* The link is judged under its own name too (law 11 of the language). */
static int note_link(struct walk *w, const char *name)
{
	char text[PLACE_CANON_MAX];
	int err = folder_name(w, text, sizeof text);
	char *copy;

	if (err == 0)
		err = canon_join(text, sizeof text, name);
	if (err != 0)
		return err;
	if (w->p->links_n == PLACE_LINKS_MAX)
		return -ELOOP;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	w->p->links[w->p->links_n++] = copy;
	return 0;
}

static bool leaves_mount(int from, int to)
{
	struct statx a;
	struct statx b;

	return statx(from, "", AT_EMPTY_PATH, STATX_MNT_ID, &a) != 0 ||
	       statx(to, "", AT_EMPTY_PATH, STATX_MNT_ID, &b) != 0 || a.stx_mnt_id != b.stx_mnt_id;
}

/* The walk goes on along the link's text, then what was left. */
static int go_along(struct walk *w, const char *text, const char *after)
{
	size_t n = strlen(text);
	size_t m = strlen(after);
	char *joined;

	if (n == 0)
		return -ENOENT;
	if (text[0] == '/') {
		int root = w->scope >= 0 ? w->scope : w->env->root_fd;

		if (w->resolve & RESOLVE_BENEATH)
			return -EXDEV;
		/* The kernel calls it a crossing also where it has not had to
		 * look for the root before. */
		if ((w->resolve & RESOLVE_NO_XDEV) &&
		    (!w->root_known || leaves_mount(w->cur, root)))
			return -EXDEV;
		fd_drop(&w->hold);
		w->cur = root;
	}
	joined = malloc(n + m + 1);
	if (!joined)
		return -ENOMEM;
	memcpy(joined, text, n);
	memcpy(joined + n, after, m + 1);
	free(w->memory);
	w->memory = joined;
	w->rest = joined;
	return 0;
}

static int follow_plain(struct walk *w, int link_fd, const struct part *part)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(link_fd, "", text, sizeof text - 1);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	return go_along(w, text, part->after);
}

/* N of "…/fd/N"; -1: another kind of link. */
static int number_of(const char *folder, const char *name)
{
	const char *tail = strrchr(folder, '/');

	if (!tail || strcmp(tail, "/fd") != 0 || strspn(name, "0123456789") != strlen(name))
		return -1;
	return (int)strtol(name, NULL, 10);
}

/* The kernel jumps from here to the object; it asks for ptrace access to the
 * process, with the caller's credentials.  A thread's own folder in it counts
 * as the thread. */
static int follow_magic(struct walk *w, pid_t pid, const char *folder, const char *below,
                        const struct part *part)
{
	struct place *p = w->p;
	int fd;

	if (w->resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT))
		return -EXDEV;
	if (w->resolve & RESOLVE_NO_MAGICLINKS)
		return -ELOOP;
	walk_judge_pid(p, w->env, pid);
	if (p->outside)
		return -EACCES;
	fd = openat(w->cur, part->name, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if ((w->resolve & RESOLVE_NO_XDEV) && leaves_mount(w->cur, fd)) {
		close(fd);
		return -EXDEV;
	}
	p->proc_pid = pid;
	if (strncmp(below, "/task/", 6) == 0)
		p->proc_pid = (pid_t)strtol(below + 6, NULL, 10);
	p->proc_fd = number_of(folder, part->name);
	if (part->last && (w->flags & PLACE_PARENT) &&
	    keep_parent(w, part->name, part->slash) != 0) {
		close(fd);
		return -ENFILE;
	}
	go_to(w, fd);
	w->rest = part->after;
	w->jumped = true;
	return 0;
}

static int follow_in_proc(struct walk *w, int link_fd, const struct part *part)
{
	char folder[PLACE_CANON_MAX];
	char text[64];
	const char *below = "";
	int err = folder_name(w, folder, sizeof folder);
	pid_t pid;

	if (err != 0)
		return err;
	pid = canon_proc_pid(folder, &below);
	if (pid != 0)
		return follow_magic(w, pid, folder, below, part);
	if (strcmp(folder, "/proc") != 0)
		return follow_plain(w, link_fd, part);
	if (strcmp(part->name, "self") == 0)
		snprintf(text, sizeof text, "%d", (int)caller_process(w->env));
	else if (strcmp(part->name, "thread-self") == 0)
		snprintf(text, sizeof text, "%d/task/%d", (int)caller_process(w->env),
		         (int)w->env->tid);
	else
		return follow_plain(w, link_fd, part);
	return go_along(w, text, part->after);
}

/* Sets w->jumped where the kernel jumped to an object, not to a name. */
static int follow(struct walk *w, int link_fd, const struct stat *st, const struct part *part)
{
	struct statfs fs;
	int err = 0;

	w->jumped = false;
	w->untouched = false;
	if ((w->resolve & RESOLVE_NO_SYMLINKS) || ++w->followed > FOLLOW_MAX)
		return -ELOOP;
	if (part->last)
		err = may_follow(w, st);
	if (err != 0)
		return err;
	if (fstatfs(link_fd, &fs) != 0 || (fs.f_flags & ST_NOSYMFOLLOW))
		return -ELOOP;
	if (st->st_dev == w->env->proc_dev)
		return follow_in_proc(w, link_fd, part);
	if (fs.f_type == PROC_SUPER_MAGIC) {
		w->p->outside = true;
		return -EACCES;
	}
	err = note_link(w, part->name);
	return err != 0 ? err : follow_plain(w, link_fd, part);
}

/* ---- component by component ------------------------------------------ */

static int take_part(const char *rest, struct part *out)
{
	size_t n = strcspn(rest, "/");

	if (n > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(out->name, rest, n);
	out->name[n] = '\0';
	out->after = rest + n;
	out->slash = *out->after == '/';
	out->last = out->after[strspn(out->after, "/")] == '\0';
	return 0;
}

static int go_up(struct walk *w)
{
	int fd;

	w->root_known = true;
	if (w->scope >= 0 && same_object(w->cur, w->scope))
		return w->resolve & RESOLVE_BENEATH ? -EXDEV : 0;
	if (same_object(w->cur, w->env->root_fd))
		return 0;
	fd = walk_open(w->cur, "..", 0, step_bits(w));
	if (fd < 0)
		return fd;
	go_to(w, fd);
	return 0;
}

static bool is_followed(const struct walk *w, const struct part *part)
{
	if (!part->last || (w->flags & PLACE_FOLLOW))
		return true;
	return part->slash && !(w->flags & PLACE_PARENT);
}

/* One component that is a name.  *done: the way has ended. */
static int step(struct walk *w, const struct part *part, bool *done)
{
	int fd = walk_open(w->cur, part->name, O_NOFOLLOW, step_bits(w));
	struct stat st;
	int err;

	*done = part->last;
	if (fd == -ENOENT && part->last && (w->flags & PLACE_PARENT)) {
		err = keep_parent(w, part->name, part->slash);
		return err != 0 ? err : -ENOENT;
	}
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) != 0) {
		close(fd);
		return -EIO;
	}
	if (S_ISLNK(st.st_mode) && is_followed(w, part)) {
		err = follow(w, fd, &st, part);
		close(fd);
		*done = false;
		if (err != 0 || !w->jumped || !part->last)
			return err;
		*done = true;
		fd = fcntl(w->cur, F_DUPFD_CLOEXEC, 0);
		if (fd < 0 || fstat(fd, &st) != 0)
			return -ENFILE;
		return end_at(w, fd, &st, part->slash);
	}
	if (!part->last) {
		go_to(w, fd);
		w->rest = part->after;
		return 0;
	}
	if ((w->flags & PLACE_PARENT) && keep_parent(w, part->name, part->slash) != 0) {
		close(fd);
		return -ENFILE;
	}
	return end_at(w, fd, &st, part->slash);
}

/* Goes on to the first link, and along it.  *done: the way has ended. */
static int walk_parts(struct walk *w, bool *done)
{
	*done = false;
	for (unsigned followed = w->followed; w->followed == followed && !*done;) {
		struct part part;
		int err;

		w->rest += strspn(w->rest, "/");
		if (!*w->rest) {
			*done = true;
			return end_at_folder(w, "/");
		}
		err = take_part(w->rest, &part);
		if (err != 0)
			return err;
		if (strcmp(part.name, "..") == 0)
			err = go_up(w);
		if (err != 0)
			return err;
		if (strcmp(part.name, ".") == 0 || strcmp(part.name, "..") == 0) {
			*done = part.last;
			w->rest = part.after;
			if (part.last)
				return end_at_folder(w, part.name);
			continue;
		}
		err = step(w, &part, done);
		if (err != 0)
			return err;
	}
	return 0;
}

/* ---- as far as the kernel goes by itself ------------------------------ */

/* All that is left in one go: final unless a link is met.
 * Returns 0, a final -errno, or -ELOOP: to be walked by component. */
static int try_object(struct walk *w)
{
	int fd = walk_open(w->cur, w->rest, O_NOFOLLOW, step_bits(w));
	size_t n = strlen(w->rest);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) != 0) {
		close(fd);
		return -EIO;
	}
	if (S_ISLNK(st.st_mode) && (w->flags & PLACE_FOLLOW)) {
		close(fd);
		return -ELOOP;
	}
	return end_at(w, fd, &st, w->rest[n - 1] == '/');
}

/* The folder in one go; its last name is left to walk_parts. */
static int try_folder(struct walk *w)
{
	const char *end = w->rest + strlen(w->rest);
	char folder[PATH_MAX];
	const char *last;
	int fd;

	while (end > w->rest && end[-1] == '/')
		end--;
	for (last = end; last > w->rest && last[-1] != '/'; last--)
		;
	if (last == w->rest || (size_t)(last - w->rest) >= sizeof folder)
		return -ELOOP;
	memcpy(folder, w->rest, (size_t)(last - w->rest));
	folder[last - w->rest] = '\0';
	fd = walk_open(w->cur, folder, O_DIRECTORY, step_bits(w));
	if (fd < 0)
		return fd;
	go_to(w, fd);
	w->rest = last;
	return -ELOOP;
}

static bool goes_up(const char *rest)
{
	for (const char *s = strstr(rest, ".."); s; s = strstr(s + 1, ".."))
		if ((s == rest || s[-1] == '/') && (s[2] == '/' || s[2] == '\0'))
			return true;
	return false;
}

static int try_rest(struct walk *w)
{
	w->rest += strspn(w->rest, "/");
	if (!*w->rest || strlen(w->rest) >= PATH_MAX)
		return -ELOOP; /* the kernel takes no longer name at once */
	/* ".." must stop at a root that is not the worker's own; and where the way
	 * fails, it must be known how far it went. */
	if (w->scope >= 0 || goes_up(w->rest))
		return -ELOOP;
	return w->flags & PLACE_PARENT ? try_folder(w) : try_object(w);
}

int walk_run(struct walk *w)
{
	if (w->p->text[0] == '/' && (w->resolve & RESOLVE_BENEATH))
		return -EXDEV;
	for (;;) {
		bool done;
		int err = try_rest(w);

		if (err != -ELOOP)
			return err;
		err = walk_parts(w, &done);
		if (err != 0 || done)
			return err;
	}
}
