/* Calls that change what later calls start from: the working folder, the umask,
 * ids and capabilities.  The kernel runs them as they stand; wary learns that
 * what it knows of callers has to be asked for again.  A folder gives no access
 * by itself: whatever is named relative to it is judged by its own name. */
#include "answer/families.h"
#include "answer/fetch.h"
#include "answer/hand.h"
#include "supervise.h"
#include "tracee/fd.h"

#include <stdatomic.h>

static int prepare_fchdir(struct request *r)
{
	struct place *p = &r->target.place[0];
	int fd = fd_open_path(r->call->tid, (int)(uint32_t)fetch_arg(r, ROLE_FD));
	int err;

	if (fd < 0)
		return fd;
	p->base_fd = fd;
	err = fetch_end(r, HAND_IDS);
	return err != 0 ? err : fetch_resolve(r, 0, PLACE_EMPTY, 0);
}

static int prepare_chdir(struct request *r)
{
	struct place *p = &r->target.place[0];
	int err = r->call->row->op == OP_FCHDIR ? prepare_fchdir(r)
	                                        : fetch_one(r, PLACE_FOLLOW | PLACE_DIR, HAND_IDS);

	return fetch_result(r, err != 0 ? err : state_failed(r, p));
}

static int prepare_creds(struct request *r)
{
	/* Before the call runs: whoever is judged after it sees the flag. */
	if (r->call->row->op == OP_UMASK)
		atomic_store(&r->sup->umask_changed, true);
	else
		atomic_store(&r->sup->creds_changed, true);
	state_call(r);
	return mem_valid(&r->mem);
}

/* Continued: the name of a folder may be another by now, and the caller then
 * stands there, where it may do what it may do from anywhere. Masks and ids
 * are registers, and the kernel's to refuse. */
static void act(struct request *r, const struct receipt *receipt)
{
	(void)receipt;
	r->reply.proceed = true;
}

const struct family family_chdir = {.prepare = prepare_chdir, .act = act};
const struct family family_creds = {.prepare = prepare_creds, .act = act};
