/* One question, ready to be shown: printable text and the rules on offer.
 * Made where the facts are, sent to whoever shows it. Pure. */
#ifndef WARY_ASK_CARD_H
#define WARY_ASK_CARD_H

#include "ask/rule.h"
#include "base/buf.h"
#include "base/err.h"
#include "policy/facts.h"
#include "policy/verdict.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CARD_MAX_BYTES ((size_t)96 << 10)
#define CARD_LIST_SHOWN 12 /* objects named in the box; [i] names all */

/* Lines of the box, in order; those that say nothing are left out. */
enum card_line {
	CARD_HEADLINE, /* "curl (4790) wants to connect to …" */
	CARD_OBJECTS,  /* of several objects: which */
	CARD_STARTED,  /* lineage and argv */
	CARD_BECAUSE,  /* the rule */
	CARD_REASON,   /* its `because "…"` */
	CARD_SEEN,     /* what was answered before */
	CARD_NOTE,     /* what the person should know about the answer */
	CARD_MORE,     /* shown by [i]: several lines */
	CARD_FILE,     /* a file whose first lines [i] shows; a raw path */
	CARD_LINES
};

struct card {
	uint64_t id;
	pid_t guardian_pid;
	bool may_session;       /* "this session" may be answered (not `each`) */
	bool may_always;        /* "always" and "never" too */
	char *line[CARD_LINES]; /* NULL: none */
	/* Rules on offer, narrowest first; one a line where there are several
	 * objects or classes. */
	char *allow[RULE_CHOICES_MAX];
	char *deny; /* what "never" would write */
	size_t choices_n;
};

/* What card_make is told of the session. */
struct card_context {
	const char *home;  /* shown as ~, or NULL */
	const char *stack; /* printable, or NULL */
	const char *seen;  /* CARD_SEEN, or NULL */
	pid_t pid;
	bool answers; /* there is a file to write rules to */
};

/** card_make: builds the card of the parts whose verdict is to ask.
 * @choices: an array of @n, as rule_choices_make gives them.
 * Returns 0, -ERR_NOMEM or -ERR_BOUND. @out: card_free(). */
must_check int card_make(const struct facts *facts, const struct verdict *verdicts, size_t n,
                         const struct rule_choices *choices, const struct card_context *context,
                         struct card *out);
void card_free(struct card *c);

/** card_encode, card_decode: as bytes for a message between wary's own
 * processes. card_decode returns 0, -ERR_FORMAT or -ERR_NOMEM. */
void card_encode(struct buf *out, const struct card *c);
must_check int card_decode(const void *bytes, size_t len_bytes, struct card *out);

#endif
