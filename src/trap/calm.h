/* When what ended processes left is let go of: where none ends for a while, then after
 * twice that time and so on, after no more than the longest: a calm tree costs no power. */
#ifndef WARY_TRAP_CALM_H
#define WARY_TRAP_CALM_H

#include <stdbool.h>
#include <stdint.h>

#define CALM_MS 500u
#define CALM_LONGEST_MS 8000u

struct calm {
	unsigned gap_ms;
	uint64_t at_ms; /* when it is used, if nothing happens before */
};

/** calm_end: something has happened. @now_ms: any clock that runs on. */
static inline void calm_end(struct calm *c, uint64_t now_ms)
{
	c->gap_ms = CALM_MS;
	c->at_ms = now_ms + c->gap_ms;
}

/** calm_use: whether it has been calm for long enough; the next time is then further off. */
static inline bool calm_use(struct calm *c, uint64_t now_ms)
{
	if (now_ms < c->at_ms)
		return false;
	c->gap_ms = c->gap_ms * 2 < CALM_LONGEST_MS ? c->gap_ms * 2 : CALM_LONGEST_MS;
	c->at_ms = now_ms + c->gap_ms;
	return true;
}

#endif
