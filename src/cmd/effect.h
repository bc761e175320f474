/* What another text of a policy would change, by examples: for every rule of
 * either text, an object that the rule speaks of, put to both. */
#ifndef WARY_CMD_EFFECT_H
#define WARY_CMD_EFFECT_H

#include "cmd/tool.h"

#include <stdbool.h>
#include <stddef.h>

/* One example whose verdict differs. */
struct effect {
	unsigned classes; /* bits 1 << CLASS_ with the same verdicts */
	char *object;     /* with the conditions of the rule that it is from */
	struct verdict before, after;
};

struct effects {
	struct effect *v;
	size_t n;
	/* Rules of @after that no example could be made for. */
	char **unweighed;
	size_t unweighed_n;
};

/** effect_find: compares two policies.
 * @out: effects_free(); the verdicts' strings live as long as the policies.
 * Returns 0 or -ERR_NOMEM. */
must_check int effect_find(const struct tool *t, const struct policy *before,
                           const struct policy *after, struct effects *out);
void effects_free(struct effects *e);

/** effect_print: a table of those that became looser (@looser) or stricter.
 * Returns how many there are. */
size_t effect_print(const struct tool *t, const struct effects *e, bool looser);

#endif
