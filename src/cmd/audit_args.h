/* The options that reading commands have in common. */
#ifndef WARY_CMD_AUDIT_ARGS_H
#define WARY_CMD_AUDIT_ARGS_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

#define AUDIT_ARGS_WORDS_MAX 2

struct audit_args {
	const char *db, *output;
	bool json, all, check, release, help;
	const char *words[AUDIT_ARGS_WORDS_MAX];
	int words_n;
};

/** audit_args_take: --db FILE and --help, and what a command has besides.
 * @name: of the command, for its usage.
 * @takes: letters: 'j' --json, 'a' --all, 'o' -o FILE, 'c' --check,
 *   'r' --release.
 * @min, @max: how many words it wants, AUDIT_ARGS_WORDS_MAX at most.
 * Returns 0 (out->help: and nothing else counts) or AUDIT_USAGE, said. */
int audit_args_take(const char *name, int argc, char **argv, const char *takes, int min, int max,
                    struct audit_args *out);

/** audit_args_write: a whole text to -o FILE, or to stdout for NULL and "-".  A file
 * that is there is not written over.
 * Returns 0 or -ERR_SYS; errno says more. */
must_check int audit_args_write(const char *file, const struct buf *text);

#endif
