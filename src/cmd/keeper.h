/* The process that applies the policy's retention once a session has ended: wary does
 * not wait for it, and what it does can fail no session. */
#ifndef WARY_CMD_KEEPER_H
#define WARY_CMD_KEEPER_H

#include "policy/settings.h"

/** keeper_start: forks it where the policy says how long sessions are kept, and nobody
 * has looked into this store for an hour.  To be called before any thread, key or
 * privilege is there; it sleeps, confined as wary is, until keeper_go.
 * What could not be done last time, and what keeps it from being done now, is said.
 * @db, @policy: read by the child, which has its own copy.
 * Returns a descriptor for keeper_go, or -1: there is none, which is no failure. */
int keeper_start(const char *db, const struct policy_audit *policy);

/** keeper_go: the session is on record to its end: it may look once wary has gone; where
 * it has ended, that is said. Closes the descriptor. Else, closed without that, it ends. */
void keeper_go(int fd);

/** keeper_tell: says, where that is so, that retention could not be applied to this
 * store last time, and why; nothing while one looks. */
void keeper_tell(const char *db);

#endif
