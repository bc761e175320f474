/* Names that the tree wants looked up: decided, recorded, and answered by the
 * DNS guard (net/guard.h), whose answers rules by name then count on. */
#ifndef WARY_LOOKUP_H
#define WARY_LOOKUP_H

#include "base/err.h"
#include "net/guard.h"
#include "supervise.h"

/** lookup_start: starts the guard; sets names and guard of @s.  What /etc/hosts
 * says is known from the start, unless the tree may write it.
 * @servers: "IP:53" words, NULL-terminated; none: no guard is started, and a name
 * server that the tree finds by itself is an address like any other.
 * @upstream: whom the guard asks instead of these; NULL: the same.
 * Returns 0, -ERR_NOMEM, -ERR_SYS. */
must_check int lookup_start(struct supervisor *s, const char *const *servers,
                            const char *const *upstream);

/** lookup_stop: ends the guard; the workers have ended. */
void lookup_stop(struct supervisor *s);

#endif
