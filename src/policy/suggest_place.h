/* Where an object belongs in a suggested policy, and the pattern for it. */
#ifndef WARY_POLICY_SUGGEST_PLACE_H
#define WARY_POLICY_SUGGEST_PLACE_H

#include "policy/suggest.h"

/* Sections of the text, in its order. */
enum suggest_section {
	SECTION_SYSTEM,
	SECTION_HOME,
	SECTION_CACHE,
	SECTION_TEMPORARY,
	SECTION_PROJECT,
	SECTION_ELSEWHERE,
	SECTION_NETWORK,
	SECTION_PACKAGES,
	SECTION_OTHER,
	SECTION_REFUSED, /* behind the part "keys" */
	SECTION_COUNT
};

struct suggest_place {
	enum suggest_section section;
	char *pattern; /* as the language writes it: a fold, or the object itself */
	char *literal; /* the object itself, with `*` for what is made up */
	bool whole;    /* the fold stands even for one object */
};

/** suggest_place: where a use belongs.
 * @exact: never a fold, and nothing made up: the object itself.
 * @out: memory of the caller (free(3) both).
 * Returns 0 or -ERR_NOMEM. */
must_check int suggest_place(const struct suggest_folders *f, const struct suggest_use *use,
                             bool exact, struct suggest_place *out);

#endif
