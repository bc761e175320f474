/* Names of functions out of an ELF file, which anybody may have written: every
 * offset is checked, and what does not fit is no name. */
#ifndef WARY_TRAP_SYMBOL_H
#define WARY_TRAP_SYMBOL_H

#include <stdint.h>

/** symbol_at: the function that holds a place of a file.
 * @path: as /proc/PID/maps shows it; only a regular file is opened, and that
 *   without waiting.
 * @offset: in the file.
 * Reads at most two tables of 16 MiB.
 * Returns memory (free(3)): bytes chosen by whoever made the file; NULL: none. */
char *symbol_at(const char *path, uint64_t offset);
/** symbol_in: the same of a file that is open for reading. */
char *symbol_in(int fd, uint64_t offset);

#endif
