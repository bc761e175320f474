/* The compiled policy.  Pure: no system calls in this folder; what must be
 * looked up outside is handed in through struct policy_world. */
#ifndef WARY_POLICY_POLICY_H
#define WARY_POLICY_POLICY_H

#include "base/err.h"
#include "policy/facts.h"
#include "policy/report.h"
#include "policy/verdict.h"
#include "policy/world.h"

#include <stdbool.h>
#include <stddef.h>

struct policy; /* immutable once loaded; may be read by any thread */

/** policy_load: reads, parses and compiles everything that is in force.
 * @files: words as for world->read, NULL-terminated, in this order, marked by
 *   a prefix where they are not the user's own:
 *   "machine:/etc/wary/machine.wary" where there is one; then the user's or
 *   "default", or the one of -p; then "project:PATH" as its user accepted it;
 *   "rules:TEXT" for rules of the command line, a line each, without header;
 *   "answers:PATH" for the user's stored answers (law 5).
 * @out: set on success only; policy_free().
 * @report: always set (NULL only without memory); has errors exactly when
 *   loading failed with -ERR_POLICY.  policy_report_free().
 * Returns 0, -ERR_POLICY (see the report) or -ERR_NOMEM. */
must_check int policy_load(const struct policy_world *world, const char *const *files,
                           struct policy **out, struct policy_report **report);
void policy_free(struct policy *p);

/** policy_decide: the verdict for one question, in about 1 µs.
 * Never fails: in doubt it is a deny.  A pure function of @f (law 31). */
void policy_decide(const struct policy *p, const struct facts *f, struct verdict *out);

/** policy_inode_denied: whether some deny or ask rule on a literal file holds
 * for this device and inode (law 11).  For the fast path, where a name is
 * decided before the object is known.  */
bool policy_inode_denied(const struct policy *p, uint64_t dev, uint64_t ino);

/** policy_speaks_of: whether any rule, final or not, names the class (so that
 * stat calls need not be trapped while none does; law 4). */
bool policy_speaks_of(const struct policy *p, enum policy_class class);

/** policy_looser_below: whether rules at or below @new_path are anywhere
 * looser than at or below @old_path, so that a rename or link must not run
 * (law 12).  Both are canonical.
 * @who: only object_is_dir (what lies below counts too) and ignores_case are
 *   looked at: the rules of every program count. */
bool policy_looser_below(const struct policy *p, const char *old_path, const char *new_path,
                         const struct facts *who);

/** policy_may_write: whether the tree could, without being asked, write,
 * create, delete or relink @path or a folder on the way to it under some
 * rule, whoever acts: what is then not `fixed`. */
bool policy_may_write(const struct policy *p, const char *path);

/* Secrets: `secret NAME from env:VAR to EXE… as env`. */
struct policy_secret {
	const char *name;      /* variable that the recipient sees */
	const char *from_kind; /* "env", "vault", "file", "command" */
	const char *from;      /* variable of wary, vault entry, path, command */
	const char *as_kind;   /* "env", "file", "fd" */
	const char *as;        /* path or number; NULL for env */
	uint32_t for_s;        /* counts from the first grant; 0: no bound */
	const char *file;
	unsigned line;
	const char *text;
};
size_t policy_secret_count(const struct policy *p);
const struct policy_secret *policy_secret_at(const struct policy *p, size_t i);
/** policy_secret_for: whether secret @i goes to the program in f->by (image
 * already verified, f->by.fixed told); verdict as for a rule: allow, ask or
 * deny.  Also deny where a later statement for the same name decides. */
void policy_secret_for(const struct policy *p, size_t i, const struct facts *f,
                       struct verdict *out);

/* For the record: every source in force, with its full text. */
struct policy_source {
	const char *name; /* "default.wary" */
	const char *path; /* canonical, or the name of a shipped one */
	const char *text;
	size_t len_bytes;
};
size_t policy_source_count(const struct policy *p);
const struct policy_source *policy_source_at(const struct policy *p, size_t i);

/** policy_prefixes: for the second boundary (Landlock): what the rules may
 * allow, as literal path prefixes.  Calls @each for every allow or ask rule's
 * literal beginning with the classes it may allow (bits 1 << CLASS_), and for
 * "/" where a default may; wider than the rules, never narrower.
 * @below: false where only the path itself is meant. */
void policy_prefixes(const struct policy *p,
                     void (*each)(void *ctx, const char *prefix, bool below, unsigned classes),
                     void *ctx);

#endif
