/* Which program a process is, and which it came from: recorded at exec stops,
 * keyed by (tgid, start time), never by ppid at the time of a question
 * (law 8).  Thread-safe.
 *
 * How a process that only forked is told:
 * 1. A number names the same process for as long as a descriptor opened for
 *    it (pidfd) has not become readable: so a pair (number, entry) is looked
 *    up without reading /proc.
 * 2. The kernel's copy of a program's auxiliary vector is made at exec, is
 *    inherited by fork and cannot be changed (PR_SET_MM is refused).  Its
 *    addresses are random: they say of which exec a process is the image.  A
 *    child belongs to the entry of its parent that has the same; one whose
 *    parent has left, to the one remembered entry that has the same.
 * 3. Where neither holds (address space not random, too long ago) the lineage
 *    is unknown: every deny and ask with `under` matches then, no allow does.
 */
#ifndef WARY_TRACEE_LINEAGE_H
#define WARY_TRACEE_LINEAGE_H

#include "base/err.h"
#include "policy/facts.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Beyond so many earlier images the oldest are dropped and known is false. */
#define LINEAGE_UNDER_MAX 256
/* Of a longer argv the entry keeps the beginning, argv_whole is false. */
#define LINEAGE_ARGV_MAX_BYTES ((size_t)64 << 10)

/* What tells one exec from another: addresses of the auxiliary vector, zero
 * where they are not random or not known. */
#define LINEAGE_PRINT_WORDS 6
struct lineage_print {
	uint64_t words[LINEAGE_PRINT_WORDS];
};

#define LINEAGE_ASKED_BYTES 16

/* One image that a process ran; immutable once published; reference counted. */
struct lineage_entry {
	pid_t tgid;
	uint64_t exec_ticks; /* when it was loaded, in ticks of field 22 of /proc/PID/stat */
	struct facts_program program; /* strings owned by the entry */
	const char *const *under;     /* earlier images, nearest first */
	bool known;                   /* false: lineage could not be told */
	bool holds_secret;            /* a secret was put into this image */
	uint32_t install_run;         /* of answer/arrivals.h that it belongs to; 0: none */
	struct lineage_print print;
	uint8_t asked[LINEAGE_ASKED_BYTES]; /* digest of the install that was decided for
	                                       this image; zero: none */
	_Atomic unsigned refs_;
};

struct lineage;

must_check int lineage_new(struct lineage **out);
void lineage_free(struct lineage *l);

/** lineage_seed: the process that will exec COMMAND, before it does: its
 * program is wary, its lineage is known and empty.
 * Returns 0, -ERR_NOMEM or -ERR_GONE. */
must_check int lineage_seed(struct lineage *l, pid_t tgid);

/* What is recorded of one exec stop. */
struct lineage_exec {
	const struct facts_program *program; /* copied */
	const char *mark;                    /* "install:npm" or "script:NAME" that this image
	                          is from now on under, or NULL */
	struct lineage_print print;
	bool holds_secret;
	uint32_t install_run; /* 0: that of what it ran before */
	const uint8_t *asked; /* LINEAGE_ASKED_BYTES, or NULL */
};

/** lineage_exec: a process stands at its exec stop with this program.
 * Returns 0 or -ERR_NOMEM (the caller is then killed: unknown would open). */
must_check int lineage_exec(struct lineage *l, pid_t tgid, const struct lineage_exec *exec);

/** lineage_print_of: the print within an auxiliary vector.
 * @auxv: pairs of type and value up to AT_NULL, as the kernel made them.
 * @n_words: how many words @auxv has. */
void lineage_print_of(const uint64_t *auxv, size_t n_words, struct lineage_print *out);

/** lineage_of_first: the entry of the process that @tid belongs to, with a
 * reference (lineage_put).  A process that was forked and not seen yet
 * inherits its parent's entry, if the parent can still be told with
 * certainty; else an entry with known = false.
 * @tgid: that process; 0 where it is gone.  NULL: not wanted.
 * @first: set to whether this was never asked of the process before, and it stood at
 *   no exec stop: it was forked, and runs what its parent ran.  NULL: not asked.
 * Returns NULL without memory or when the process is gone; what it returns
 * holds for a caller whose notification is valid afterwards (law 3). */
const struct lineage_entry *lineage_of_first(struct lineage *l, pid_t tid, pid_t *tgid,
                                             bool *first);
static inline const struct lineage_entry *lineage_of(struct lineage *l, pid_t tid, pid_t *tgid)
{
	return lineage_of_first(l, tid, tgid, NULL);
}
void lineage_put(struct lineage *l, const struct lineage_entry *e);

/** lineage_settle: lets go of what ended processes and threads left, which else
 * stays until there are many (a few may stay).  Any thread, when the tree is calm. */
void lineage_settle(struct lineage *l);

/** lineage_facts: fills by, under and under_known. Strings live as long as the
 * reference. A NULL entry gives an unknown program and lineage. */
void lineage_facts(const struct lineage_entry *e, struct facts *out);

/** lineage_in_tree: whether a process or thread belongs to the tree: a
 * descendant of the guardian.  Blocks on /proc only. */
bool lineage_in_tree(struct lineage *l, pid_t tid, pid_t guardian);

#endif
