/* The walk of place_resolve: from a folder along a name to an object.
 * Only place.c uses it. */
#ifndef WARY_TRACEE_WALK_H
#define WARY_TRACEE_WALK_H

#include "tracee/place.h"

struct walk {
	struct place *p;
	struct place_env *env;
	unsigned flags;   /* enum place_flags */
	uint64_t resolve; /* RESOLVE_ bits */
	int cur;          /* the folder that was reached; borrowed or hold */
	int hold;         /* owned; -1 */
	int scope;        /* root for RESOLVE_BENEATH and IN_ROOT; -1: none */
	const char *rest; /* of the name, from cur */
	char *memory;     /* that rest is in, once a link was followed */
	unsigned followed;
	bool untouched;  /* no link met: the text is the way that was gone */
	bool root_known; /* the kernel would have looked for the root by now */
	bool jumped;     /* the link last followed was a magic one */
};

void walk_begin(struct walk *w, struct place *p, struct place_env *env, unsigned flags,
                uint64_t resolve);
void walk_end(struct walk *w);

/** walk_run: goes to the end; sets fd, st, parent_fd, name, slash and links of
 * the place.  Returns 0 or -errno, -ENOENT with a parent_fd where only the last
 * name is missing. */
must_check int walk_run(struct walk *w);

/** walk_name_rest: the canonical name where the object has none of its own to
 * read: the folder's, then the rest of the way.  Returns 0 or -errno. */
must_check int walk_name_rest(struct walk *w);

/** walk_open: openat2 with O_PATH. Returns a descriptor or -errno. */
must_check int walk_open(int dir_fd, const char *name, int flags, uint64_t resolve);

/** walk_is_procfs: whether an object lies in an instance of procfs. */
bool walk_is_procfs(int fd, const struct stat *st);

/** walk_judge_pid: sets proc_own and outside for a process in /proc. */
void walk_judge_pid(struct place *p, struct place_env *env, pid_t pid);

#endif
