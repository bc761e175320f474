/* Where packages come from: `registry:MANAGER` in the policy.  The hosts that
 * the user's own configuration names, or else the manager's own default as its
 * program says; no host is known to wary itself.  Read once, outside the tree,
 * and only for the managers that a policy asks about.
 *
 * A project's configuration does not count: the tree may write it. */
#ifndef WARY_NET_REGISTRY_H
#define WARY_NET_REGISTRY_H

#include "base/err.h"

struct registry; /* not thread-safe: for the time a policy is loaded */

/** registry_new: @home, @config: HOME and XDG_CONFIG_HOME or ~/.config,
 * absolute, copied. @getenv_: wary's own environment.
 * Returns 0 or -ERR_NOMEM. */
must_check int registry_new(const char *home, const char *config,
                            const char *(*getenv_)(const char *name), struct registry **out);
void registry_free(struct registry *r);

/** registry_hosts: "host:port" words of "npm", "pip" or "apt"; NULL-terminated,
 * owned by @r.  Reads files when first asked. NULL: unknown manager, or nothing
 * says where its packages come from. */
const char *const *registry_hosts(struct registry *r, const char *manager);

/** registry_files: the files that named those hosts or could (absent ones of
 * the user too), absolute; NULL-terminated, owned by @r.  NULL: none. */
const char *const *registry_files(struct registry *r, const char *manager);

#endif
