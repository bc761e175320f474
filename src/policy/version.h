/* Versions and ranges of them: semver for npm and most others, PEP 440 for
 * pip; release numbers and pre-releases, nothing more exotic. */
#ifndef WARY_POLICY_VERSION_H
#define WARY_POLICY_VERSION_H

#include "policy/facts.h"

#include <stdbool.h>

/** version_range_is_valid: whether a range can be understood: ">=4 <6",
 * "^1.2", "~2.0.1", "1.4.2", "==2.*", alternatives by "||". */
bool version_range_is_valid(const char *range);

/** version_in_range: whether a version lies in a valid range.  A pre-release
 * lies only in a range that itself names one of the same release.
 * FACT_UNKNOWN where the version is no exact version ("latest", "^4"). */
enum fact_state version_in_range(const char *version, const char *range);

#endif
