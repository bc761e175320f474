#include "answer/open.h"

#include "answer/doors.h"
#include "answer/families.h"
#include "answer/fetch.h"
#include "answer/hand.h"
#include "answer/open_flags.h"
#include "base/own.h"
#include "base/uses.h"
#include "supervise.h"
#include "tracee/canon.h"
#include "tracee/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <unistd.h>

USES(fcntl_flags);

/* How it works.  Three ways, each ending in facts about one object:
 * 1. The direct way, for read-only opens of names that hold no link: the text is
 *    what is judged, and the effect refuses to follow any link (place.textual).
 *    The file is looked at first, since FIFOs and devices must be known before
 *    they are opened; act compares what it opened with that.
 * 2. Names that may be created: folder and last name, then the object if any.
 * 3. Everything else: an O_PATH descriptor, which act opens again. */

static int fetch_how(struct request *r, struct open_args *out)
{
	struct open_how how;
	int err = fetch_extensible(r, &how, sizeof how);

	if (err != 0)
		return err;
	*out = (struct open_args){how.flags, how.mode, how.resolve};
	return 0;
}

static int fetch_args(struct request *r, struct open_args *out)
{
	if (r->call->row->op == OP_OPENAT2) {
		int err = fetch_how(r, out);

		return err != 0 ? err : open_flags_check(out);
	}
	out->flags = (uint32_t)fetch_arg(r, ROLE_FLAGS);
	if (r->call->row->op == OP_CREAT)
		out->flags = O_CREAT | O_WRONLY | O_TRUNC;
	out->mode = (uint32_t)fetch_arg(r, ROLE_MODE);
	open_flags_old(out);
	return open_flags_check(out);
}

/* ---- what is asked ---------------------------------------------------- */

static int state_existing(struct request *r, const struct place *p)
{
	bool writes = open_flags_writes(r->flags);
	int err = 0;

	if (doors_is_shut(p, writes)) {
		(void)state(r, writes ? CLASS_WRITE : CLASS_READ, p);
		return -ERR_PERM;
	}
	/* What the caller holds already under a number has no name to judge. */
	if (p->unnamed) {
		(void)state(r, CLASS_STAT, p);
		return 0;
	}
	if (open_flags_reads(r->flags)) {
		(void)state(r, CLASS_READ, p);
		err = state_links(r, CLASS_READ, p);
	}
	if (err == 0 && writes) {
		(void)state(r, CLASS_WRITE, p);
		err = state_links(r, CLASS_WRITE, p);
	}
	return err;
}

static int state_created(struct request *r, const struct place *p)
{
	(void)state(r, CLASS_CREATE, p);
	return state_links(r, CLASS_CREATE, p);
}

bool open_is_create(const struct request *r)
{
	const struct place *p = &r->target.place[0];

	return (r->flags & O_CREAT) && p->fd < 0 && p->parent_fd >= 0;
}

/* ---- the direct way --------------------------------------------------- */

static bool starts_special(const char *name)
{
	static const char *const trees[] = {"/proc", "/dev", "/sys"};

	for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
		size_t n = strlen(trees[i]);

		if (strncmp(name, trees[i], n) == 0 && (name[n] == '/' || name[n] == '\0'))
			return true;
	}
	return false;
}

/* The canonical name, as far as the text alone can tell it. */
static bool textual_name(struct request *r, struct place *p)
{
	bool unnamed;
	struct stat st;

	if (place_text_is_canonical(p->text)) {
		memcpy(p->canon, p->text, strlen(p->text) + 1);
		return !starts_special(p->canon) && !hand_is_linked(r, p->canon);
	}
	if (!place_text_is_plain(p->text) || p->base_fd < 0)
		return false;
	if (fstat(p->base_fd, &st) != 0 || !S_ISDIR(st.st_mode))
		return false;
	if (canon_of_fd(r->worker->proc_self_fd_dir, p->base_fd, &st, p->canon, sizeof p->canon,
	                &unnamed) != 0 ||
	    unnamed)
		return false;
	return canon_join(p->canon, sizeof p->canon, p->text) == 0 && !starts_special(p->canon);
}

/* Whether the open can be decided on its text. */
static bool is_direct(const struct request *r, const struct open_args *a)
{
	const uint64_t others = O_CREAT | O_TRUNC | O_PATH | OPEN_TMPFILE;

	return r->attempt == 0 && a->resolve == 0 && !(a->flags & others) &&
	       (a->flags & O_ACCMODE) == O_RDONLY && !atomic_load(&r->sup->root_changed);
}

/* Returns 1: stated. 0: not the direct way. Or wary's own failure. */
static int prepare_direct(struct request *r, struct place *p)
{
	int base = p->base_fd >= 0 ? p->base_fd : AT_FDCWD;
	int err;

	if (!textual_name(r, p))
		return 0;
	err = hand_on(r);
	if (err != 0)
		return err;
	err = fstatat(base, p->text, &p->st, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : -errno;
	hand_off(r);
	p->textual = true;
	if (err != 0) {
		p->error = err;
		(void)state(r, CLASS_STAT, p);
		return 1;
	}
	if (!S_ISREG(p->st.st_mode) && !S_ISDIR(p->st.st_mode)) {
		p->textual = false;
		return 0;
	}
	(void)state(r, CLASS_READ, p);
	r->facts[0].object_is_dir = S_ISDIR(p->st.st_mode);
	r->facts[0].dev = p->st.st_dev;
	r->facts[0].ino = p->st.st_ino;
	return 1;
}

/* ---- names that may be created ---------------------------------------- */

/* fs.protected_regular and _fifos: what others own in a sticky folder is not
 * opened by who meant to create it. */
static int check_sticky(struct request *r, const struct place *p, uid_t fsuid)
{
	const struct hand_rules *rules = hand_rules(r);
	int level = S_ISREG(p->st.st_mode) ? rules->regular : rules->fifos;
	struct stat dir;

	if (!S_ISREG(p->st.st_mode) && !S_ISFIFO(p->st.st_mode))
		return 0;
	if (level == 0 || fstat(p->parent_fd, &dir) != 0 || !(dir.st_mode & S_ISVTX))
		return 0;
	if (p->st.st_uid == dir.st_uid || p->st.st_uid == fsuid)
		return 0;
	if (dir.st_mode & S_IWOTH)
		return -EACCES;
	return (dir.st_mode & S_IWGRP) && level >= 2 ? -EACCES : 0;
}

/* A pipe, socket or memfd may be opened again only by who holds it: through the
 * caller's own number, and not by an O_PATH descriptor, which may have been
 * taken from where the name alone was seen. */
static int check_holder(struct request *r, const struct place *p)
{
	auto_fd got = -1;
	struct stat st;

	if (!p->proc_own)
		return -ERR_PERM;
	if (p->proc_fd < 0) /* its own namespaces: a look at them gives nothing */
		return open_flags_writes(r->flags) ? -ERR_PERM : 0;
	got = fd_get(p->proc_pid, p->proc_fd);
	if (got < 0)
		return got;
	if ((fcntl(got, F_GETFL) & O_PATH) || fstat(got, &st) != 0)
		return -ERR_PERM;
	return st.st_dev == p->st.st_dev && st.st_ino == p->st.st_ino ? 0 : -ERR_PERM;
}

static int check_unnamed(struct request *r, const struct place *p)
{
	int err = p->unnamed ? check_holder(r, p) : 0;

	if (err <= -ERR_BASE)
		(void)state(r, CLASS_READ, p); /* for the record: what was refused */
	return err;
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "/") == 0;
}

/* What the kernel says to O_CREAT where something is there already. */
static int existing_error(struct request *r, const struct place *p, uid_t fsuid)
{
	if (p->slash && !is_dots(p->name))
		return -EISDIR;
	if (r->flags & O_EXCL)
		return -EEXIST;
	if (S_ISLNK(p->st.st_mode))
		return -ELOOP;
	if (S_ISDIR(p->st.st_mode))
		return -EISDIR;
	return check_sticky(r, p, fsuid);
}

static int prepare_create(struct request *r, uint64_t resolve)
{
	struct place *p = &r->target.place[0];
	bool follow = !(r->flags & (O_EXCL | O_NOFOLLOW));
	struct place_env env;
	int err = fetch_resolve(r, 0, PLACE_PARENT | (follow ? PLACE_FOLLOW : 0), resolve);

	if (err != 0)
		return err;
	if (open_is_create(r)) {
		p->error = p->slash ? -EISDIR : 0;
		return p->error != 0 ? state_failed(r, p) : state_created(r, p);
	}
	if (p->error != 0)
		return state_failed(r, p);
	err = check_unnamed(r, p);
	if (err != 0)
		return err;
	hand_env(r, &env);
	p->error = existing_error(r, p, env.fsuid);
	return p->error != 0 ? state_failed(r, p) : state_existing(r, p);
}

/* ---- everything else -------------------------------------------------- */

/* O_TMPFILE: a file without a name, in a folder. */
static int prepare_unnamed(struct request *r, uint64_t resolve)
{
	struct place *p = &r->target.place[0];
	unsigned follow = r->flags & O_NOFOLLOW ? 0 : PLACE_FOLLOW;
	int err = fetch_resolve(r, 0, PLACE_DIR | follow, resolve);

	if (err != 0)
		return err;
	if (p->error != 0)
		return state_failed(r, p);
	err = canon_join(p->canon, sizeof p->canon, "#unnamed");
	if (err != 0)
		return err;
	err = state_created(r, p);
	r->facts[0].dev = r->facts[0].ino = 0;
	r->facts[0].object_is_dir = false;
	return err;
}

static bool ends_in_slash(const char *text)
{
	size_t n = strlen(text);

	return n > 0 && text[n - 1] == '/';
}

static int prepare_existing(struct request *r, uint64_t resolve)
{
	struct place *p = &r->target.place[0];
	/* O_NOFOLLOW can be seen in the open file, so act needs the folder. */
	bool parent = (r->flags & (O_NOFOLLOW | O_PATH)) == O_NOFOLLOW && !ends_in_slash(p->text);
	unsigned flags = (r->flags & O_NOFOLLOW ? 0 : PLACE_FOLLOW) |
	                 (r->flags & O_DIRECTORY ? PLACE_DIR : 0) | (parent ? PLACE_PARENT : 0);
	int err = fetch_resolve(r, 0, flags, resolve);

	if (err != 0)
		return err;
	if (p->error != 0)
		return state_failed(r, p);
	err = check_unnamed(r, p);
	if (err != 0)
		return err;
	if (r->flags & O_PATH) {
		(void)state(r, CLASS_STAT, p);
		return state_links(r, CLASS_STAT, p);
	}
	if ((r->flags & O_DIRECTORY) && !S_ISDIR(p->st.st_mode))
		p->error = -ENOTDIR;
	else if (S_ISLNK(p->st.st_mode))
		p->error = -ELOOP;
	return p->error != 0 ? state_failed(r, p) : state_existing(r, p);
}

static int prepare(struct request *r)
{
	struct place *p = &r->target.place[0];
	struct open_args a;
	int err = fetch_args(r, &a);

	if (err == 0)
		err = fetch_text(r, ROLE_PATH, p->text, sizeof p->text);
	if (err != 0)
		return fetch_result(r, err);
	r->flags = a.flags;
	r->mode = (uint32_t)a.mode;
	err = fetch_base(r, 0, ROLE_DIRFD, a.resolve & RESOLVE_IN_ROOT ? PLACE_IN_ROOT : 0);
	if (err == 0)
		err = fetch_end(r, a.flags & (O_CREAT | OPEN_TMPFILE) ? HAND_UMASK : HAND_IDS);
	if (err != 0)
		return fetch_result(r, err);
	if (is_direct(r, &a)) {
		err = prepare_direct(r, p);
		if (err != 0)
			return err < 0 ? err : 0;
	}
	if (a.flags & O_CREAT)
		err = prepare_create(r, a.resolve);
	else if (a.flags & OPEN_TMPFILE)
		err = prepare_unnamed(r, a.resolve);
	else
		err = prepare_existing(r, a.resolve);
	return fetch_result(r, err);
}

const struct family family_open = {.prepare = prepare, .act = open_act};
