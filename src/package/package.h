/* Which packages a program would install, told from what really runs: its
 * image, its script, its arguments, its environment and the project's files.
 *
 * What is told is what was asked for: a gate before the manager starts, not a
 * proof of what it will do.  Files of the project can change before the manager
 * reads them; files, network and secrets confine it whatever it does.
 *
 * In doubt more is told rather than less: an argument that may be a package is
 * one.  Words that are only data (`echo npm install`) never are: it is the
 * program that decides, not its arguments.
 */
#ifndef WARY_PACKAGE_PACKAGE_H
#define WARY_PACKAGE_PACKAGE_H

#include "base/err.h"
#include "policy/facts.h"

#include <stdbool.h>
#include <stddef.h>

/* Beyond so many packages of one command the list is incomplete. */
#define PACKAGES_MAX 8192

/* The program that is to run.  Strings are the child's choice. */
struct package_program {
	const char *image;       /* canonical path of what is loaded */
	const char *script;      /* canonical path of the #! script, or NULL */
	const char *invoked;     /* the name that was executed, as written; or NULL */
	const char *const *argv; /* with argv[0]; counts from after the script */
	size_t argc;
};

/* What the recogniser may look at outside.  NULL functions: nothing is there. */
struct package_world {
	void *ctx;
	const char *const *envp; /* NULL-terminated, of the new program */
	/* The text of a file, relative to the program's folder; memory of the
	 * callee (free(3)), NUL-terminated; NULL if there is none. */
	char *(*read)(void *ctx, const char *path, size_t *len_bytes);
	bool (*exists)(void *ctx, const char *path);
	/* Whether the tree can change neither a folder nor the way to it. */
	bool (*fixed)(void *ctx, const char *path);
};

struct package {
	const char *name;      /* as the manager normalises it; for what comes from a
	                         URL, git or a path: that text */
	const char *version;   /* as asked for, or NULL */
	const char *registry;  /* "host:port", or "registry:MANAGER" where nothing
	                         names another; NULL: several, or not known */
	const char *integrity; /* of a lock file, "sha512-…", or NULL */
	bool unpinned, git, url, path;
	bool has_script;  /* a lock file says that it has install scripts */
	bool dependency;  /* not asked for itself */
	const char *root; /* that pulls it in, or NULL */
	const char *root_version;
};

struct package_list {
	const char *manager; /* "npm"; NULL: no package manager at all */
	bool installs;       /* the command installs something */
	bool incomplete;     /* there may be more than is listed */
	struct package *items;
	size_t n, cap;
	struct package_memory *memory; /* of the strings */
};

/** package_manager_of: the manager that a program is, or NULL: by the names of
 * image and script, or the module or script that an interpreter is given.
 * Cheap: looks at no file. */
const char *package_manager_of(const struct package_program *p);

/** package_is_interpreter: whether a program (by its canonical path) runs
 * whatever code it is given: a shell, python, node… */
bool package_is_interpreter(const char *image);

/** package_recognise: what the program would install.
 * @out: always set; package_list_free().
 * Returns 0 or -ERR_NOMEM. */
must_check int package_recognise(const struct package_program *p, const struct package_world *w,
                                 struct package_list *out);

void package_list_free(struct package_list *l);

#endif
