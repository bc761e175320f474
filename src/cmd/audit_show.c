/* wary audit show */
#include "cmd/audit.h"

#include "base/log.h"

int audit_show(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	log_error("audit show: not built yet");
	return AUDIT_USAGE;
}
