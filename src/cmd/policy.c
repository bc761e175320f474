#include "base/log.h"
#include "cmd/cmd.h"

int cmd_policy(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	log_error("policy: not built yet");
	return CMD_FAILED;
}
