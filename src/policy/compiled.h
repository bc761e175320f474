/* A policy as it decides: plain values in one arena, nothing of the text's
 * parse.  Between the files of policy/ only. */
#ifndef WARY_POLICY_COMPILED_H
#define WARY_POLICY_COMPILED_H

#include "policy/cond.h"
#include "policy/explain.h"
#include "policy/name_index.h"
#include "policy/path_index.h"
#include "policy/range_index.h"
#include "policy/settings.h"

/* Sources that decide each by themselves (law 6); the strictest stands. */
enum layer { LAYER_FLOOR, LAYER_MACHINE, LAYER_TENANT, LAYER_TEXT, LAYER_ANSWERS, LAYER_COUNT };
/** layer_name: as in explain.h. */
const char *layer_name(enum layer layer);

/* The number of a rule is its order: within a layer the greater is later. */
struct rule {
	/* What a verdict is made of. */
	const char *file;
	const char *because, *via;
	uint32_t line, for_s;
	int as_errno;
	uint32_t conds_n;
	uint8_t layer, answer;
	bool is_final, each, relay, dependencies, stack, quiet, derived;
	unsigned classes;
	const struct cond *conds;
	uint32_t objects, objects_n; /* a run of policy.objects */
	const char *text;            /* with all objects, as written */
	struct spot at;              /* while loading and checking only */
	struct spot by_at;           /* of a `by`, or source NULL */
};

enum object_form {
	OBJECT_ALL,  /* no object: the whole class */
	OBJECT_PATH, /* also unix: paths of connect and bind */
	OBJECT_ANY_ADDRESS,
	OBJECT_RANGE,
	OBJECT_HOST,
	OBJECT_BELOW,
	OBJECT_SET,
	OBJECT_UNIX_NAME,
	OBJECT_NAME, /* package, secret, ipc, syscall */
};

struct object {
	/* What deciding looks at first, with what it needs of the rule. */
	uint32_t next; /* of the same list: an earlier object, or 0 */
	uint32_t rule;
	unsigned classes;
	uint8_t layer, answer;
	bool is_final, has_conds;
	uint8_t form, proto, set;
	bool wild;           /* a pattern with a wildcard, or a whole class */
	bool dead;           /* an allow through a link that the tree may replace */
	bool names_registry; /* a host of a registry set */
	bool is_unix;
	uint32_t ports_n; /* 0: any */
	const struct port_range *ports;
	const char *text;    /* the rule with this object alone, as written */
	const char *pattern; /* canonical */
	struct ip_range range;
	const char *link; /* the link that an allow went through, or NULL */
	struct spot at;
	uint8_t rest_of_line[16];
};

struct inode_key {
	uint64_t dev, ino;
	const char *path; /* the literal name that rules hold for */
	uint32_t next;
};

struct default_rule {
	int answer; /* -1: pass */
	const char *file, *text;
	unsigned line;
};

struct secret_rule {
	struct policy_secret public;
	const struct program_pattern *to;
	size_t to_n;
	const struct cond *conds;
	uint32_t conds_n;
	bool ask, each, stack;
	const char *via, *because;
	uint8_t layer;
	struct spot at;
};

struct env_rule {
	const char *glob;
	bool keep;
};

struct expect {
	enum policy_answer want;
	unsigned classes;
	struct facts facts; /* class: each of classes in turn */
	const char *file, *text;
	unsigned line;
};

struct policy {
	struct arena arena;
	VEC(struct rule) rules;     /* [0] unused */
	VEC(struct object) objects; /* [0] unused */
	bool present[LAYER_COUNT];
	bool has_final;
	unsigned spoken; /* classes that some rule names */
	struct default_rule defaults[LAYER_COUNT][CLASS_COUNT];

	struct path_index paths;
	struct name_index hosts, names, unix_names;
	struct text_map below; /* x of *.x */
	struct range_index v4, v6;
	uint32_t all; /* lists: rules without object */
	uint32_t sets[SET_COUNT];
	uint32_t any_address;
	VEC(uint32_t) dependents;         /* objects of rules `with dependencies` */
	struct pair_map inodes;           /* folded dev, ino to inode_key */
	VEC(struct inode_key) inode_keys; /* [0] unused */
	struct name_index delegates;      /* abstract names */
	struct path_index delegate_paths;
	VEC(const char *) delegate_list; /* patterns; "@…" for abstract names */

	VEC(struct secret_rule) secrets;
	VEC(struct policy_limit) limits;
	VEC(struct env_rule) envs;
	VEC(struct policy_env_set) env_sets;
	VEC(struct expect) expects;
	VEC(struct policy_source) sources;
	struct policy_audit audit;
	struct policy_retention keeps[LAYER_COUNT], max_sizes[LAYER_COUNT];
	bool tmp_private;
	const char *tenant;
};

/** inode_fold: the key of a device and inode in policy.inodes. */
static inline uint64_t inode_fold(uint64_t dev, uint64_t ino)
{
	return ino * 0x9e3779b97f4a7c15u ^ dev;
}

#endif
