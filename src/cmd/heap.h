/* The heap of a session, as it suits a start-up that is to be short.  Only a
 * speed-up: what fails here changes nothing. */
#ifndef WARY_CMD_HEAP_H
#define WARY_CMD_HEAP_H

/** heap_prepare: one heap for all threads, with the pages that reading a policy
 *  needs already there.  To be called once, before threads. */
void heap_prepare(void);

/** heap_lend: before processes are forked that stay: gives back what is free, so
 *  that it is not shared with them. */
void heap_lend(void);

/** heap_resume: after the last of them: the pages that the rest of the start-up
 *  needs. */
void heap_resume(void);

#endif
