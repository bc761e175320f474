/* One resolved name: the object, the folder that holds it, its last name, and
 * its canonical name.  Resolution as in law 5: by openat2 while no link is met,
 * by component from there on, with the caller's own self in procfs.
 *
 * How it works, and what must stay true:
 * 1. Every step is made from a descriptor, never again from a name: what a step
 *    found cannot be changed for the next one.
 * 2. The kernel follows no link for wary.  A plain link is read and its text
 *    walked; a magic link (/proc/PID/fd/N, cwd, exe…) is followed one at a time,
 *    after it is known whose it is.
 * 3. The canonical name is read from the descriptor that the effect will use.
 * 4. All of it happens while the worker wears the caller's credentials, so that
 *    folders which the caller may not search stop wary too.
 */
#ifndef WARY_TRACEE_PLACE_H
#define WARY_TRACEE_PLACE_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define PLACE_CANON_MAX 8192
#define PLACE_NAME_MAX 256
#define PLACE_LINKS_MAX 40

/* Through whose eyes: the caller's. */
struct place_env {
	pid_t tid;
	pid_t tgid;           /* 0 until it is needed: then looked up */
	uid_t fsuid;          /* for the rules about links in sticky folders */
	int root_fd;          /* O_PATH of the caller's root, borrowed */
	int self_fd_dir;      /* O_PATH of wary's /proc/self/fd, borrowed */
	dev_t proc_dev;       /* of /proc */
	bool protected_links; /* fs.protected_symlinks */
	/* Whether a process or thread is one of the tree's. */
	bool (*in_tree)(void *ctx, pid_t pid);
	void *ctx;
};

enum place_flags {
	PLACE_FOLLOW = 1,   /* a link as the last component is followed */
	PLACE_PARENT = 2,   /* parent_fd and name are wanted; the object may be
	                      absent, also behind a link that dangles */
	PLACE_DIR = 4,      /* it must be a folder */
	PLACE_EMPTY = 8,    /* an empty name means the base itself */
	PLACE_IN_ROOT = 16, /* the base is the root, also of absolute names */
};

struct place {
	/* Set by who fetched the name, before place_resolve. */
	char text[PATH_MAX]; /* as the caller gave it */
	int base_fd;         /* O_PATH of what the text starts from, owned; -1 where
	                    it is absolute and starts from the caller's root */
	/* The result. */
	int error;                    /* 0, or -errno that the kernel would give; -ENOENT with
	                    a parent_fd: only the last name is missing */
	int fd;                       /* O_PATH of the object, owned; -1 if absent */
	int parent_fd;                /* O_PATH of the folder, owned; -1 if not asked for */
	char name[PLACE_NAME_MAX];    /* last component within parent_fd; may be
	                    ".", ".." or "/" */
	bool slash;                   /* the name was written with a slash at its end */
	struct stat st;               /* of the object, where fd >= 0 */
	char canon[PLACE_CANON_MAX];  /* canonical name, also of what is absent:
	                    the deepest folder that exists, then the rest */
	char *links[PLACE_LINKS_MAX]; /* canonical names of links followed */
	unsigned links_n;
	bool textual; /* canon is the text as given, not yet resolved: the
	                    effect must use RESOLVE_NO_SYMLINKS */
	/* Objects without a name: pipes, sockets, memfds, namespaces. */
	bool unnamed; /* canon is "pipe:[4711]" and the like */
	/* The last magic link on the way, or the procfs folder it lies in. */
	pid_t proc_pid; /* whose folder in /proc; 0: none */
	int proc_fd;    /* N of /proc/PID/fd/N; -1: another kind */
	bool proc_own;  /* the caller's own process */
	bool outside;   /* belongs to a process outside the tree: refuse */
};

void place_init(struct place *p);
void place_done(struct place *p);

/** place_resolve: resolves p->text from p->base_fd.
 * @flags: enum place_flags.  @resolve: RESOLVE_ bits of openat2(2).
 * The worker wears the caller's credentials.  Does not block but on the file
 * system.  p->error says how it went. */
void place_resolve(struct place *p, struct place_env *env, unsigned flags, uint64_t resolve);

/** place_of_fd: the place of an O_PATH or other descriptor, which becomes p->fd
 * (owned).  p->error says how it went. */
void place_of_fd(struct place *p, struct place_env *env, int fd);

/** place_text_is_canonical: whether a name is absolute and has no empty, "." or
 * ".." component and no slash at its end. */
bool place_text_is_canonical(const char *text);

/** place_text_is_plain: the same for a relative name. */
bool place_text_is_plain(const char *text);

#endif
