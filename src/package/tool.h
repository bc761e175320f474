/* Which package manager a command line is, and what follows its name. */
#ifndef WARY_PACKAGE_TOOL_H
#define WARY_PACKAGE_TOOL_H

#include "package/package.h"

/* One manager's ways; see tools.c. */
struct tool;

struct tool_call {
	const struct tool *tool;
	const char *const *args; /* after the manager's own name */
	size_t n;
};

/** tool_find: the manager that a program is.  Sees through interpreters
 * (`node npm-cli.js`, `python3 -Im pip`), launchers (corepack) and numbers at
 * the end of a name (pip3.11).  Returns whether it is one. */
bool tool_find(const struct package_program *p, struct tool_call *out);

/** tool_base: the name of a file without folders and without an ending that
 * programs of that kind have (.js, .cjs, .mjs, .py, .pyz, .exe).
 * Returns its length; *base points into @path. */
size_t tool_base(const char *path, const char **base);

#endif
