/* Messages about a policy: file:line:column, what is wrong, what was meant. */
#ifndef WARY_POLICY_REPORT_H
#define WARY_POLICY_REPORT_H

#include <stddef.h>

/* A note is no fault: what a rule costs, what it does not mean here. */
enum policy_message_kind { POLICY_ERROR, POLICY_WARNING, POLICY_NOTE };

/* One message; strings owned by the report, printable. */
struct policy_message {
	enum policy_message_kind kind;
	const char *file;      /* as the user knows it: "team.wary" */
	unsigned line, column; /* from 1, in characters; 0: the whole file */
	unsigned len_columns;  /* of what is underlined; 0: nothing */
	const char *text;      /* "unknown class \"raed\"" */
	const char *hint;      /* "did you mean \"read\"?", or NULL */
	const char *source;    /* the line as written, or NULL */
};

/* All messages of one load or check, in order of file and place. */
struct policy_report;

size_t policy_report_count(const struct policy_report *r);
const struct policy_message *policy_report_at(const struct policy_report *r, size_t i);
/** policy_report_errors: how many of them are errors. */
size_t policy_report_errors(const struct policy_report *r);
/** policy_report_warnings: how many are warnings; notes are not counted. */
size_t policy_report_warnings(const struct policy_report *r);
void policy_report_free(struct policy_report *r);

#endif
