/* Where packages come from: what options, environment and configuration files
 * say of registries. */
#ifndef WARY_PACKAGE_SOURCE_H
#define WARY_PACKAGE_SOURCE_H

#include "package/list.h"
#include "package/tools.h"

#define SOURCE_SCOPES_MAX 32

struct source_scope {
	const char *scope; /* "@corp" */
	const char *host;
};

struct sources {
	struct package_list *list; /* memory */
	const struct package_world *world;
	const char *index; /* host that takes the manager's own place, or NULL */
	const char *extra; /* a host beside it, or NULL */
	bool several;      /* more than one beside it, or one that has no host */
	bool no_index;     /* only what is beside it */
	struct source_scope scopes[SOURCE_SCOPES_MAX];
	size_t scopes_n;
};

/** source_set: what an option or a setting says.
 * @name: without dashes, "registry", "extra-index-url", "@corp:registry"…; a
 *   name that does not speak of registries is ignored.  @value: URLs, blank-separated. */
void source_set(struct sources *s, const char *name, size_t name_len, const char *value);

/** source_read: every setting of a configuration file: npmrc, INI, TOML, YAML,
 * as far as lines of `key = value` go. */
void source_read(struct sources *s, const char *text);

/** sources_over: what @over says takes the place of, or is added to, @s. */
void sources_over(struct sources *s, const struct sources *over);

/** source_of: where a package of that name comes from: a host, or
 * "registry:MANAGER" where nothing names another; NULL where it may be one of
 * several. */
const char *source_of(struct sources *s, const char *manager, const char *name);

#endif
