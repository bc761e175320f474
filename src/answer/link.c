/* link, linkat: a second name gives no more than the first one did: where the
 * rules for the new name are looser it is refused (law 12 of the language). */
#include "answer/families.h"
#include "answer/fetch.h"
#include "answer/hand.h"
#include "base/uses.h"
#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

USES(linkat);

static int fetch_names(struct request *r, unsigned empty, unsigned follow)
{
	int err = fetch_name(r, 0, ROLE_PATH, ROLE_DIRFD, empty);

	if (err == 0)
		err = fetch_name(r, 1, ROLE_PATH2, ROLE_DIRFD2, 0);
	if (err == 0)
		err = fetch_end(r, HAND_IDS);
	if (err == 0)
		err = fetch_resolve(r, 0, empty | follow, 0);
	if (err == 0 && r->target.place[0].error == 0)
		err = fetch_resolve(r, 1, PLACE_PARENT, 0);
	return err;
}

static int known_error(const struct request *r)
{
	const struct place *to = &r->target.place[1];

	if (r->target.place[0].error != 0)
		return r->target.place[0].error;
	if (to->error == 0)
		return -EEXIST;
	return to->error == -ENOENT && to->parent_fd >= 0 ? 0 : to->error;
}

static int prepare(struct request *r)
{
	const struct place *from = &r->target.place[0];
	const struct place *to = &r->target.place[1];
	int flags = fetch_flags(r);
	int err;

	if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return fetch_result(r, -EINVAL);
	r->flags = (uint64_t)flags;
	err = fetch_names(r, flags & AT_EMPTY_PATH ? PLACE_EMPTY : 0,
	                  flags & AT_SYMLINK_FOLLOW ? PLACE_FOLLOW : 0);
	if (err != 0)
		return fetch_result(r, err);
	r->reply.value = known_error(r);
	if (r->reply.value != 0) {
		(void)state(r, CLASS_STAT, from);
		if (from->error == 0)
			(void)state(r, CLASS_STAT, to);
		return 0;
	}
	(void)state(r, CLASS_LINK, from);
	(void)state(r, CLASS_CREATE, to);
	err = state_links(r, CLASS_LINK, from);
	if (err == 0)
		err = state_links(r, CLASS_CREATE, to);
	return fetch_result(r, err);
}

static void act(struct request *r, const struct receipt *receipt)
{
	const struct place *from = &r->target.place[0];
	const struct place *to = &r->target.place[1];
	char path[32];
	char name[PLACE_NAME_MAX + 1];

	(void)receipt;
	if (r->reply.value != 0)
		return;
	if (policy_looser_below(r->sup->policy, from->canon, to->canon, &r->facts[0])) {
		r->reply.value = -EXDEV;
		return;
	}
	if (!hand_begin(r, 0))
		return;
	/* Wary's own name of the very object that was judged. */
	hand_self_path(from->fd, path);
	fetch_last_name(to, name);
	if (linkat(AT_FDCWD, path, to->parent_fd, name, AT_SYMLINK_FOLLOW) != 0)
		r->reply.value = -errno;
	hand_off(r);
}

const struct family family_link = {.prepare = prepare, .act = act};
