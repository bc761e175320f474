/* Words for people about one decision: who, what, which rule.  Everything
 * that a child chose goes through text_printable here. Pure. */
#ifndef WARY_ASK_WORDING_H
#define WARY_ASK_WORDING_H

#include "base/buf.h"
#include "policy/facts.h"
#include "policy/verdict.h"

#include <sys/types.h>

/* Longest name shown in one line; longer ones lose their middle, since both
 * the beginning and the end of a path say what it is. */
#define WORDING_OBJECT_MAX 300

/** wording_who: "node (4711, script of evil)".
 * @pid: 0: left out. */
void wording_who(struct buf *out, const struct facts *f, pid_t pid);

/** wording_what: "read ~/.ssh/id_ed25519", "connect to host:443 (1.2.3.4)".
 * @home: shown as ~; NULL: none. */
void wording_what(struct buf *out, const struct facts *f, const char *home);

/** wording_object: the object alone, as wording_what shows it. */
void wording_object(struct buf *out, const struct facts *f, const char *home);

/** wording_rule: "agent.wary:31  ask connect *:*", "floor: metadata". */
void wording_rule(struct buf *out, const struct verdict *v);

/** wording_lineage: "claude → bash → curl": programs, oldest first, the one
 * that asks last. */
void wording_lineage(struct buf *out, const struct facts *f);

/** wording_command: the argv of a program, as a shell would be given it. */
void wording_command(struct buf *out, const struct facts_program *p, size_t max_chars);

/** wording_path: a name with ~ for home, printable, its middle cut where it is
 * longer than @max_chars (0: never). */
void wording_path(struct buf *out, const char *path, const char *home, size_t max_chars);

#endif
