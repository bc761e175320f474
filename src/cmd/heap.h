/* The heap of a session, as it suits a start-up that is to be short. */
#ifndef WARY_CMD_HEAP_H
#define WARY_CMD_HEAP_H

/** heap_prepare: one heap for all threads, with the pages that a start-up needs
 *  already there.  Only a speed-up: what fails changes nothing.  To be called
 *  once, before threads. */
void heap_prepare(void);

#endif
