#include "base/log.h"
#include "cmd/cmd.h"

int cmd_audit(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	log_error("audit: not built yet");
	return CMD_FAILED;
}
