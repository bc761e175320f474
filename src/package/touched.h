/* The packages that a run of a manager put somewhere, changed or removed: a set
 * of places, told from the names that were written.  Pure. */
#ifndef WARY_PACKAGE_TOUCHED_H
#define WARY_PACKAGE_TOUCHED_H

#include "base/err.h"
#include "package/site.h"

#include <stdint.h>

struct touched_place {
	char *path; /* of the place */
	struct site site;
	bool itself; /* not only something in it: it may have been moved here whole */
};

struct touched {
	struct touched_place *items; /* in the order in which they were met */
	size_t n, cap;
	uint32_t *slots; /* a hash table of their numbers + 1 */
	size_t slots_n;
	size_t last; /* the one that was met last */
	bool more;   /* there was no room for all */
};

#define TOUCHED_MAX ((size_t)32768)

/** touched_add: what belongs to no package is left out.
 * @path: canonical, absolute; the tree's choice; copied.
 * Returns 0 or -ERR_NOMEM, -ERR_BOUND (noted in the set as well). */
must_check int touched_add(struct touched *t, const char *path);

void touched_free(struct touched *t);

#endif
