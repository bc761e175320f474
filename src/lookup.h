/* Names that the tree wants looked up: decided, recorded, and answered by the
 * DNS guard (net/guard.h), whose answers rules by name then count on. */
#ifndef WARY_LOOKUP_H
#define WARY_LOOKUP_H

#include "base/err.h"
#include "net/guard.h"
#include "supervise.h"

/** lookup_start: starts the guard; sets names and guard of @s.
 * @servers: "IP:53" words, NULL-terminated; none: no guard is started, and a name
 * server that the tree finds by itself is an address like any other.
 * Returns 0, -ERR_NOMEM, -ERR_SYS. */
must_check int lookup_start(struct supervisor *s, const char *const *servers);

/** lookup_stop: ends the guard; the workers have ended. */
void lookup_stop(struct supervisor *s);

/** lookup_allow: whether a name may be looked up: decides, asks, records and, if
 * refused, tells. Blocks while a person is asked. Any thread.
 * @who: the asking program; borrowed. */
bool lookup_allow(struct supervisor *s, const struct guard_asker *who, const char *name);

#endif
