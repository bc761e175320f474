/* Answers that hold for a while: a name that was answered once is answered the
 * same until that expires, whatever its server says meanwhile.  A name server
 * that is in league with the tree cannot move a name from one address to
 * another between two looks (DNS rebinding). */
#ifndef WARY_NET_PINS_H
#define WARY_NET_PINS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct pins; /* thread-safe */

must_check int pins_new(struct pins **out);
void pins_free(struct pins *p);

/** pins_put: keeps an answer until @until_ns of CLOCK_MONOTONIC, in the place of
 * an earlier one. Bounded: the oldest goes first; long ones are not
 * kept. @bytes: copied. */
void pins_put(struct pins *p, const char *name, uint16_t type, const uint8_t *bytes,
              size_t len_bytes, uint64_t until_ns);

/** pins_get: copies the answer for a name and type.
 * Returns its length, or 0 where there is none or it does not fit. */
size_t pins_get(struct pins *p, const char *name, uint16_t type, uint64_t now_ns, uint8_t *out,
                size_t cap_bytes);

#endif
