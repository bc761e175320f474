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

/** filter_confine: puts all threads of wary, its guardian, asker or keeper under
 * the list of trap/confine.def, and lets them start threads but no processes;
 * sets no_new_privs. To be called once everything that needs
 * more has been started.
 * Returns 0 or -errno; a positive number is a thread that could not be put. */
must_check int filter_confine(void);

#endif
