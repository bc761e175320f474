/* The second boundary: a Landlock domain made from the policy (law 10).
 *
 * The thread that enters it starts the guardian, and so the tree, and the
 * workers, so that the kernel refuses to both what no rule could allow, even
 * where wary itself decides wrongly.  The main thread, with store and keys,
 * stays outside.  Entered by one before the other, the workers could not
 * trace the tree: the domain must be the same. */
#ifndef WARY_TRAP_BOUNDARY_H
#define WARY_TRAP_BOUNDARY_H

#include "base/err.h"
#include "policy/policy.h"

#include <stdbool.h>

/* What this kernel's Landlock gave. */
struct boundary {
	int abi;       /* 0: none */
	bool files;    /* files are bound to the policy's prefixes */
	bool tcp;      /* ABI 4, and no rule lets any connection be made */
	bool devices;  /* ABI 5: ioctl on devices */
	bool signals;  /* ABI 6: signals reach nobody outside; kill(-1) is safe */
	bool abstract; /* ABI 6: abstract unix sockets outside are out of reach */
};

/** boundary_abi: the newest Landlock ABI of this kernel that is offered here;
 * 0 where there is none. landlock_create_ruleset(2). */
int boundary_abi(void);

/** boundary_enter: sets no_new_privs and enters the domain; this thread only,
 * and what it starts from now on.
 * @policy: in force; NULL: files are not bound (for probing).
 * @out: set always; all false where the kernel has no Landlock, which is no
 * failure: it is said by wary doctor.
 * Returns 0, or -errno where Landlock is there and fails. */
must_check int boundary_enter(const struct policy *policy, struct boundary *out);

/** boundary_scope_signals: enters one domain more, that binds nothing but
 * signals: from then on they reach what is in it, and nobody else; the guardian
 * and wary's workers, outside it, neither.  No_new_privs must be set.
 * Returns 0 or -errno. */
must_check int boundary_scope_signals(void);

#endif
