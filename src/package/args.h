/* A manager's arguments, one at a time: options with their values, and words. */
#ifndef WARY_PACKAGE_ARGS_H
#define WARY_PACKAGE_ARGS_H

#include "package/tools.h"

struct args {
	const struct tool *tool;
	const char *const *v;
	size_t n, i;
	const char *letters; /* within a cluster of short options */
	bool only_words;     /* after "--" */
	bool doubt;          /* the next word may be the value of the last option */
	const char *again;   /* a value that is also given as a word, in doubt */
};

struct arg {
	bool is_word;
	const char *text; /* of a word */
	bool doubt;       /* …that may be an option's value */
	const char *name; /* of an option, without dashes */
	size_t name_len;
	bool known;        /* …that the tool's table has as it is written */
	const char *value; /* or NULL */
};

void args_begin(struct args *a, const struct tool_call *call);

/** args_next: false at the end. */
bool args_next(struct args *a, struct arg *out);

/** arg_is: whether an option is one of a blank-separated list, written out or
 * shortened to at least three letters. */
bool arg_is(const struct arg *a, const char *list);

#endif
