/* Everything that an execve would start: the file that is named, the
 * interpreters that #! lines lead to, the image that is loaded at last, and
 * what a dynamic loader that is used as a program would run.
 *
 * All of it is found by wary from copies; what the kernel then loaded is
 * compared with it at the exec stop (program_same).
 */
#ifndef WARY_ANSWER_PROGRAM_H
#define WARY_ANSWER_PROGRAM_H

#include "answer/request.h"
#include "tracee/argv.h"
#include "tracee/image.h"

#include <limits.h>
#include <stdbool.h>

/* The kernel follows #! at most five times. */
#define PROGRAM_FILES_MAX 6
/* program_failed asks of each and of the last: state() has room without memory. */
_Static_assert(PROGRAM_FILES_MAX + 1 <= REQUEST_FACTS_MAX, "room for each question");

struct program_file {
	struct place place;
	struct image image;
	bool fixed;  /* the tree can neither write nor replace it */
	bool hashed; /* sha256 is of its bytes, where rules ask for it */
	uint8_t sha256[32];
	bool kept;                   /* known from an earlier exec */
	struct program_file *loader; /* while it is looked for: as it was then */
	/* What it is started with; its strings are the program's. */
	const char **argv;
	size_t argc;
};

struct program {
	/* The named file first; the image that is loaded last. */
	struct program_file *files[PROGRAM_FILES_MAX];
	unsigned files_n;
	/* What PT_INTERP of the image names; NULL if nothing. */
	struct program_file *loader;
	bool loader_plain; /* a system's own loader, that needs no question */
	/* What a loader that is used as a program runs. */
	struct program_file *loaded;
	/* Where the search came to an end without a program, and with what (an errno
	 * that the caller may be told). */
	struct program_file *failed;
	int error;
	struct argv argv;             /* as the caller gave it */
	char filename[PATH_MAX + 32]; /* as the kernel names a script to its
	                    interpreter */
	char cwd[PATH_MAX];           /* the caller's folder, "" unknown */
};

struct program *program_new(void);
void program_free(void *p);

/** program_resolve: fetches the arguments of an execve or execveat and finds
 * what it would start.  Wears the caller's credentials meanwhile.
 * Checks the notification's validity after all that it fetched.
 * Returns 0; a negative errno that the kernel would give; or -ERR_GONE,
 * -ERR_PERM for what must not run whatever the policy says, -ERR_… */
must_check int program_resolve(struct request *r, struct program *p);

/** program_failed: what is asked of an exec that starts nothing: its errno tells
 * whether the file is there, so it is a look at it.
 * @err: of program_resolve; < 0.
 * Returns 0 (p->error is what the kernel says, if the rules let it), or @err, or
 * -ERR_BOUND. */
must_check int program_failed(struct request *r, struct program *p, int err);

/** program_facts: one question for each file, each link on the way.
 * Returns 0 or -ERR_NOMEM. */
must_check int program_facts(struct request *r, const struct program *p);

/** program_identity: what the new image is for rules with by: the script, if
 * #! started one, else the image; argv counts from after it.  An env(1) that
 * goes on to the interpreter of its script hands that identity on.
 * @before: what the process ran until now; NULL unknown.
 * Strings are the program's, or those of @before. */
void program_identity(const struct supervisor *sup, const struct program *p,
                      const struct lineage_entry *before, struct facts_program *out);

static inline const struct program_file *program_image(const struct program *p)
{
	return p->files[p->files_n - 1];
}

#endif
