/* unlink, unlinkat, rmdir: on the judged folder and the last name. */
#include "answer/families.h"
#include "answer/fetch.h"
#include "answer/hand.h"
#include "answer/lost.h"
#include "base/own.h"
#include "base/uses.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

USES(unlinkat);

static int prepare(struct request *r)
{
	struct place *p = &r->target.place[0];
	int flags = fetch_flags(r);
	int err;

	if (flags & ~AT_REMOVEDIR)
		return fetch_result(r, -EINVAL);
	r->flags = r->call->row->op == OP_RMDIR ? AT_REMOVEDIR : (uint64_t)flags;
	err = fetch_one(r, PLACE_PARENT, HAND_IDS);
	if (err != 0)
		return fetch_result(r, err);
	if (p->error != 0)
		return fetch_result(r, state_failed(r, p));
	(void)state(r, CLASS_DELETE, p);
	return fetch_result(r, state_links(r, CLASS_DELETE, p));
}

static void act(struct request *r, const struct receipt *receipt)
{
	struct place *p = &r->target.place[0];
	char name[PLACE_NAME_MAX + 1];

	(void)receipt;
	if (!hand_begin(r, p->error))
		return;
	fetch_last_name(p, name);
	if (unlinkat(p->parent_fd, name, (int)r->flags) != 0)
		r->reply.value = -errno;
	else
		lost_look(&r->reply, p->fd);
	hand_off(r);
	/* The file ends with its last descriptor, and that shall not be wary's: who
	 * watches it is told before the caller goes on. */
	fd_drop(&p->fd);
}

const struct family family_remove = {.prepare = prepare, .act = act};
