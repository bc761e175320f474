/* Rows of installed packages, taken apart (docs/AUDIT.md, "Installed packages"). */
#ifndef WARY_CMD_INSTALLED_H
#define WARY_CMD_INSTALLED_H

#include "audit/read.h"

/* What one row says. Texts are the tree's choice where they are names. */
struct installed {
	uint64_t row;
	int64_t reason; /* 2 installed, 3 link, 4 stray, 5 removed */
	int64_t result; /* 0, or -errno: why it has no hash */
	char *manager, *name;
	char *version, *folder, *sha256; /* NULL: none */
	char **words;                    /* of its argv, NULL-terminated: "installed", "files=3" */
};

struct installed_list {
	struct installed *items; /* the last of each folder, in order of the rows */
	size_t n, cap;
};

/** installed_load: those of a session.
 * Returns 0, -ERR_NOMEM or a store_ error; installed_free() in any case. */
must_check int installed_load(struct store *s, uint64_t session, struct installed_list *out);
void installed_free(struct installed_list *l);

/** installed_word: the value of a key ("claimed-from"), or NULL. */
const char *installed_word(const struct installed *i, const char *key);

/** installed_state: "installed", "link", "stray", "removed". */
const char *installed_state(const struct installed *i);

#endif
