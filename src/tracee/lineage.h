/* Which program a process is, and which it came from: recorded at exec stops,
 * keyed by (tgid, start time), never by ppid at the time of a question
 * (law 8).  Thread-safe. */
#ifndef WARY_TRACEE_LINEAGE_H
#define WARY_TRACEE_LINEAGE_H

#include "base/err.h"
#include "policy/facts.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One image that a process ran; immutable once published; reference counted. */
struct lineage_entry {
	pid_t tgid;
	uint64_t start_ticks;           /* field 22 of /proc/PID/stat */
	struct facts_program program;   /* strings owned by the entry */
	const char *const *under;       /* earlier images, nearest first */
	bool known;                     /* false: lineage could not be told */
	unsigned refs_;
};

struct lineage;

must_check int lineage_new(struct lineage **out);
void lineage_free(struct lineage *l);

/** lineage_exec: a process was seen at its exec stop with this program.
 * @program: copied.  @mark: "install:npm" or "script:NAME" that this image is
 * from now on under, or NULL.
 * Returns 0 or -ERR_NOMEM (the caller is then killed: unknown would open). */
must_check int lineage_exec(struct lineage *l, pid_t tgid,
                            const struct facts_program *program,
                            const char *mark);

/** lineage_of: the entry of the process that @tid belongs to, with a
 * reference (lineage_put).  A process that was forked and not seen yet
 * inherits its parent's entry, if the parent can still be told with
 * certainty; else an entry with known = false.
 * Returns NULL without memory or when the process is gone. */
const struct lineage_entry *lineage_of(struct lineage *l, pid_t tid);
void lineage_put(struct lineage *l, const struct lineage_entry *e);

/** lineage_facts: fills by, under and under_known. Strings live as long as the
 * reference. A NULL entry gives an unknown program and lineage. */
void lineage_facts(const struct lineage_entry *e, struct facts *out);

/** lineage_in_tree: whether a process or thread belongs to the tree: a
 * descendant of the guardian.  Blocks on /proc only. */
bool lineage_in_tree(struct lineage *l, pid_t tid, pid_t guardian);

#endif
