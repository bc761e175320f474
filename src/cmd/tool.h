/* What the verbs of `wary policy` share: options, colours, messages. */
#ifndef WARY_CMD_TOOL_H
#define WARY_CMD_TOOL_H

#include "base/buf.h"
#include "cmd/world.h"
#include "policy/policy.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum tool_option {
	TOOL_JSON = 1 << 0,
	TOOL_YES = 1 << 1,
	TOOL_WRITE = 1 << 2,
	TOOL_CHECK = 1 << 3,
	TOOL_FORGET = 1 << 4,
	TOOL_DB = 1 << 5,     /* takes a FILE */
	TOOL_OUTPUT = 1 << 6, /* likewise */
	TOOL_HELP = 1 << 7,
};

/* Statuses of the verbs, as compilers have them. */
enum tool_status {
	TOOL_CLEAN = 0,
	TOOL_WARNED = 1, /* or: not as expected, not done */
	TOOL_ERRORS = 2,
};

enum { TOOL_ARGS_MAX = 4096 };

struct tool {
	struct world *world;
	const char *verb;
	unsigned options;   /* TOOL_ bits that were given */
	const char *db;     /* of --db */
	const char *output; /* of -o */
	char *made;         /* owned: an argument that was made anew, or NULL */
	bool colour;        /* standard output is a terminal, and NO_COLOR is not set */
	const char *args[TOOL_ARGS_MAX]; /* NULL-terminated */
	size_t args_n;
	const char *const *rest; /* what followed "--", NULL-terminated; or NULL */
};

#define auto_json __attribute__((cleanup(tool_drop_json))) json_t *
void tool_drop_json(json_t **j);
#define auto_policy __attribute__((cleanup(tool_drop_policy))) struct policy *
void tool_drop_policy(struct policy **p);
#define auto_report __attribute__((cleanup(tool_drop_report))) struct policy_report *
void tool_drop_report(struct policy_report **r);

/** tool_paint: the escape sequence for a word of a verdict or message
 * ("allow", "deny", "error"…; NULL ends it), or "" without colours. */
const char *tool_paint(const struct tool *t, const char *word);

/** tool_print_report: messages as compilers print them, each with its line
 * and what is meant underlined. */
void tool_print_report(const struct tool *t, FILE *out, const struct policy_report *r);

/** tool_report_json: the messages as an array; NULL without memory. */
json_t *tool_report_json(const struct policy_report *r);

/** tool_print_json: one document to standard output, keys sorted; dropped.
 * Returns TOOL_CLEAN or CMD_FAILED. */
int tool_print_json(json_t *j);

/** tool_text: JSON of a string that need not be UTF-8, printable; null for
 * NULL. */
json_t *tool_text(const char *text);

/** tool_where: "default.wary:12" of a rule or a default that was stated,
 * "default" where none was, "floor"; memory. */
char *tool_where(const struct verdict *v);

/** tool_quote: appends a word as the language writes it. */
void tool_quote(struct buf *out, const char *word);

/** tool_load: the policy that @name stands for (NULL: those in force), with
 * warnings where @check.  Errors are printed to standard error.
 * @alone: without the machine's file and stored answers.
 * @report: may be NULL; else set, to be freed.
 * Returns TOOL_CLEAN, TOOL_ERRORS or CMD_FAILED. */
int tool_load(struct tool *t, const char *name, bool alone, bool check, struct policy **out,
              struct policy_report **report);

/** tool_failed: says what failed and why, for wary's own errors.
 * Returns CMD_FAILED. */
int tool_failed(const struct tool *t, const char *what, int err);

/** tool_confirm: asks on the terminal, or takes --yes for it.
 * Returns whether the answer is yes; says so where nobody can be asked. */
bool tool_confirm(const struct tool *t, const char *question);

#endif
