/* What is refused whatever it is about, with a record.  The row says with which
 * errno, and why.
 *
 * System V objects and message queues are the one kind that a policy may open:
 * as a whole (class ipc), since they are reached by numbers and names that any
 * program of the user shares.  What is allowed so goes on as the caller's own
 * call: nothing about it is decided but that it is made. */
#include "answer/families.h"
#include "answer/fetch.h"
#include "call/op.h"
#include "supervise.h"

/* Whether a rule, and not only a default, speaks about this call. */
static bool rule_speaks(struct request *r, const struct facts *asked)
{
	struct facts f = *asked;
	struct verdict v;

	lineage_facts(r->caller.program, &f);
	policy_decide(r->sup->policy, &f, &v);
	return !v.is_default;
}

static int prepare(struct request *r)
{
	struct facts *f;

	if (r->call->row->op != OP_IPC)
		return -ERR_PERM;
	f = request_add_fact(r, CLASS_IPC, r->call->row->name);
	if (!f)
		return -ERR_NOMEM;
	return rule_speaks(r, f) ? 0 : -ERR_PERM;
}

/* Continued: a rule about the class allows the call whatever its arguments. */
static void act(struct request *r, const struct receipt *receipt)
{
	(void)receipt;
	r->reply.proceed = true;
}

const struct family family_refuse = {.prepare = prepare, .act = act};
