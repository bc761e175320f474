/* The real world for loading policies, and which of them are in force. */
#ifndef WARY_CMD_WORLD_H
#define WARY_CMD_WORLD_H

#include "base/err.h"
#include "cmd/folders.h"
#include "policy/world.h"

#include <stdbool.h>
#include <stddef.h>

struct world;

/** world_new: finds folders, shipped policies and the user's settings.  Reads
 * the environment: before it is wiped.  Not thread-safe.
 * Returns 0 or -ERR_NOMEM. */
must_check int world_new(struct world **out);
void world_free(struct world *w);

const struct folders *world_folders(const struct world *w);
/** world_shipped: the folder of the shipped policies. */
const char *world_shipped(const struct world *w);

/** world_policy: what policy_load needs; for_run and stages may be set. It
 * lives as long as the world, which must outlive a load but not the policy. */
struct policy_world *world_policy(struct world *w);

/** world_floor_add: one more file or folder that is wary's own: the store of
 * -o.  Before policy_load.
 * Returns 0 or -ERR_NOMEM, -ERR_NOTFOUND. */
must_check int world_floor_add(struct world *w, const char *path);
/** world_links_add: the links on the way to such a file, as it was written, are
 * not the tree's to change.  As above; also -ERR_TOOLONG. */
must_check int world_links_add(struct world *w, const char *path);

/* What a run or a command was given. */
struct world_want {
	const char *policy; /* -p: a name or a path; NULL: the user's own, else
	                       default, with the project's */
	const char *rules;  /* rules of the command line, a line each, or NULL */
	bool alone;         /* only @policy: no machine file, no stored answers */
};

/** world_files: the words for policy_load, in its order.
 * @files: NULL-terminated, owned by the world, until the next call.
 * Returns 0, -ERR_NOMEM, or -ERR_PERM, -ERR_DAMAGED, -ERR_SYS where the record
 * of an accepted project policy cannot be read. */
must_check int world_files(struct world *w, const struct world_want *want,
                           const char *const **files);

/** world_overlay: from now on @word, where a load is given it, stands for this
 * text, whatever is on disk: a policy that is not written yet.
 * @path: what it is called in messages.  A NULL @word ends it.
 * Returns 0 or -ERR_NOMEM. */
must_check int world_overlay(struct world *w, const char *word, const char *path, const char *text,
                             size_t len_bytes);

/** world_disk: from now on project policies are read as they are on disk, not
 * as they were accepted: to look at one, never to run. */
void world_disk(struct world *w);

/** world_name: the name under which answers are kept ("default", "policy"…),
 * of the last world_files. */
const char *world_name(const struct world *w);

/** world_notice: what the user should be told about the last world_files, or
 * NULL: a project policy that does not count, or counts as it was accepted.
 * Printable. */
const char *world_notice(const struct world *w);

#endif
