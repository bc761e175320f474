/* Building a list of packages: memory for its strings, and rows. */
#ifndef WARY_PACKAGE_LIST_H
#define WARY_PACKAGE_LIST_H

#include "package/package.h"

/** list_begin: an empty list. Returns 0 or -ERR_NOMEM. */
must_check int list_begin(struct package_list *l);

/** list_text: keeps a copy of @len bytes as a string for the list's life; NULL
 * without memory (the list then fails as a whole, see list_failed). */
const char *list_text(struct package_list *l, const char *bytes, size_t len);
const char *list_str(struct package_list *l, const char *text);

/** list_add: one more package, zeroed; valid until the next is added.  Never
 * NULL: without memory or beyond the bound it is a row that is thrown away. */
struct package *list_add(struct package_list *l);

/** list_find: a package of that name, or NULL. */
struct package *list_find(const struct package_list *l, const char *name);

/** list_failed: whether memory was missing. */
bool list_failed(const struct package_list *l);

#endif
