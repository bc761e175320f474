/* The verbs of `wary policy`, one function each.  Each returns the exit
 * status; messages are printed. */
#ifndef WARY_CMD_VERBS_H
#define WARY_CMD_VERBS_H

#include "cmd/tool.h"

int verb_check(struct tool *t);
int verb_test(struct tool *t);
int verb_fmt(struct tool *t);
int verb_explain(struct tool *t);
int verb_list(struct tool *t);
int verb_show(struct tool *t);
int verb_allow(struct tool *t);
int verb_deny(struct tool *t);
int verb_trust(struct tool *t);
int verb_suggest(struct tool *t);

#endif
