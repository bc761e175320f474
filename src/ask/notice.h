/* What a person is told while a session runs: refusals and the summary.
 * Silenced by -q. Thread-safe; memory is bounded whatever the tree does. */
#ifndef WARY_ASK_NOTICE_H
#define WARY_ASK_NOTICE_H

#include "audit/audit.h"
#include "base/err.h"
#include "policy/facts.h"
#include "policy/verdict.h"

#include <sys/types.h>

struct notice;

enum notice_why {
	NOTICE_RULE,   /* a deny rule, the floor or the default */
	NOTICE_NOBODY, /* the policy asks, and there was nobody to ask */
	NOTICE_HUMAN,  /* a person said no */
	NOTICE_BROKEN, /* wary could not decide or act: refused for safety */
};

/** notice_new: @home: shown as ~, copied; NULL: none.
 * @socket: whether "wary approve" can reach this session. */
must_check int notice_new(struct notice **out, const char *home, bool socket);

/** notice_set_socket: the same, once it is known; before the tree runs. */
void notice_set_socket(struct notice *n, bool socket);

/** notice_refused: tells of one refused call, or counts it where the same was
 * told before (same program, class, object and rule).
 * @f: its strings are chosen by the child and are made printable here.
 * @detail: NOTICE_BROKEN: what failed (printable); else NULL.
 * verdict.quiet keeps it silent. Blocks on writing to stderr only. */
void notice_refused(struct notice *n, const struct facts *f, const struct verdict *v, pid_t pid,
                    enum notice_why why, const char *detail);

/** notice_summary: what was folded and not told yet, then the closing line.
 * Says nothing where nothing was refused or asked and @totals has no
 * decisions. */
void notice_summary(struct notice *n, const struct audit_totals *totals, const char *session_id);

/** notice_free: NULL is fine. */
void notice_free(struct notice *n);

#endif
