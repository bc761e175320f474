#include "base/log.h"
#include "cmd/cmd.h"

int cmd_run(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	log_error("run: not built yet");
	return CMD_FAILED;
}
