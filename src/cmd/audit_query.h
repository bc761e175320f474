/* The expression of a command line as a reader's filter. */
#ifndef WARY_CMD_AUDIT_QUERY_H
#define WARY_CMD_AUDIT_QUERY_H

#include "audit/expr.h"
#include "audit/read.h"

struct audit_query {
	struct expr expr;
};

/** audit_query_take: the words of a command line, put together; none: everything.
 * @name: of the command, for complaints.
 * @f: its conditions point into @q.
 * Returns 0 or AUDIT_USAGE, said. audit_query_free in any case. */
int audit_query_take(struct audit_query *q, int argc, char **argv, const char *name,
                     struct read_filter *f);
void audit_query_free(struct audit_query *q);

#endif
