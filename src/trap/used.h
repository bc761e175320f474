/* What a process has used of processor and memory, as far as /proc tells it. */
#ifndef WARY_TRAP_USED_H
#define WARY_TRAP_USED_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct used {
	bool timed;    /* the times are known, as they were last seen */
	bool is_final; /* and were seen when it had ended */
	uint64_t user_ms, system_ms;
	uint64_t peak_kib; /* of resident memory, as last seen; 0: never */
};

/** used_look: looks at a process; what cannot be told now stays as it was.
 * @pidfd: of the process that had the number @pid when it was opened: what is seen
 *   counts only where it is not reaped by then. */
void used_look(struct used *u, pid_t pid, int pidfd);

#define USED_WORDS_MAX 4
#define USED_WORD_BYTES 40
/** used_words: as words KEY=VALUE (docs/AUDIT.md, "Processes").
 * Returns how many. */
unsigned used_words(const struct used *u, char out[USED_WORDS_MAX][USED_WORD_BYTES]);

#endif
