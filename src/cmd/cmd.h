/* Subcommands: one file each. */
#ifndef WARY_CMD_CMD_H
#define WARY_CMD_CMD_H

/* Statuses of wary's own (as env(1), nice(1) and timeout(1) use them). */
enum cmd_status {
	CMD_FAILED = 125,  /* wary itself failed; nothing ran unsupervised */
	CMD_REFUSED = 126, /* refused, or not executable */
	CMD_NOT_FOUND = 127,
};

struct cmd {
	const char *name;
	const char *summary; /* one line for --help */
	/* argv[0] is the subcommand's name; returns the exit status. */
	int (*run)(int argc, char **argv);
};

/** cmd_main: finds the subcommand, or runs COMMAND. Returns the exit status;
 * may also end by the command's signal. */
int cmd_main(int argc, char **argv);

int cmd_run(int argc, char **argv);
int cmd_policy(int argc, char **argv);
int cmd_audit(int argc, char **argv);
int cmd_approve(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

#endif
