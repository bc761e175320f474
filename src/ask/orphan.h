/* The terminal where neither the asker nor wary is left to give it back. */
#ifndef WARY_ASK_ORPHAN_H
#define WARY_ASK_ORPHAN_H

#include "ask/asker.h"

/** orphan_give_back: nothing of the tree is left: where a question is on the terminal, and
 * wary is gone, waits for the asker, which then gives the terminal back itself, some seconds
 * at most; where it was killed with the terminal in its hands, gives that back for it
 * (term_give_back: what somebody else has taken meanwhile stays theirs).
 * Called in the guardian, with SIGTTOU blocked; it has the asker's descriptors from before
 * the second boundary.
 * @asker: a struct asker, as it was when the guardian was forked. */
void orphan_give_back(const void *asker, int wary_pidfd);

#endif
