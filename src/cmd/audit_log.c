/* wary audit log */
#include "cmd/audit.h"

#include "base/log.h"

int audit_log(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	log_error("audit log: not built yet");
	return AUDIT_USAGE;
}
