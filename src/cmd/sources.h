/* Where policies are found: shipped, the user's, the machine's, by a path. */
#ifndef WARY_CMD_SOURCES_H
#define WARY_CMD_SOURCES_H

#include "base/err.h"
#include "cmd/folders.h"

#include <stdbool.h>
#include <stddef.h>

#define SOURCES_MACHINE "/etc/wary/policy.wary"

/** sources_shipped: the folder of the shipped policies: $WARY_POLICY_DIR where
 * it is set, "policy" beside the program in a build tree, else the installed
 * one.
 * Returns memory (free(3)), or NULL without memory. */
char *sources_shipped(void);

/** sources_user: the file of the user's own policy, present or not; memory. */
char *sources_user(const struct folders *f);

/** sources_answers: the file of the answers that are kept for a policy; memory.
 * @policy: its name without ".wary". */
char *sources_answers(const struct folders *f, const char *policy);

/** sources_path: where sources_read looks for a word, as it is written: links are
 * not followed; of a name, the user's own file.  Memory (free(3)) or NULL. */
char *sources_path(const struct folders *f, const char *from_file, const char *word);

/** sources_read: as policy_world.read: a name is a shipped policy or one of
 * the user's (CONFIG/wary/NAME.wary), anything with a / a path; without
 * @from_file a word that ends in ".wary" is a file too, if there is one.
 * The machine's and the user's files count only where nobody else can change
 * them (-ERR_PERM). */
must_check int sources_read(const struct folders *f, const char *shipped, const char *from_file,
                            const char *word, char **text, size_t *len_bytes, char **path);

enum sources_kind { SOURCES_SHIPPED, SOURCES_PART, SOURCES_USER, SOURCES_MACHINE_FILE };

/* One policy that is found by its name. */
struct sources_item {
	enum sources_kind kind;
	char *name;    /* "default" */
	char *path;    /* the file */
	char *summary; /* first sentence of its first comment; may be "" */
};

/** sources_list: shipped policies, then the user's, then the machine's, each
 * by name.  A part is a shipped policy that others include.
 * @out: sources_list_free().
 * Returns 0 or -ERR_NOMEM. */
must_check int sources_list(const struct folders *f, const char *shipped, struct sources_item **out,
                            size_t *count);
void sources_list_free(struct sources_item *items, size_t count);

#endif
