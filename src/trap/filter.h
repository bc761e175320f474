/* The seccomp filters, made when wary was built (src/gen/filter.c). */
#ifndef WARY_TRAP_FILTER_H
#define WARY_TRAP_FILTER_H

#include "base/err.h"

#include <stdbool.h>

/** filter_trap: puts the calling process, which has no_new_privs and one
 * thread, under supervision; cannot be undone.  Calls made from then on wait
 * for a receiver, so nothing trapped may be called before there is one.
 * @stat: whether the stat class is notified too (a rule speaks of it).
 * Returns the listener, close-on-exec, owned by the caller; or -errno: EBUSY
 * under another supervisor, EINVAL before Linux 5.19, EPERM or EACCES where
 * seccomp itself is refused.  seccomp(2), seccomp_unotify(2). */
must_check int filter_trap(bool stat);

/* Wary's own processes (trap/roles.def). */
enum filter_role { FILTER_GUARDIAN, FILTER_ASKER, FILTER_KEEPER, FILTER_SESSION };

/** filter_confine: puts all threads of this process under its role's filter, which
 * has the calls that the role's sources declare (base/uses.h): others give
 * ENOSYS, and EPERM where only their arguments are not the role's. No process can be
 * started, no program run, no memory made executable. Sets no_new_privs. To be
 * called once everything that needs more has been started.
 * Returns 0 or -errno; a positive number is a thread that could not be put. */
must_check int filter_confine(enum filter_role role);

#endif
