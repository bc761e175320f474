/* What is left to do to a file once the caller has its descriptor. */
#ifndef WARY_ANSWER_REPLY_H
#define WARY_ANSWER_REPLY_H

#include "answer/request.h"

/** reply_truncate: O_TRUNC, after the descriptor is in the caller and before
 * it is told (law 6): an open that fails must not have emptied the file.
 * @y: its fd is the open file.  On failure y->value becomes -errno; the caller
 * then holds a descriptor that it was not told of, as after a failed close. */
void reply_truncate(struct reply *y);

#endif
