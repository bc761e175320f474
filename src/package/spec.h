/* One package as it was asked for on a command line or in a file. */
#ifndef WARY_PACKAGE_SPEC_H
#define WARY_PACKAGE_SPEC_H

#include "package/list.h"
#include "package/tools.h"

/** spec_parse: adds the package that @text names, in the manager's own way of
 * writing.  Registry stays NULL but for URLs, whose host it is. */
void spec_parse(struct package_list *l, enum spec_kind kind, const char *text);

/** spec_npm: the same for a name and what package.json says of it. */
void spec_npm(struct package_list *l, const char *name, const char *wanted);

/** spec_is_exact: whether a version is one version: "1.2.3", "==1.2". */
bool spec_is_exact(enum spec_kind kind, const char *version);

/** spec_host: "host" or "host:port" of a URL, lower case; NULL if it has none.
 * Memory of the list. */
const char *spec_host(struct package_list *l, const char *url);

#endif
