/* From a notification to a call.  Pure: registers only. */
#ifndef WARY_CALL_DECODE_H
#define WARY_CALL_DECODE_H

#include "base/err.h"
#include "call/call.h"

struct seccomp_notif;

/** call_decode: looks the row up and copies the registers. Registers that the
 * scalar rules refuse get the row of call_row_refused.
 * Returns 0, or -ERR_UNSUPPORTED for another architecture's call or a number
 * without a row: it is denied then. */
must_check int call_decode(const struct seccomp_notif *n, struct call *out);

#endif
