/* inotify_add_watch: a watch tells what happens in a folder, as reading it does.
 * Set on the caller's own inotify descriptor, for the object that was judged. */
#include "answer/families.h"
#include "answer/fetch.h"
#include "answer/hand.h"
#include "base/own.h"
#include "base/uses.h"

#include <errno.h>
#include <sys/inotify.h>

USES(inotify_add_watch);

static int prepare(struct request *r)
{
	struct place *p = &r->target.place[0];
	unsigned flags;
	int err = fetch_object(r, ROLE_FD);

	r->flags = (uint32_t)fetch_arg(r, ROLE_VALUE);
	flags = (r->flags & IN_DONT_FOLLOW ? 0 : PLACE_FOLLOW) |
	        (r->flags & IN_ONLYDIR ? PLACE_DIR : 0);
	if (err == 0)
		err = fetch_one(r, flags, HAND_IDS);
	if (err != 0)
		return fetch_result(r, err);
	if (p->error != 0)
		return fetch_result(r, state_failed(r, p));
	(void)state(r, CLASS_READ, p);
	return fetch_result(r, state_links(r, CLASS_READ, p));
}

static void act(struct request *r, const struct receipt *receipt)
{
	const struct place *p = &r->target.place[0];
	uint32_t mask = (uint32_t)r->flags & ~(uint32_t)(IN_DONT_FOLLOW | IN_ONLYDIR);
	char path[32];
	int wd;

	(void)receipt;
	if (!hand_begin(r, p->error))
		return;
	hand_self_path(p->fd, path);
	wd = inotify_add_watch(r->target.object_fd, path, mask);
	r->reply.value = wd < 0 ? -errno : wd;
	hand_off(r);
	fd_drop(&r->target.object_fd);
}

const struct family family_watch = {.prepare = prepare, .act = act};
