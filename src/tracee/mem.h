/* The caller's memory: read once, validity checked after (law 3). */
#ifndef WARY_TRACEE_MEM_H
#define WARY_TRACEE_MEM_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* An address in the caller: never a pointer of wary's. */
struct tracee_addr {
	uint64_t value;
};

/* The memory of one notification's caller. */
struct tracee_mem {
	int listener_fd; /* borrowed */
	uint64_t id;     /* of the notification */
	pid_t tid;
	int mem_fd; /* /proc/TID/mem once something is written, else -1 */
};

void mem_init(struct tracee_mem *m, int listener_fd, uint64_t id, pid_t tid);
void mem_done(struct tracee_mem *m);

/** mem_valid: whether the notification still stands, so that what was fetched
 * by tid before this call was the caller's.  Everything fetched by tid (cwd,
 * descriptors, status, memory) is thrown away where this is false. */
must_check int mem_valid(const struct tracee_mem *m); /* 0 or -ERR_GONE */

/** mem_read: copies @len_bytes bytes; no validity check (do it once, after
 * all that is fetched). Returns 0 or -EFAULT. */
must_check int mem_read(const struct tracee_mem *m, struct tracee_addr a, void *out,
                        size_t len_bytes);

/** mem_read_string: copies a C string of at most @cap_bytes with its NUL.
 * Never reads past the page where the NUL is.
 * Returns its length, or -EFAULT, -ENAMETOOLONG. */
must_check ssize_t mem_read_string(const struct tracee_mem *m, struct tracee_addr a, char *out,
                                   size_t cap_bytes);

/** mem_write: writes through a descriptor that pins the address space; checks
 * validity between open and write; refuses where the caller's own mapping is
 * not writable.  Returns 0, -EFAULT or -ERR_GONE. */
must_check int mem_write(struct tracee_mem *m, struct tracee_addr a, const void *bytes,
                         size_t len_bytes);

#endif
