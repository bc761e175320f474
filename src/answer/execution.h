/* One exec from its question to its exec stop: the program, what identity it
 * will have, what it is given. */
#ifndef WARY_ANSWER_EXECUTION_H
#define WARY_ANSWER_EXECUTION_H

#include "answer/program.h"
#include "package/package.h"

/* Secrets of a policy that can be given; later ones are to nobody. */
#define EXECUTION_SECRETS_MAX 64

struct execution {
	struct program *program;
	struct facts_program identity;
	/* The entry that the lineage will have, for questions about it; NULL
	 * while nothing needs it. */
	struct lineage_entry *preview;
	bool give[EXECUTION_SECRETS_MAX];            /* if the exec is allowed */
	const char *withheld[EXECUTION_SECRETS_MAX]; /* why not, though a rule
	                                               would; or NULL */
	/* What it installs. */
	struct package_list packages;
	struct argv envp; /* fetched only for a package manager */
	bool envp_known;
	bool asked_before; /* the same process was asked for the very same */
	uint8_t asked[LINEAGE_ASKED_BYTES];
	/* Install scripts of packages: as installed, and as it calls itself. */
	char script_object[2][256];
	char mark[160]; /* "install:npm" and the like, "" none */
};

/** execution_of: of a request whose prepare has made one. */
static inline struct execution *execution_of(const struct request *r)
{
	return r->target.more;
}

#endif
