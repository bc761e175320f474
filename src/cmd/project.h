/* Which folder is the project, and where its git repository lies.
 *
 * The project is the folder that a policy lets the tree change, so that
 * nothing which another user, or an earlier tree outside its own folder, could
 * have written may choose it:
 * 1. A mark counts only where both it and its folder belong to this user.
 * 2. It is never /, a home or what holds one, or a folder of the system; and
 *    only with a mark a hidden folder of the home.
 * 3. A repository elsewhere (a linked worktree, a submodule) counts only where
 *    it names this project itself. */
#ifndef WARY_CMD_PROJECT_H
#define WARY_CMD_PROJECT_H

struct folders;

/** project_find: the nearest folder at or above the working folder with a mark
 * of version control (or of wary); else the nearest with a build file; else
 * the working folder itself where it is this user's and no system folder.
 * @f: home, home_of_uid and cwd are set.
 * Returns memory (free(3)): a canonical path, or POLICY_NO_PROJECT; NULL
 * without memory. */
char *project_find(const struct folders *f);

/** project_gitdir: the folder that holds hooks and config of the project's
 * repository: .git, or for a linked worktree the common one, for a submodule
 * its own.
 * Returns memory: a canonical path, or POLICY_NO_PROJECT; NULL without
 * memory. */
char *project_gitdir(const char *project);

#endif
