/* Retention: which sessions of a store go, by a person's word or by policy, and removing
 * them. */
#ifndef WARY_CMD_RETAIN_H
#define WARY_CMD_RETAIN_H

#include "audit/prune.h"
#include "base/buf.h"
#include "policy/settings.h"

#include <stdbool.h>

struct retain_want {
	const char *db;
	uint64_t before_us; /* what ended earlier goes; 0: no bound of age */
	uint64_t max_bytes; /* as much as fits stays… */
	bool has_max;
	uint64_t young_us; /* …but for the size nothing goes that ended later; 0: anything */
	/* Whose statements these are: then only what goes is verified before, since
	 * nobody waits for all of it.  NULL: a person's; all is verified. */
	const struct policy_audit *policy;
	bool dry_run;
	/* What becomes of each session that is meant; may be NULL. */
	void (*say)(void *ctx, const struct prune_session *s, const char *what);
	void *ctx;
};

struct retain_result {
	uint64_t removed, rows;
	uint64_t used_bytes; /* by what stays; reckoned where nothing was done */
	bool too_large;      /* what must stay is more than fits */
};

/** retain_policy: what a policy says, as of now.
 * @out: its db, say and the like are the caller's to set.
 * Returns whether it says anything. */
bool retain_policy(const struct policy_audit *policy, struct retain_want *out);

/** retain_run: removes what goes, the oldest first; each removal is on record in a
 * session of its own.  Blocks for as long as that takes.
 * @argc, @argv: the command on whose record it is, from "prune" on.
 * @why: appended to, printable, where the status is not AUDIT_FINE.
 * Returns an enum audit_status. */
int retain_run(const struct retain_want *want, int argc, char **argv, struct retain_result *out,
               struct buf *why);

#endif
