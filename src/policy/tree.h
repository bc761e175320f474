/* The parsed form of a text: what was written, nothing resolved. */
#ifndef WARY_POLICY_TREE_H
#define WARY_POLICY_TREE_H

#include "policy/message.h"
#include "policy/verdict.h"

#include <stdint.h>

enum cond_kind {
	COND_BY,
	COND_UNDER,
	COND_SHA256,
	COND_AT,
	COND_FROM,
	COND_VERSION,
	COND_UNTIL,
	COND_ARGV,
	COND_HAS,
	COND_FACTS,
};

struct cond_tree {
	enum cond_kind kind;
	struct spot at;     /* of its keyword, through its last word */
	struct words words; /* without keywords */
	const char *text;   /* as written, blanks squeezed */
	unsigned facts;     /* COND_FACTS: words_fact_bit */
	bool negated;       /* … not */
};

struct options_tree {
	int as_errno;    /* 0: none */
	uint32_t for_s;  /* 0: none */
	const char *via; /* or NULL */
	const char *because;
	bool each, relay, dependencies, stack, quiet;
	/* Where each was written; source NULL: it was not. */
	struct spot as_at, for_at, via_at, because_at, each_at, relay_at, dependencies_at, stack_at,
		quiet_at;
};

struct rule_tree {
	enum policy_answer answer;
	bool is_final;
	unsigned classes;         /* bits */
	const char *classes_text; /* as written */
	struct spot classes_at;
	struct words objects;
	VEC(struct cond_tree) conds;
	struct options_tree options;
	const char *tail; /* conditions and options but because, as written */
};

struct secret_tree {
	struct word name;
	const char *from_kind; /* "vault", "env", "file", "command" */
	struct word from;      /* what follows the colon */
	struct words to;
	VEC(struct cond_tree) conds;
	const char *as_kind; /* "env", "file", "fd" */
	struct word as;
	bool ask;
	struct options_tree options;
	const char *text;
};

struct limit_tree {
	struct words names;
	VEC(uint64_t) amounts;
	bool has_in;
	struct word in;
	const char *then; /* or NULL */
};

struct expect_tree {
	enum policy_answer want;
	unsigned class_bits; /* one or more: each must hold */
	struct word object;
	bool has_by, has_named, has_version, has_from, has_argv;
	struct word by, named, version, from;
	struct words under;
	unsigned facts;
	struct words argv;
	const char *text;
};

enum stmt_kind {
	STMT_INCLUDE,
	STMT_LET,
	STMT_DEFAULT,
	STMT_RULE,
	STMT_SECRET,
	STMT_LIMIT,
	STMT_AUDIT,
	STMT_ENV,
	STMT_TMP,
	STMT_TENANT,
	STMT_EXPECT,
};

enum audit_word { AUDIT_COUNT, AUDIT_OFF, AUDIT_FULL, AUDIT_SYNC, AUDIT_KEEP, AUDIT_MAX_SIZE };
enum env_word { ENV_PASS, ENV_DROP, ENV_SET };

struct stmt {
	enum stmt_kind kind;
	struct spot at;      /* of its first word */
	struct spot whole;   /* the statement, on its first line */
	struct word word;    /* include; let, tenant, env set: NAME */
	struct words words;  /* let: values; env: globs; tenant: users */
	const char *let_env; /* let X = env:NAME, or NULL */
	struct word value;   /* env set; tenant: use */
	int answer;          /* default: verdict, -1 pass */
	unsigned classes;    /* default, audit: bits; default without: 0 */
	enum audit_word audit;
	uint64_t amount; /* audit keep: seconds; audit max-size: bytes */
	enum env_word env;
	bool tmp_private;
	union {
		struct rule_tree *rule;
		struct secret_tree *secret;
		struct limit_tree *limit;
		struct expect_tree *expect;
	};
};

#endif
