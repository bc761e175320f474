/* From statements to a policy's plain values. */
#ifndef WARY_POLICY_COMPILE_H
#define WARY_POLICY_COMPILE_H

#include "policy/compiled.h"
#include "policy/expand.h"
#include "policy/resolve.h"

/* A registry that some allow rule relies on: its files are checked at the
 * end, when it is known what the tree may write. */
struct registry_use {
	const char *manager;
	struct spot at;
};

/* Allow objects that go through links, likewise. */
struct link_use {
	uint32_t object;
	struct links links;
};

struct compiler {
	struct policy *policy;
	struct arena *scratch; /* as long as one statement */
	struct arena *lasting; /* as long as the load */
	struct policy_report *report;
	const struct policy_world *world;
	struct resolver resolver;
	struct scope *scope;         /* of the file being compiled */
	const struct source *source; /* likewise */
	enum layer layer;
	VEC(struct registry_use) registries;
	VEC(struct link_use) link_uses;
	struct text_map programs; /* patterns to 1: fixed, 2: may be written */
};

void compile_begin(struct compiler *c, struct policy *p, struct arena *lasting,
                   struct policy_report *r, const struct policy_world *world);

/** compile_floor: the built-in floor (law 6) and the set `delegates`. */
void compile_floor(struct compiler *c);

/** compile_floor_source: a file that the policy in force was read from is not
 * the tree's to change, wherever it lies: the next session would obey it.
 * @path: canonical; a name that is no path (a shipped policy) is left alone. */
void compile_floor_source(struct compiler *c, const char *path);

void compile_rule(struct compiler *c, const struct stmt *s);
void compile_secret(struct compiler *c, const struct stmt *s);
void compile_limit(struct compiler *c, const struct stmt *s);
void compile_audit(struct compiler *c, const struct stmt *s);
void compile_expect(struct compiler *c, const struct stmt *s);
void compile_default(struct compiler *c, const struct stmt *s);

/** compile_end: what needs the whole policy: links, registries, programs that
 * the tree may write (laws 11, 16, 21). */
void compile_end(struct compiler *c);

/* --- between the files of the compiler ----------------------------------- */

/** compile_need: an error where the policy is to run and a stage is missing. */
void compile_need(struct compiler *c, struct spot at, unsigned stage, const char *what);

/** compile_kept: text in the policy's own memory. */
const char *compile_kept(struct compiler *c, const char *text);

/** compile_object: adds an object to the newest rule, in its index. */
void compile_object(struct compiler *c, struct object o);

/** compile_path_object: canonical patterns of one expanded path.
 * @o: all but the pattern. */
void compile_path_object(struct compiler *c, const char *pattern, struct object o);

/** compile_objects: all objects of a rule that is just being added. */
void compile_objects(struct compiler *c, const struct rule_tree *tree, struct rule *rule);

/** compile_conds: conditions as plain values.
 * @by_at: set to the place of a `by`; may be NULL. */
const struct cond *compile_conds(struct compiler *c, const struct cond_tree *conds, size_t n,
                                 enum policy_answer answer, unsigned classes, struct spot *by_at);

/** compile_programs: paths of programs. */
const struct program_pattern *compile_programs(struct compiler *c, const struct words *words,
                                               enum policy_answer answer, size_t *n);

/** compile_hosts: hosts of a registry, kept; NULL where not configured. */
const char *const *compile_hosts(struct compiler *c, const char *manager);

/** compile_facts: the facts of an expect or question in the arena.
 * Returns false with messages. */
bool compile_facts(struct compiler *c, const struct expect_tree *e, struct arena *a,
                   struct facts *out);

#endif
