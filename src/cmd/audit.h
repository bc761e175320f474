/* wary audit: subcommands, one file each (audit_NAME.c). */
#ifndef WARY_CMD_AUDIT_H
#define WARY_CMD_AUDIT_H

#include "base/buf.h"
#include "base/err.h"

/* Exit statuses of the reading commands. */
enum audit_status {
	AUDIT_FINE = 0,
	AUDIT_WRONG = 1, /* the record is not intact; nothing was found */
	AUDIT_USAGE = 2, /* bad words, or it could not be read at all */
};

struct audit_command {
	const char *name;
	const char *usage;   /* what follows the name */
	const char *summary; /* one line for --help */
	int (*run)(int argc, char **argv);
};

int audit_verify(int argc, char **argv);
int audit_sessions(int argc, char **argv);
int audit_log(int argc, char **argv);
int audit_show(int argc, char **argv);
int audit_query(int argc, char **argv);
int audit_anchor(int argc, char **argv);
int audit_prove(int argc, char **argv);
int audit_hold(int argc, char **argv);
int audit_key(int argc, char **argv);
int audit_prune(int argc, char **argv);
int audit_diff(int argc, char **argv);
int audit_stack(int argc, char **argv);
int audit_stats(int argc, char **argv);
int audit_export(int argc, char **argv);
int audit_follow(int argc, char **argv);
int audit_tree(int argc, char **argv);
int audit_sql(int argc, char **argv);
int audit_package_hash(int argc, char **argv);
int audit_packages(int argc, char **argv);
int audit_report(int argc, char **argv);

/** audit_store_path: appends the store that is meant: @db where it is not NULL,
 * else WARY_DB, else the default.
 * Returns 0, or -ERR_NOTFOUND (said already). */
must_check int audit_store_path(const char *db, struct buf *out);

/** audit_usage: says how a subcommand is used, on stderr; returns
 * AUDIT_USAGE. */
int audit_usage(const char *name);
/** audit_help: the same on stdout; returns AUDIT_FINE. */
int audit_help(const char *name);

#endif
