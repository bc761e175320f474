/* Effects that may wait: the worker lets another receive, and gives up when the
 * caller has a signal or is gone (law 12). */
#ifndef WARY_ANSWER_WAIT_H
#define WARY_ANSWER_WAIT_H

#include "answer/request.h"
#include "base/err.h"

#include <stdbool.h>

/** wait_begin: from here the worker may block.
 * Returns 0, or -ERR_BUSY where nobody would be left to serve others: answer
 * -EAGAIN then. */
must_check int wait_begin(struct request *r);

/** wait_again: whether a call that failed with @error_no (positive) was only
 * interrupted by chance, and is to be made again. */
bool wait_again(const struct request *r, int error_no);

/** wait_end: back.  @result: what the call gave, or -errno.
 * Returns that, or -512 (ERESTARTSYS) where the caller's signal ended it. */
long wait_end(struct request *r, long result);

#endif
