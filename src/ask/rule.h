/* Rules as text: what an answer "always" or "never" would write, from the
 * narrowest to the widest that is offered, and what each covers. Pure. */
#ifndef WARY_ASK_RULE_H
#define WARY_ASK_RULE_H

#include "base/buf.h"
#include "base/err.h"
#include "policy/facts.h"

#include <stdbool.h>

#define RULE_CHOICES_MAX 4

/* One rule on offer. */
struct rule_choice {
	char *text;   /* "allow connect files.example.org:443 by /usr/bin/curl" */
	char *deny;   /* the same with deny, without the program (law 21: a
	                   copy would evade it) */
	bool below;   /* the object and all below it… */
	bool by;      /* … for the acting program only */
	char *object; /* what is covered, as facts.object */
};

struct rule_choices {
	struct rule_choice each[RULE_CHOICES_MAX];
	size_t n;
};

/** rule_choices_make: what can be offered for one part of a question.
 * Returns 0 or -ERR_NOMEM; zero choices where the object cannot be written as
 * a rule. @out: rule_choices_free(). */
must_check int rule_choices_make(const struct facts *f, struct rule_choices *out);
void rule_choices_free(struct rule_choices *c);

/** rule_word: appends a literal object as one word of the policy language:
 * wildcards, quotes, blanks and bytes that may not stand in a policy are
 * escaped. */
void rule_word(struct buf *out, const char *object);

/** rule_object: the word for the object of a question: a host name where one
 * is known, else the address; a path; "npm:express". */
void rule_object(struct buf *out, const struct facts *f);

#endif
