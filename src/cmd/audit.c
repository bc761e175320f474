#include "cmd/audit.h"

#include "audit/keys.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct audit_command commands[] = {
	{"sessions", "[--db FILE] [--json]", "the sessions on record", audit_sessions},
	{"log",
         "[--session ID] [--verdict WORD] [--class WORD] [--path GLOB] [--since TIME] "
         "[--last N] [--all] [--json] [-f]",
         "decisions, one a line", audit_log},
	{"query", "[--session ID] [--last N] [--json] [-f] EXPRESSION",
         "rows that fit, as: class=connect and refused and name~\"*.example.org\" since 2d",
         audit_query},
	{"show", "[--db FILE] [--key FILE]… SESSION", "what a session did, on one screen",
         audit_show},
	{"tree", "[--db FILE] [--json] SESSION", "the processes of a session, as a tree",
         audit_tree},
	{"packages", "[--db FILE] [--check] [--json] SESSION",
         "what a session installed, with hashes; --check: whether it still is so", audit_packages},
	{"package-hash", "[--json] FOLDER", "the hash of a package's folder as the record has it",
         audit_package_hash},
	{"stats", "[--db FILE] [--json] [SESSION]", "how much of what, by class, program and rule",
         audit_stats},
	{"diff", "[--db FILE] [--all] [--json] SESSION SESSION",
         "what the second did that the first did not", audit_diff},
	{"stack", "[--db FILE] ROW", "the call stack that was taken for a row", audit_stack},
	{"sql", "[--db FILE] [--limit N] [--json] QUERY",
         "reads with SQL: the views are in wary-audit(1)", audit_sql},
	{"report", "[--db FILE] [--key FILE]… SESSION -o FILE.html",
         "a session as one page for a browser", audit_report},
	{"export", "[--db FILE] [--session ID] --format FORMAT [-o FILE] [EXPRESSION]",
         "rows for other programs, as jsonl, csv, ocsf, ecs, cef, otlp, cyclonedx", audit_export},
	{"follow",
         "[--db FILE] --to syslog|journald|otlp-http|command [--at PLACE] [--session ID] "
         "[--since TIME] [--where EXPRESSION] [--state FILE] [--once] [-- COMMAND…]",
         "rows handed on as they come, each at least once, in order", audit_follow},
	{"anchor", "[--db FILE] [-o FILE]",
         "one line, to be kept elsewhere, that vouches for all so far", audit_anchor},
	{"prove", "[--db FILE] [-o FILE] ROW",
         "a small file that shows one row to be on record, without the record", audit_prove},
	{"prune", "[--db FILE] [--dry-run] [--keep SPAN] [--max-size SIZE]",
         "removes the oldest sessions by age, size or both (with neither: as the policy says), and"
         " leaves a signed tombstone of each",
         audit_prune},
	{"hold", "[--db FILE] [--release] [SESSION]",
         "prune leaves a session; those that it leaves", audit_hold},
	{"key", "[--db FILE] [--json] [rotate]",
         "this machine's signing keys; rotate: a new one, which the old one certifies", audit_key},
	{"verify",
         "[[--db] FILE] [--session ID] [--key FILE]… [--anchor FILE]… | --proof FILE [--key FILE]…",
         "whether the record, a session of it, or a proof of one row, is as it was written",
         audit_verify},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

static const struct audit_command *command_of(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static void print_usage(FILE *out, const char *name)
{
	const struct audit_command *c = command_of(name);

	fprintf(out, "usage: wary audit %s %s\n", name, c ? c->usage : "");
	if (c)
		fprintf(out, "       %s\n", c->summary);
}

int audit_usage(const char *name)
{
	print_usage(stderr, name);
	return AUDIT_USAGE;
}

int audit_help(const char *name)
{
	print_usage(stdout, name);
	return AUDIT_FINE;
}

int audit_store_path(const char *db, struct buf *out)
{
	const char *from_env = getenv("WARY_DB");

	if (!db && from_env && *from_env)
		db = from_env;
	if (db) {
		buf_str(out, db);
		return 0;
	}
	if (keys_store_default(out) == 0)
		return 0;
	log_error("there is no home folder to look for the record in: name it with --db FILE");
	return -ERR_NOTFOUND;
}

static int overview(FILE *out)
{
	fprintf(out, "usage: wary audit COMMAND …    the record: --db FILE, or WARY_DB\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-12s %s\n", commands[i].name, commands[i].summary);
	return out == stdout ? AUDIT_FINE : AUDIT_USAGE;
}

static int unknown(const char *word)
{
	const char *names[COMMANDS + 1] = {NULL};
	const char *near;
	char *shown = text_printable_str(word, 64);

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	near = text_nearest(word, names);
	if (near)
		log_error("audit: unknown command \"%s\": did you mean \"%s\"?", shown, near);
	else
		log_error("audit: unknown command \"%s\"", shown);
	free(shown);
	return overview(stderr);
}

int cmd_audit(int argc, char **argv)
{
	const struct audit_command *c;

	if (argc < 2)
		return overview(stderr);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return overview(stdout);
	c = command_of(argv[1]);
	return c ? c->run(argc - 1, argv + 1) : unknown(argv[1]);
}
