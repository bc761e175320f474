/* All of so many bytes, and what is there now, whatever interrupts. */
#ifndef WARY_BASE_FILE_H
#define WARY_BASE_FILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/** file_read_whole: whether @len_bytes were there; blocks until they are. Where not
 * @out is written in part. */
must_check bool file_read_whole(int fd, void *out, size_t len_bytes);

/** file_write_whole: whether all was taken; blocks until it is, so that @fd must not be
 * non-blocking. Where not errno says why, and a part may be there. */
must_check bool file_write_whole(int fd, const void *bytes, size_t len_bytes);

/** file_ready: what can be done on a descriptor at once. Does not wait; a signal that is
 * pending ends even such a poll(2).
 * @events: POLLIN…; POLLHUP and POLLERR are always told.
 * Returns poll's revents, 0 for nothing; -1 with errno. */
must_check int file_ready(int fd, short events);

#endif
