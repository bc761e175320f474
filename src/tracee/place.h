/* One resolved name: the object, the folder that holds it, its last name, and
 * its canonical name.  Resolution as in law 5: fast by openat2, by component
 * wherever procfs or a magic link may be met, with the caller's self. */
#ifndef WARY_TRACEE_PLACE_H
#define WARY_TRACEE_PLACE_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#define PLACE_CANON_MAX 8192
#define PLACE_NAME_MAX 256
#define PLACE_LINKS_MAX 40

struct place {
	int error;       /* 0, or -errno that the kernel would give; the other
	                    fields then say as much as was found */
	int fd;          /* O_PATH of the object, owned; -1 if absent */
	int parent_fd;   /* O_PATH of the folder, owned; -1 if not asked for */
	char name[PLACE_NAME_MAX]; /* last component within parent_fd */
	bool slash;      /* the name was written with a slash at its end */
	struct stat st;  /* of the object, where fd >= 0 */
	char canon[PLACE_CANON_MAX]; /* canonical name, also of what is absent:
	                    the deepest folder that exists, then the rest */
	char *links[PLACE_LINKS_MAX]; /* canonical names of links followed */
	unsigned links_n;
	bool textual;    /* canon is the text as given, not yet resolved: the
	                    effect must use RESOLVE_NO_SYMLINKS */
};

void place_init(struct place *p);
void place_done(struct place *p);

#endif
