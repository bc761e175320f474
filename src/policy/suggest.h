/* The smallest readable policy that would have let a session run.
 *
 * The method, as the manual states it:
 * 1. The project, temporary folders and a repository elsewhere are each one
 *    rule, with what was done in them.
 * 2. Below the cache, the settings and the home, a tool's folder is one rule
 *    where more than one file of it was used; else the file is.
 * 3. Of the system, what programs load is one rule for each of its folders;
 *    settings, programs and what was changed are named one by one.
 * 4. Numbers that the system makes up (process ids, terminals) and names that
 *    look made up (six hexadecimal digits and more, of which one is a figure)
 *    become `*`.
 * 5. The network is by name: sets where they are known, else addresses.
 *    Packages are by manager where there are many.
 * 6. The part "keys" then refuses what no build needs; what the session did of
 *    that is named file by file behind it, for a person to think about.
 * Every rule carries the count of decisions that it stands for.  The same uses
 * give the same text, in whatever order they come. */
#ifndef WARY_POLICY_SUGGEST_H
#define WARY_POLICY_SUGGEST_H

#include "base/buf.h"
#include "base/err.h"
#include "policy/facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decisions of one kind. */
struct suggest_use {
	enum policy_class class;
	const char *object; /* as recorded; bytes chosen by the child */
	const char *set;    /* a word that stands for the object: "own:*",
	                       "registry:npm"; or NULL */
	uint64_t count;
	bool refused; /* the part "keys" refuses it */
};

/* Canonical folders; NULL or a name that cannot exist where there is none. */
struct suggest_folders {
	const char *home, *project, *gitdir, *tmpdir, *cache, *config, *state, *runtime;
};

/** suggest_write: appends the rules for @uses.
 * @uses: in any order; objects may repeat.
 * Returns 0, -ERR_NOMEM, or -ERR_BOUND. */
must_check int suggest_write(const struct suggest_folders *f, const struct suggest_use *uses,
                             size_t n, struct buf *out);

/** suggest_rule: appends one rule that allows exactly one use, by its literal
 * object, with a line end. */
void suggest_rule(const struct suggest_folders *f, const struct suggest_use *use, struct buf *out);

#endif
