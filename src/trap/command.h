/* The child that becomes COMMAND. */
#ifndef WARY_TRAP_COMMAND_H
#define WARY_TRAP_COMMAND_H

#include "trap/inherit.h"

#include <stdbool.h>
#include <stdint.h>

/* The call that the child makes so that the listener can be tried: its
 * supervisor answers it with a descriptor, which the child looks at. */
#define COMMAND_TRIAL_PATH "/proc/self/wary-trial"

struct command {
	char *const *argv;
	char *const *envp;
	const struct inherit *inherit;
	bool stat;    /* of filter_trap */
	bool scoped;  /* the kernel can bind the tree's signals to the tree */
	int ready_fd; /* pipe: a struct command_ready is written to it */
	int go_fd;    /* pipe: 't' try, 'g' go; closed: end */
};

enum command_step { COMMAND_INHERIT, COMMAND_PRIVILEGE, COMMAND_FILTER };

struct command_ready {
	int32_t step;   /* which failed, where result is negative */
	int32_t result; /* number of the listener in the child, or -errno */
};

/** command_run: gives the process back what it inherited, takes what the tree
 * must not have, installs the filter, tells the listener's number, makes the
 * trial call when told, and executes COMMAND when told: searched for in PATH as
 * execvp(3) does, under the filter, so that each try is decided.
 * Does not return; ends with 125, 126 or 127 where there is no COMMAND. */
_Noreturn void command_run(const struct command *c);

#endif
