/* Which family answers which call.  One line a family, in the order of
 * call/family.def; a family without a line is refused (fail closed). */
#include "answer/families.h"

const struct family *const families[FAMILY_COUNT] = {
	[FAMILY_none] = NULL,
};
