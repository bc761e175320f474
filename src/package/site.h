/* Where managers put packages: which folder of a name belongs to one.
 * Pure: looks at the name only, a canonical path that the tree chose. */
#ifndef WARY_PACKAGE_SITE_H
#define WARY_PACKAGE_SITE_H

#include <stdbool.h>
#include <stddef.h>

enum site_kind {
	SITE_NONE,
	SITE_NODE,   /* below node_modules */
	SITE_PYTHON, /* in site-packages or dist-packages, or beside a NAME.dist-info */
};

struct site {
	enum site_kind kind;
	size_t site_len;  /* the path of "…/node_modules" or "…/site-packages" */
	size_t place_len; /* the path of the package's own folder or file in it */
	bool whole;       /* not one package: all that is in place_len (node_modules
	                     itself, a scope's folder) */
};

/** site_of: the package that a path belongs to.
 * @path: absolute and canonical, or relative to a folder.
 * Returns whether it is in such a place and no manager's own file there
 * (.bin, .package-lock.json, .cache…). */
bool site_of(const char *path, struct site *out);

/** site_is_dist_info: whether a name ends in ".dist-info". */
bool site_is_dist_info(const char *name, size_t len);

#endif
