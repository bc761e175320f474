/* What a manager's command line has it do: the verb among its words. */
#ifndef WARY_PACKAGE_VERB_H
#define WARY_PACKAGE_VERB_H

#include "package/tools.h"

#include <stdbool.h>
#include <stddef.h>

#define WORDS_MAX 4096

struct word {
	const char *text; /* the child's choice */
	bool doubt;       /* it may be an option's value */
};

/* A command line without its options. */
struct words {
	struct word items[WORDS_MAX]; /* from n on undefined */
	size_t n;
};

/** verb_installs: whether a verb of that kind installs something. */
bool verb_installs(enum verb_kind kind);

/** verb_choose: what the command does by the words from @from on, and which of
 * them is its first operand.  A word that may be an option's value is a verb if
 * it can be one that installs.
 * @operand: always set; may be beyond the last word.
 * Returns the kind: of a command without any word the tool's own; VERB_NONE
 * where no word decides. */
enum verb_kind verb_choose(const struct tool *t, const struct words *w, size_t from,
                           size_t *operand);

#endif
