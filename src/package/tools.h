/* The table of package managers: verbs, options, registries. */
#ifndef WARY_PACKAGE_TOOLS_H
#define WARY_PACKAGE_TOOLS_H

#include "package/list.h"
#include "package/tool.h"

/* What a verb does. */
enum verb_kind {
	VERB_NONE,    /* installs nothing */
	VERB_ADD,     /* its arguments are packages; none: the project's */
	VERB_NAMED,   /* its arguments are packages; none: nothing */
	VERB_PROJECT, /* the project's packages, whatever its arguments */
	VERB_RUN,     /* fetches and runs the package of its first argument */
	VERB_CREATE,  /* the same, of create-ARGUMENT */
	VERB_WITH,    /* only what options name (uv run --with) */
	VERB_REMOTE,  /* its first argument, where that names something remote */
	VERB_GROUP,   /* another verb follows: a row "verb verb" says more */
};

struct verb {
	const char *name; /* "install", or "pip install" after a group */
	enum verb_kind kind;
};

/* How a manager writes what it is asked for. */
enum spec_kind {
	SPEC_NPM,    /* name@range, alias, git, URL, path */
	SPEC_PYTHON, /* PEP 508, git, URL, path */
	SPEC_PLAIN,  /* a name, perhaps with a version after @, =, == or : */
};

struct tool {
	const char *names;        /* blank-separated names of programs */
	const char *manager;      /* for rules and the record: "npm" */
	const struct verb *verbs; /* ended by a NULL name */
	enum verb_kind bare;      /* without a verb: `yarn` installs */
	enum verb_kind other;     /* an unknown verb */
	bool prefixes;            /* verbs may be shortened */
	enum spec_kind spec;
	const char *short_values; /* letters of options that take a value */
	const char *long_values;  /* blank-separated, without dashes */
	/* Options that name a package, a list of them, or a registry. */
	const char *package_options;  /* "p package with" */
	const char *file_options;     /* "r requirement": a file that lists more */
	const char *registry_options; /* "i index-url registry" */
	const char *folder_options;   /* "C prefix": where the project is */
};

extern const struct tool tools[];
extern const size_t tools_n;

/** tools_named: the tool of a program name of @len bytes, or NULL. */
const struct tool *tools_named(const char *name, size_t len);

/** word_in: whether a blank-separated list has a word of @len bytes. */
bool word_in(const char *list, const char *word, size_t len);

#endif
