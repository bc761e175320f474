/* A dynamic loader started as a program: `ld.so [OPTIONS] PROGRAM [ARG…]`. */
#ifndef WARY_TRACEE_LDSO_H
#define WARY_TRACEE_LDSO_H

#include "base/err.h"

#include <stddef.h>

/** ldso_target: which argument names the program that the loader will run.
 * Knows the options of glibc and musl; an option that it does not know is an
 * error, since what follows it could not be told from its value.
 * @argv: as the loader gets it, argv[0] first; chosen by the child.
 * @at: index of the program, or 0 where none is run (--help and the like).
 * Returns 0 or -ERR_SYNTAX. */
must_check int ldso_target(const char *const *argv, size_t argc, size_t *at);

#endif
