/* Capabilities, where wary is run as root: raw system calls, for one thread. */
#ifndef WARY_TRAP_PRIVILEGE_H
#define WARY_TRAP_PRIVILEGE_H

#include "base/err.h"

#include <stdint.h>

/* What no tree may have: to administer the machine, its kernel, its devices
 * and its network, and to reach into other processes. */
#define PRIVILEGE_BIT(cap) ((uint64_t)1 << (cap))

/** privilege_forbidden: the capabilities that the tree loses, as bits. */
uint64_t privilege_forbidden(void);

/** privilege_drop: takes capabilities from the calling thread for good:
 * permitted, effective, inheritable and ambient.
 * @bits: 1 << CAP_, those to be taken. Returns 0 or -errno. */
must_check int privilege_drop(uint64_t bits);

/** privilege_drop_bounding: also keeps a later exec by uid 0 from getting them
 * back. Needs CAP_SETPCAP; without it there is nothing to keep back from.
 * Returns 0 or -errno. */
must_check int privilege_drop_bounding(uint64_t bits);

/** privilege_effective: what the calling thread has now, as bits. */
uint64_t privilege_effective(void);

#endif
