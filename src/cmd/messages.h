/* Errors of a policy that was to be run, as compilers print them. */
#ifndef WARY_CMD_MESSAGES_H
#define WARY_CMD_MESSAGES_H

#include "policy/report.h"

/** messages_print: the errors of a report to standard error, each with its
 * line; warnings are for `wary policy check`. NULL is fine. */
void messages_print(const struct policy_report *report);

#endif
