#include "cmd/cmd.h"

#include "base/log.h"

#include <stdio.h>
#include <string.h>

static const struct cmd commands[] = {
	{"run", "run a command under supervision (the default)", cmd_run},
	{"policy", "work with policies", cmd_policy},
	{"audit", "read and verify the record", cmd_audit},
	{"approve", "answer questions from another terminal or a program", cmd_approve},
	{"doctor", "what this machine offers and lacks", cmd_doctor},
};

int cmd_main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof commands[0]; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	return cmd_run(argc, argv);
}
