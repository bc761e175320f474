/* Why a verdict is what it is, as data; questions and expect lines. */
#ifndef WARY_POLICY_EXPLAIN_H
#define WARY_POLICY_EXPLAIN_H

#include "policy/policy.h"

/* Why a rule that speaks of the object did or did not decide. */
enum policy_why {
	WHY_DECIDED,     /* this one decided for its source */
	WHY_LATER,       /* matched; a later rule decided */
	WHY_FINAL,       /* matched; an earlier final rule decided */
	WHY_CONDITION,   /* a condition does not hold */
	WHY_UNKNOWN,     /* a condition needs a fact that is not known */
	WHY_STRICTER,    /* matched; an unknown fact may make a stricter rule decide */
	WHY_WILDCARD,    /* no pattern with a wildcard opens this (delegates) */
	WHY_ADDRESS,     /* a name that leads to a private address needs `at` */
	WHY_UNFIXED,     /* the program may be changed by the tree */
	WHY_DEPENDENCY,  /* the package is pulled in; the rule says no `with dependencies` */
	WHY_REPLACEABLE, /* an allow through a link that the tree may replace */
};
/** policy_why_text: a short sentence without a full stop. */
const char *policy_why_text(enum policy_why why);

struct policy_match {
	const char *source; /* "floor", "machine", "tenant", "policy", "answers" */
	const char *file;
	unsigned line;
	const char *text; /* the rule with the object that speaks of it */
	enum policy_answer answer;
	bool is_final;
	enum policy_why why;
	const char *condition;  /* the condition that fails or is unknown, or NULL */
	const char *other_name; /* the rule speaks of this name of the same file
	                           (law 11), or NULL */
	bool asks_more;         /* would be looser than the verdict: "would allow
	                          it, but asks for more" */
};

/* What one source says by itself. */
struct policy_opinion {
	const char *source;
	bool present;           /* false: there is no such source */
	bool consulted;         /* answers: only where the verdict was ask */
	bool has_opinion;       /* false: `default pass`, floor, answers without a match */
	struct verdict verdict; /* where has_opinion */
};

enum { POLICY_OPINIONS = 5 }; /* floor, machine, tenant, policy, answers */

struct policy_explanation; /* owns all its strings but those of the policy */

/** policy_explain: everything about one question.
 * @out: policy_explanation_free().
 * Returns 0 or -ERR_NOMEM. */
must_check int policy_explain(const struct policy *p, const struct facts *f,
                              struct policy_explanation **out);
void policy_explanation_free(struct policy_explanation *e);
const struct verdict *policy_explanation_verdict(const struct policy_explanation *e);
/* Matches in the order of the rules, floor first. */
size_t policy_explanation_count(const struct policy_explanation *e);
const struct policy_match *policy_explanation_at(const struct policy_explanation *e, size_t i);
const struct policy_opinion *policy_explanation_opinion(const struct policy_explanation *e,
                                                        size_t i);

/** policy_question_new: the facts of a written question, "connect
 * github.com:22 by /usr/bin/ssh under /usr/bin/git": class, object, then as in
 * `expect` by, under, named, if, version, from, argv.  What is not said is
 * taken as known and not so: no program that a rule names, no lineage.
 * @text: chosen by the user, one line.
 * @facts: points into *holder (policy_question_free); @report as in
 * policy_load.  Returns 0, -ERR_POLICY or -ERR_NOMEM. */
struct policy_question;
must_check int policy_question_new(const struct policy *p, const struct policy_world *world,
                                   const char *text, struct policy_question **holder,
                                   const struct facts **facts, struct policy_report **report);
void policy_question_free(struct policy_question *q);

/* One `expect` line and what came of it; strings of the policy. */
struct policy_expect_result {
	const char *file;
	unsigned line;
	const char *text; /* as written */
	enum policy_answer want;
	struct verdict got; /* file, line and text of the rule that decided */
	bool passed;
};
size_t policy_expect_count(const struct policy *p);
/** policy_expect_run: runs expect line @i (law 33). Touches no disk. */
void policy_expect_run(const struct policy *p, size_t i, struct policy_expect_result *out);
/** policy_expect_facts: its facts, for policy_explain. */
const struct facts *policy_expect_facts(const struct policy *p, size_t i);

#endif
