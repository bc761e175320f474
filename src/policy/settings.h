/* Statements of a policy that are not rules: limits, audit, environment. */
#ifndef WARY_POLICY_SETTINGS_H
#define WARY_POLICY_SETTINGS_H

#include "policy/policy.h"

/* `limit`: the session's (law 27): of one text the later holds, across
 * sources the smaller; what is listed here is in force. */
struct policy_limit {
	const char *name; /* "wall", "memory"… */
	uint64_t amount;  /* seconds, bytes, bytes a second, or a count */
	const char *in;   /* canonical path pattern, or NULL */
	const char *then; /* "stop", "deny", "ask", "pause" */
	const char *file;
	unsigned line;
	int layer; /* which source set it: for policy/ alone */
};
size_t policy_limit_count(const struct policy *p);
const struct policy_limit *policy_limit_at(const struct policy *p, size_t i);

/* `audit keep` and `audit max-size`: of one text the later holds, across sources the
 * one that removes less. */
struct policy_retention {
	uint64_t amount; /* seconds or bytes; 0: none was stated */
	const char *file;
	unsigned line;
	const char *text; /* as written */
};
/* The least that may be stated. */
#define RETENTION_MIN_S ((uint64_t)86400)
#define RETENTION_MIN_BYTES ((uint64_t)1 << 20)

/* `audit`: the classes of which allowed decisions get no row of their own. */
struct policy_audit {
	unsigned count; /* a counter instead: bits 1 << CLASS_ */
	unsigned off;   /* nothing */
	bool sync;      /* every record on disk before its effect */
	struct policy_retention keep, max_size;
};
const struct policy_audit *policy_audit_of(const struct policy *p);

/** policy_env_keeps: whether a variable stays in the tree's environment: the
 * last of `env pass` and `env drop` that matches decides; kept without one. */
bool policy_env_keeps(const struct policy *p, const char *name);

/* `env set NAME = word`. */
struct policy_env_set {
	const char *name, *value;
};
size_t policy_env_set_count(const struct policy *p);
const struct policy_env_set *policy_env_set_at(const struct policy *p, size_t i);

/** policy_wants_sha256: whether any rule or secret asks for a program's hash, so
 * that it must be taken. */
bool policy_wants_sha256(const struct policy *p);

/** policy_wants_stack: whether any rule or secret asks with the call stack. */
bool policy_wants_stack(const struct policy *p);

/** policy_tmp_private: whether `tmp private` is in force. */
bool policy_tmp_private(const struct policy *p);

/** policy_tenant: the tenant whose policy decides as well, or NULL. */
const char *policy_tenant(const struct policy *p);

/* One rule as it is in force, with its resolved objects; for `show`. */
struct policy_rule {
	const char *source; /* "machine", "tenant", "policy", "answers", "floor" */
	const char *file;
	unsigned line;
	enum policy_answer answer;
	bool is_final;
	bool is_derived;     /* the allow of resolve that a connect by name brings */
	unsigned classes;    /* bits 1 << CLASS_ */
	const char *text;    /* verdict, classes, objects and conditions as written */
	const char *because; /* or NULL */
	size_t objects_n;    /* patterns as matched; 0: the rule matches nothing */
};
size_t policy_rule_count(const struct policy *p);
/** policy_rule_at: fills @out; its strings live as long as the policy. */
void policy_rule_at(const struct policy *p, size_t i, struct policy_rule *out);
/** policy_rule_object: canonical pattern @n of rule @i; NULL: the whole class,
 * or @n is too great. */
const char *policy_rule_object(const struct policy *p, size_t i, size_t n);
/** policy_default_of: the default verdict of a class by the user's text; -1:
 * no default reaches it (law 4). */
int policy_default_of(const struct policy *p, enum policy_class class);

#endif
