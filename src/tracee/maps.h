/* What the caller's address space allows, by /proc/TID/maps. */
#ifndef WARY_TRACEE_MAPS_H
#define WARY_TRACEE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** maps_writable: whether each byte of [@from, @from + @len_bytes) lies in a
 * mapping that the process itself may write.
 * @maps_fd: /proc/TID/maps, opened while the caller was known to be the caller;
 *   its offset is moved.
 * False in doubt.  The answer can be out of date at once, by the caller's own
 * mprotect: that harms nobody but the caller. */
bool maps_writable(int maps_fd, uint64_t from, size_t len_bytes);

/* One line of maps, for tests: "start-end perms …".
 * Returns whether @line (to its newline or NUL) could be read. */
bool maps_parse(const char *line, uint64_t *start, uint64_t *end, bool *writable);

#endif
