/* Copying into a file's mapping without dying of it: a page that the disk
 * cannot give or take raises SIGBUS, which becomes a return value here. */
#ifndef WARY_AUDIT_BUS_H
#define WARY_AUDIT_BUS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** bus_install: installs the handler of SIGBUS for the process. A SIGBUS that
 * is not from bus_commit or bus_zero kills, as without it. Returns 0 or
 * -ERR_SYS. */
must_check int bus_install(void);

/** bus_commit: copies, then stores a commit word with release order.
 * @clear: a word that is zeroed before everything else; may be NULL.
 * Returns false where the mapping faulted; nothing is committed then. */
bool bus_commit(void *to, const void *from, size_t len_bytes, uint64_t *word, uint64_t value,
                uint64_t *clear);

#endif
