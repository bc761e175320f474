/* Reading numbers and bytes from left to right, as base/buf.h writes them.  Pure.
 * What is read may have been made by anyone: nothing is read past its end. */
#ifndef WARY_AUDIT_CURSOR_H
#define WARY_AUDIT_CURSOR_H

#include "audit/rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `wrong` once something was not whole; what is read from then on is 0. */
struct cursor {
	const uint8_t *at;
	size_t left;
	bool wrong;
};

static inline struct cursor cursor_of(const void *bytes, size_t len_bytes)
{
	return (struct cursor){bytes, len_bytes, false};
}

/** cursor_take: the next bytes, where they lie. Returns NULL where there are fewer. */
const uint8_t *cursor_take(struct cursor *c, size_t len_bytes);

/** cursor_int: a little-endian number.
 * @len_bytes: 8 at most. */
uint64_t cursor_int(struct cursor *c, unsigned len_bytes);
uint64_t cursor_u64(struct cursor *c);
uint32_t cursor_u32(struct cursor *c);

/** cursor_bytes: the next bytes, copied; @out stays as it is where there are fewer. */
void cursor_bytes(struct cursor *c, void *out, size_t len_bytes);

/** cursor_text: u32 length and the bytes, where they lie; empty where they are not whole. */
struct rows_text cursor_text(struct cursor *c);

#endif
