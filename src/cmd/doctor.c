#include "base/log.h"
#include "cmd/cmd.h"

int cmd_doctor(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	log_error("doctor: not built yet");
	return CMD_FAILED;
}
