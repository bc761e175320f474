/* What an effect takes away: the size of the very object that was judged, and how many
 * names it has left (docs/AUDIT.md, "Bytes that are known"). */
#ifndef WARY_ANSWER_LOST_H
#define WARY_ANSWER_LOST_H

#include "answer/request.h"

/** lost_look: states what the object behind a descriptor has now: of one that is truncated
 * right before, of one that loses a name right after.  Nothing where it is neither a file nor
 * a link, or cannot be looked at.
 * @fd: of wary, O_PATH or not; -1: nothing. */
void lost_look(struct reply *y, int fd);

/** lost_replaced: after a rename: what bore the new name.  Nothing where the two changed
 * places, or both names were of one file: then nothing was replaced. */
void lost_replaced(struct request *r);

#endif
