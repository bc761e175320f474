/* What a session's opening record says of who opens it, and where. */
#ifndef WARY_CMD_OPENER_H
#define WARY_CMD_OPENER_H

#include "audit/audit.h"

#include <sys/utsname.h>

/* Holds the texts. */
struct opener {
	char *cwd;
	struct utsname machine;
};

/** opener_session: this process's user, folder, machine and wary; the rest is empty.
 * The texts are in @o, which must outlive them, and in getpwuid(3)'s memory. */
struct audit_session opener_session(struct opener *o);
void opener_free(struct opener *o);

#endif
