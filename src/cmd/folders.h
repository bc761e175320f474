/* The folders that policies speak of: HOME PROJECT TMPDIR CACHE CONFIG STATE
 * RUNTIME GITDIR.  Found once, at start, outside the tree. */
#ifndef WARY_CMD_FOLDERS_H
#define WARY_CMD_FOLDERS_H

#include "base/err.h"

#include <stdbool.h>

/* All canonical where they exist; never NULL but home_of_uid. */
struct folders {
	char *home;
	char *home_of_uid; /* of the user database, where that is another; or NULL */
	char *project;     /* POLICY_NO_PROJECT where there is none */
	char *gitdir;      /* likewise */
	char *tmpdir;
	char *cache;
	char *config;
	char *state;
	char *runtime;
	char uid[16];
	char *cwd; /* "/" where it cannot be told */
};

/** folders_find: from the environment, the user database and the working
 * folder.  Relative values are as if not set.
 * @out: folders_free(), also after a failure.
 * Returns 0 or -ERR_NOMEM. */
must_check int folders_find(struct folders *out);
void folders_free(struct folders *f);

/** folders_get: the value of a variable by its name, or NULL. */
const char *folders_get(const struct folders *f, const char *name);

#endif
