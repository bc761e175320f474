/* rename, renameat, renameat2: delete of the old name, create of the new (and
 * delete of what bears it); never to where the rules are looser (law 12 of the
 * language): then EXDEV, so that mv copies and each file is judged. */
#include "answer/families.h"
#include "answer/fetch.h"
#include "answer/hand.h"
#include "answer/lost.h"
#include "base/own.h"
#include "base/uses.h"
#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

USES(renameat2);

#define KNOWN (RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT)

static int check_flags(uint64_t flags)
{
	if (flags & ~(uint64_t)KNOWN)
		return -EINVAL;
	if ((flags & RENAME_EXCHANGE) && (flags & (RENAME_NOREPLACE | RENAME_WHITEOUT)))
		return -EINVAL;
	return 0;
}

static bool is_absent(const struct place *p)
{
	return p->error == -ENOENT && p->parent_fd >= 0;
}

static int fetch_names(struct request *r)
{
	int err = fetch_name(r, 0, ROLE_PATH, ROLE_DIRFD, 0);

	if (err == 0)
		err = fetch_name(r, 1, ROLE_PATH2, ROLE_DIRFD2, 0);
	if (err == 0)
		err = fetch_end(r, HAND_IDS);
	if (err == 0)
		err = fetch_resolve(r, 0, PLACE_PARENT, 0);
	if (err == 0)
		err = fetch_resolve(r, 1, PLACE_PARENT, 0);
	return err;
}

/* What fails whatever is decided; the kernel looks in this order. */
static int known_error(const struct request *r)
{
	const struct place *from = &r->target.place[0];
	const struct place *to = &r->target.place[1];
	struct stat a;
	struct stat b;

	if (from->error != 0 && !is_absent(from))
		return from->error;
	if (to->error != 0 && !is_absent(to))
		return to->error;
	if (!is_absent(from) && !((r->flags & RENAME_EXCHANGE) && is_absent(to)))
		return 0;
	if (fstat(from->parent_fd, &a) == 0 && fstat(to->parent_fd, &b) == 0 &&
	    a.st_dev != b.st_dev)
		return -EXDEV;
	return -ENOENT;
}

static int state_all(struct request *r)
{
	const struct place *from = &r->target.place[0];
	const struct place *to = &r->target.place[1];
	int err;

	(void)state(r, CLASS_DELETE, from);
	if (r->flags & (RENAME_EXCHANGE | RENAME_WHITEOUT))
		(void)state(r, CLASS_CREATE, from);
	(void)state(r, CLASS_CREATE, to);
	if (to->fd >= 0 && !(r->flags & RENAME_NOREPLACE))
		(void)state(r, CLASS_DELETE, to);
	err = state_links(r, CLASS_DELETE, from);
	return err != 0 ? err : state_links(r, CLASS_CREATE, to);
}

static int prepare(struct request *r)
{
	int err;

	r->flags = (uint32_t)fetch_arg(r, ROLE_FLAGS);
	err = check_flags(r->flags);
	if (err == 0)
		err = fetch_names(r);
	if (err != 0)
		return fetch_result(r, err);
	r->reply.value = known_error(r);
	if (r->reply.value == 0)
		return fetch_result(r, state_all(r));
	(void)state(r, CLASS_STAT, &r->target.place[0]);
	(void)state(r, CLASS_STAT, &r->target.place[1]);
	return 0;
}

static bool opens_more(const struct request *r)
{
	const char *from = r->target.place[0].canon;
	const char *to = r->target.place[1].canon;

	if (policy_looser_below(r->sup->policy, from, to, &r->facts[0]))
		return true;
	return (r->flags & RENAME_EXCHANGE) &&
	       policy_looser_below(r->sup->policy, to, from, &r->facts[0]);
}

static void act(struct request *r, const struct receipt *receipt)
{
	const struct place *from = &r->target.place[0];
	struct place *to = &r->target.place[1];
	char old_name[PLACE_NAME_MAX + 1];
	char new_name[PLACE_NAME_MAX + 1];

	(void)receipt;
	if (r->reply.value != 0)
		return;
	if (opens_more(r)) {
		r->reply.value = -EXDEV;
		return;
	}
	if (!hand_begin(r, 0))
		return;
	fetch_last_name(from, old_name);
	fetch_last_name(to, new_name);
	if (syscall(SYS_renameat2, from->parent_fd, old_name, to->parent_fd, new_name,
	            (unsigned)r->flags) != 0)
		r->reply.value = -errno;
	else
		lost_replaced(r);
	hand_off(r);
	/* As in remove.c: what bore the new name ends before the caller goes on. */
	fd_drop(&to->fd);
}

const struct family family_rename = {.prepare = prepare, .act = act};
