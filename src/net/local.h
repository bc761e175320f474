/* Whether an address is this host's own. */
#ifndef WARY_NET_LOCAL_H
#define WARY_NET_LOCAL_H

#include "policy/facts.h"

#include <stdbool.h>

/** local_is: whether packets to @f stay on this host, on whatever interface the
 * address is: by the kernel's own routing table.  False in doubt.  Asks the
 * kernel (some 10 µs). */
bool local_is(const struct facts_addr *f);

#endif
