/* The open family: prepare in open.c, the effect in open_act.c. */
#ifndef WARY_ANSWER_OPEN_H
#define WARY_ANSWER_OPEN_H

#include "answer/request.h"

/* What prepare has found out, in the order in which act asks. The flags are
 * in request.flags, the mode in request.mode. */

/** open_act: opens what was judged and hands it over. */
void open_act(struct request *r, const struct receipt *receipt);

/** open_is_create: whether the judged name was free, to be created. */
bool open_is_create(const struct request *r);

#endif
