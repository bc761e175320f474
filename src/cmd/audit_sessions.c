/* wary audit sessions */
#include "cmd/audit.h"

#include "base/log.h"

int audit_sessions(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	log_error("audit sessions: not built yet");
	return AUDIT_USAGE;
}
