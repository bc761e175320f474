/* What a new program finds on its stack: argv, envp and the auxiliary vector,
 * read and rewritten at the exec stop, before its first instruction (law 9).
 *
 * Nobody but the kernel has touched these bytes, and nobody else can while the
 * task is stopped: its address space is new and not shared.
 *
 * A variable that is added lies below the area that the kernel shows as
 * /proc/PID/environ: getenv finds it, a look from outside does not.  One that
 * is removed is also overwritten, since it would show there.
 */
#ifndef WARY_TRACEE_STARTUP_H
#define WARY_TRACEE_STARTUP_H

#include "base/err.h"
#include "tracee/regs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Vectors and strings of a program: the kernel's bound for the strings, and
 * what it puts beside them. */
#define STARTUP_MAX_BYTES ((size_t)16 << 20)
/* All variables that are added together: within the stack that the kernel maps
 * below the strings in any case. */
#define STARTUP_ADD_MAX_BYTES ((size_t)64 << 10)

struct startup {
	pid_t pid;
	struct regs regs;
	uint64_t sp;
	char *bytes; /* a copy of [sp, sp + len_bytes) */
	size_t len_bytes;
	size_t cap_bytes;
	/* Into bytes; NULL-terminated. */
	const char **argv;
	size_t argc;
	const char **envp; /* those still there */
	size_t envc;
	const uint64_t *auxv;
	size_t auxv_words; /* with the closing AT_NULL pair */
	/* What is to change. */
	size_t removed_n;
	char *added; /* NAME=value strings, one after the other */
	size_t added_bytes, added_n;
};

/** startup_read: copies the stack of a process at its exec stop.
 * @pid: stopped, traced by the calling thread.
 * Returns 0; -ERR_UNSUPPORTED for a program of another word size, -ERR_BOUND,
 * -ERR_FORMAT, -ERR_GONE or -ERR_NOMEM: then the program must not run. */
must_check int startup_read(pid_t pid, struct startup *out);

/** startup_remove: takes out every variable for which @gone says so, also
 * entries without "=".  @entry: "NAME=value". */
void startup_remove(struct startup *s, bool (*gone)(void *ctx, const char *entry), void *ctx);

/** startup_add: one more variable; the first of its name if it was removed
 * before.  Returns 0, -ERR_BOUND or -ERR_NOMEM. */
must_check int startup_add(struct startup *s, const char *name, const char *value,
                           size_t value_bytes);

/** startup_commit: writes what was changed; nothing if nothing was.
 * Returns 0, -ERR_FAULT, -ERR_GONE, -ERR_NOMEM: then the program must not run
 * (its stack may be half written). */
must_check int startup_commit(struct startup *s);

/** startup_done: wipes and frees. */
void startup_done(struct startup *s);

#endif
