/* Tools for people who write policies: warnings, and one layout. */
#ifndef WARY_POLICY_CHECK_H
#define WARY_POLICY_CHECK_H

#include "base/buf.h"
#include "policy/policy.h"

/** policy_check: policy_load, and on success the warnings too: rules that can
 * never decide, broad allows that open what an earlier deny named, and the
 * rest of "What the tool does with it".  Arguments and result as there; the
 * report may have warnings where the result is 0. */
must_check int policy_check(const struct policy_world *world, const char *const *files,
                            struct policy **out, struct policy_report **report);

/** policy_fmt: lays a text out: one blank between words, columns of verdicts
 * and classes aligned, comments kept, long lines continued.  Formatting twice
 * changes nothing; the meaning never changes.
 * @name: for messages.  @out: appended to on success only.
 * @report: as in policy_load; only what keeps the text from being split into
 *   words is an error here.
 * Returns 0, -ERR_POLICY or -ERR_NOMEM. */
must_check int policy_fmt(const char *name, const char *text, size_t len_bytes, struct buf *out,
                          struct policy_report **report);

#endif
