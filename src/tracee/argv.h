/* Lists of strings in the caller: argv and envp of an exec. */
#ifndef WARY_TRACEE_ARGV_H
#define WARY_TRACEE_ARGV_H

#include "base/buf.h"
#include "base/err.h"
#include "tracee/mem.h"

#include <stddef.h>

/* The kernel's own bounds: of all strings and pointers (3/4 of 8 MiB), and of
 * one string. */
#define ARGV_MAX_BYTES ((size_t)6 << 20)
#define ARGV_STRING_MAX_BYTES ((size_t)128 << 10)

/* A copied list; NULL-terminated, as for exec. */
struct argv {
	const char **items;
	size_t n;
	char *memory; /* all the strings, one after the other */
	size_t memory_bytes;
};

#define ARGV_INIT \
	{         \
		0 \
	}
void argv_free(struct argv *v);
#define auto_argv __attribute__((cleanup(argv_free))) struct argv

/** argv_read: copies a NULL-terminated list of strings, once.
 * @a: its address; 0 reads as an empty list (as the kernel has it).
 * The bytes are the child's choice.  Check mem_valid afterwards.
 * Returns 0, -EFAULT, -E2BIG or -ERR_NOMEM. */
must_check int argv_read(const struct tracee_mem *m, struct tracee_addr a, struct argv *out);

/** argv_make: a list from @n strings within @b, each ended by a NUL; takes the
 * memory of @b, which is empty afterwards.  Returns 0 or -ERR_NOMEM. */
must_check int argv_make(struct buf *b, size_t n, struct argv *out);

/** argv_find: the value of NAME=value in a list, or NULL.  The first counts, as
 * for getenv(3). */
const char *argv_find(const struct argv *v, const char *name);

#endif
