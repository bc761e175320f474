/* Variables by which whoever starts a program puts code of their own into it:
 * the loader's, and those of the common interpreters. */
#ifndef WARY_SECRET_HIJACK_H
#define WARY_SECRET_HIJACK_H

#include <stdbool.h>

/** hijack_variable: whether an entry "NAME=value" is one of them.  All are
 * taken out of programs that receive secrets, whatever their value. */
bool hijack_variable(const char *entry);

/** hijack_takes_over: whether an entry lets code of the tree into a program:
 * the program reads it, and it names a file that is not fixed, or code.
 * @image: canonical path of the program, or of its interpreter.
 * @fixed: whether the tree cannot change what an absolute name stands for. */
bool hijack_takes_over(const char *entry, const char *image,
                       bool (*fixed)(const void *ctx, const char *path), const void *ctx);

#endif
