/* One trapped call on its way: what each stage hands to the next.
 *
 * A family is two functions.  `prepare` fetches the arguments, once, resolves
 * them to objects (target) and states the questions (facts).  The supervisor
 * then decides, asks and records.  `act` performs the effect on the objects
 * that were judged, never resolving again, and sets the reply.
 */
#ifndef WARY_ANSWER_REQUEST_H
#define WARY_ANSWER_REQUEST_H

#include "audit/audit.h"
#include "base/err.h"
#include "call/call.h"
#include "policy/policy.h"
#include "tracee/caller.h"
#include "tracee/mem.h"
#include "tracee/place.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define REQUEST_FACTS_MAX 8

struct worker; /* supervise.h: one thread's own state */

/* What act decides to answer. */
struct reply {
	long value;             /* result, or -errno (also -512, ERESTARTSYS, law 12) */
	int fd;                 /* owned; to be put into the caller; -1: none */
	unsigned fd_flags;      /* O_CLOEXEC or 0 */
	int at_fd;              /* the number it must get in the caller; -1: any */
	bool truncate;          /* O_TRUNC: after ADDFD, before SEND (law 6) */
	bool undo;              /* place[0] was created for it: away again where it cannot
	                      be put there (EMFILE) */
	bool proceed;           /* notify_continue() is the answer; whoever sets it says there
	                    why nothing that can still change was judged */
	bool answered;          /* the family sent the answer itself (exec) */
	bool again;             /* what was judged is no longer so (a name appeared):
	                    prepare, decide and record anew, within a bound */
	struct audit_lost lost; /* by an effect that was done: answer/lost.h */
	int signal;             /* to be sent to the caller's thread: SIGPIPE, SIGXFSZ */
};

/* The objects that the facts came from.  Only answer/ uses it. */
struct target {
	struct place place[2];
	int object_fd; /* got from the caller (pidfd_getfd), owned; -1 */
	int socket_fd; /* likewise; -1 */
	void *more;    /* a family's own: freed by more_free */
	void (*more_free)(void *more);
};

struct request {
	const struct call *call;
	struct worker *worker;
	struct supervisor *sup; /* policy, audit, lineage, session facts */
	struct tracee_mem mem;
	struct caller caller;
	/* The questions, and what the policy says to each: request_add_fact().
	 * At least REQUEST_FACTS_MAX have room without it. */
	struct facts *facts;
	struct verdict *verdicts;
	unsigned facts_n, facts_cap;
	struct facts facts_own[REQUEST_FACTS_MAX];
	struct verdict verdicts_own[REQUEST_FACTS_MAX];
	struct target target;
	struct reply reply;
	uint64_t flags; /* decoded once: open flags, AT_ flags, signal… */
	uint32_t mode;
	const char *cwd;  /* exec: the caller's folder, for the record; or NULL */
	unsigned attempt; /* 0 at first; grows with reply.again */
};

/* One question more than a call can sensibly raise: a lock file's packages. */
#define REQUEST_FACTS_LIMIT 16384

/** request_add_fact: one more question, zeroed but for class and object.
 * What was returned before may have moved: fill each before the next.
 * Returns NULL without memory or beyond REQUEST_FACTS_LIMIT: then refuse. */
must_check struct facts *request_add_fact(struct request *r, enum policy_class class,
                                          const char *object);

/** request_facts_reset: no questions; frees what grew beyond the usual. */
void request_facts_reset(struct request *r);

struct family {
	/* Returns 0: facts are stated, decide; where none are, the call decides
	 * nothing that has not been decided (a message on a connected socket, a
	 * signal to oneself): act follows at once, unrecorded, with a NULL
	 * receipt.  Positive: reply.value is set
	 * already (an errno that gives nothing away, e.g. EFAULT, EBADF),
	 * answer it with a record.  Negative ERR_: refuse, record, say why. */
	int (*prepare)(struct request *r);
	/* Called with the receipt of the allowed intent. */
	void (*act)(struct request *r, const struct receipt *receipt);
};

/* Families by number; NULL functions: refused. Filled in answer/families.c
 * from one declaration per family. */
extern const struct family *const families[FAMILY_COUNT];

#endif
