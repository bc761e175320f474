/* The compiled policy.  Pure: no system calls in this folder; what must be
 * looked up outside is handed in through struct policy_world. */
#ifndef WARY_POLICY_POLICY_H
#define WARY_POLICY_POLICY_H

#include "base/err.h"
#include "policy/facts.h"
#include "policy/verdict.h"

#include <stdbool.h>
#include <stddef.h>

struct policy; /* immutable once loaded; may be read by any thread */

/* What loading needs from outside.  Every function may be NULL in tests. */
struct policy_world {
	void *ctx;
	/* Text of a policy by the word of include or -p: a shipped or user's
	 * name ("default") or a path.  *path: the canonical path of the file, or
	 * the name for a shipped one; both are memory the callee allocated
	 * (free(3)).  Returns 0 or -ERR_NOTFOUND, -ERR_PERM, -ERR_BOUND. */
	int (*read)(void *ctx, const char *from_file, const char *word,
	            char **text, size_t *len_bytes, char **path);
	/* The canonical form of an existing path's longest prefix; free(3). */
	char *(*canonical)(void *ctx, const char *path);
	/* device and inode of an existing path; false if none. */
	bool (*identity)(void *ctx, const char *path, uint64_t *dev, uint64_t *ino);
	/* Value of HOME PROJECT TMPDIR CACHE CONFIG STATE RUNTIME UID, or NULL. */
	const char *(*variable)(void *ctx, const char *name);
	/* An environment variable of wary itself (`let X = env:NAME`). */
	const char *(*environment)(void *ctx, const char *name);
	/* Hosts of a registry set ("npm"): "host:port" words, NULL-terminated,
	 * owned by the world; NULL where the manager is not configured. */
	const char *const *(*registry)(void *ctx, const char *manager);
	uint64_t now_s;
};

/* One message of the checker; strings owned by the report. */
struct policy_message {
	enum { POLICY_ERROR, POLICY_WARNING } kind;
	const char *file;
	unsigned line, column;  /* from 1 */
	unsigned len_columns;   /* of what is underlined */
	const char *text;       /* "unknown class \"raed\"" */
	const char *hint;       /* "did you mean \"read\"?", or NULL */
	const char *source;     /* the line as written */
};

struct policy_report; /* all messages of one load */
size_t policy_report_count(const struct policy_report *r);
const struct policy_message *policy_report_at(const struct policy_report *r,
                                              size_t i);
void policy_report_free(struct policy_report *r);

/** policy_load: reads, parses and compiles everything that is in force.
 * @files: words as for world->read, NULL-terminated: machine file first where
 *   there is one (marked by the prefix "machine:"), then the user's or
 *   "default", then the project's ("project:"), then "rules:TEXT" for rules
 *   of the command line.
 * @out: set on success only; policy_free().
 * @report: always set; has errors exactly when loading failed.
 * Returns 0, -ERR_POLICY (see the report) or -ERR_NOMEM. */
must_check int policy_load(const struct policy_world *world,
                           const char *const *files, struct policy **out,
                           struct policy_report **report);
void policy_free(struct policy *p);

/** policy_decide: the verdict for one question, in about 1 µs.
 * Never fails: in doubt it is a deny. */
void policy_decide(const struct policy *p, const struct facts *f,
                   struct verdict *out);

/** policy_inode_denied: whether some deny or ask rule on a literal file holds
 * for this device and inode (law 11).  For the fast path, where a name is
 * decided before the object is known.  */
bool policy_inode_denied(const struct policy *p, uint64_t dev, uint64_t ino);

/** policy_speaks_of: whether any rule, final or not, names the class (so that
 * stat calls need not be trapped while none does; law 4). */
bool policy_speaks_of(const struct policy *p, enum policy_class class);

/** policy_looser_below: whether rules at or below @new are anywhere looser
 * than at or below @old, so that a rename or link must not run (law 12). */
bool policy_looser_below(const struct policy *p, const char *old_path,
                         const char *new_path, const struct facts *who);

/** policy_may_write: whether the tree could write, create, delete or relink
 * @path under some rule, whoever acts: what is then not `fixed`. Answers
 * by the rules for the strictest acting program that a tree may start. */
bool policy_may_write(const struct policy *p, const char *path);

/* Secrets: `secret NAME from env:VAR to EXE… as env`. */
struct policy_secret {
	const char *name;      /* variable that the recipient sees */
	const char *from_kind; /* "env" */
	const char *from;      /* name of wary's variable */
	const char *file;
	unsigned line;
	const char *text;
};
size_t policy_secret_count(const struct policy *p);
const struct policy_secret *policy_secret_at(const struct policy *p, size_t i);
/** policy_secret_for: whether secret @i goes to the program in f->by (image
 * already verified); verdict as for a rule: allow, ask or deny. */
void policy_secret_for(const struct policy *p, size_t i, const struct facts *f,
                       struct verdict *out);

/* For the record: every source in force, with its full text. */
struct policy_source {
	const char *name;  /* "default.wary" */
	const char *path;  /* canonical, or the name of a shipped one */
	const char *text;
	size_t len_bytes;
};
size_t policy_source_count(const struct policy *p);
const struct policy_source *policy_source_at(const struct policy *p, size_t i);

/* For the second boundary (Landlock): what the rules may allow, as literal
 * path prefixes. Calls @each for every allow or ask rule's literal beginning
 * with the classes it may allow (bits 1 << CLASS_); wider than the rules,
 * never narrower. */
void policy_prefixes(const struct policy *p,
                     void (*each)(void *ctx, const char *prefix, bool below,
                                  unsigned classes),
                     void *ctx);

#endif
