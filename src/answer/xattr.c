#include "answer/xattr.h"

#include "answer/families.h"
#include "answer/fetch.h"
#include "answer/hand.h"
#include "base/own.h"
#include "base/uses.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

USES(fremovexattr, fsetxattr, removexattr, setxattr);

/* struct xattr_args of linux/xattr.h (6.13). */
struct args {
	uint64_t value;
	uint32_t size;
	uint32_t flags;
};

static void xattr_free(void *more)
{
	struct xattr_call *x = more;

	free(x->value);
	free(x);
}

struct xattr_call *xattr_new(struct request *r)
{
	struct xattr_call *x = calloc(1, sizeof *x);

	if (x) {
		r->target.more = x;
		r->target.more_free = xattr_free;
	}
	return x;
}

int xattr_fetch_name(struct request *r, struct xattr_call *x)
{
	int err = fetch_text(r, ROLE_TEXT, x->name, sizeof x->name);

	if (err == -ENAMETOOLONG || (err == 0 && !x->name[0]))
		return -ERANGE;
	return err;
}

int xattr_fetch_args(struct request *r, struct xattr_call *x)
{
	struct args a;
	int err = fetch_extensible(r, &a, sizeof a);

	if (err != 0)
		return err;
	x->buffer = a.value;
	x->size = a.size;
	x->flags = (int)a.flags;
	return 0;
}

static bool is_link_form(int op)
{
	return op == OP_LSETXATTR || op == OP_LREMOVEXATTR || op == OP_LGETXATTR ||
	       op == OP_LLISTXATTR;
}

static bool is_at_form(int op)
{
	return op == OP_SETXATTRAT || op == OP_REMOVEXATTRAT || op == OP_GETXATTRAT ||
	       op == OP_LISTXATTRAT;
}

int xattr_fetch_object(struct request *r)
{
	int op = r->call->row->op;
	int at = is_at_form(op) ? fetch_flags(r) : 0;
	bool follow = !is_link_form(op) && !(at & AT_SYMLINK_NOFOLLOW);
	uint64_t fd;
	int err;

	if (at & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (!call_arg(r->call, ROLE_FD, &fd))
		return fetch_one(
			r, (follow ? PLACE_FOLLOW : 0) | (at & AT_EMPTY_PATH ? PLACE_EMPTY : 0),
			HAND_IDS);
	err = fetch_object(r, ROLE_FD);
	if (err == 0)
		err = fetch_end(r, HAND_IDS);
	return err != 0 ? err : fetch_place_of_object(r);
}

void xattr_path(const struct request *r, char out[32])
{
	hand_self_path(r->target.place[0].fd, out);
}

/* ---- set and remove --------------------------------------------------- */

static int fetch_value(struct request *r, struct xattr_call *x)
{
	struct tracee_addr a;

	if (x->flags & ~(XATTR_CREATE | XATTR_REPLACE))
		return -EINVAL;
	if (x->size > XATTR_SIZE_MAX)
		return -E2BIG;
	if (x->size == 0)
		return 0;
	x->value = malloc(x->size);
	if (!x->value)
		return -ERR_NOMEM;
	a.value = x->buffer;
	return mem_read(&r->mem, a, x->value, x->size);
}

static bool is_removal(int op)
{
	return op == OP_REMOVEXATTR || op == OP_LREMOVEXATTR || op == OP_REMOVEXATTRAT;
}

static int fetch_setting(struct request *r, struct xattr_call *x)
{
	int err = 0;

	if (r->call->row->op == OP_SETXATTRAT) {
		err = xattr_fetch_args(r, x);
	} else if (!is_removal(r->call->row->op)) {
		x->buffer = fetch_arg(r, ROLE_BUF);
		x->size = fetch_arg(r, ROLE_SIZE);
		x->flags = fetch_flags(r);
	}
	if (err == 0)
		err = xattr_fetch_name(r, x);
	return err != 0 || is_removal(r->call->row->op) ? err : fetch_value(r, x);
}

static int prepare(struct request *r)
{
	struct place *p = &r->target.place[0];
	struct xattr_call *x = xattr_new(r);
	int err = x ? fetch_setting(r, x) : -ERR_NOMEM;

	if (err == 0)
		err = xattr_fetch_object(r);
	if (err != 0)
		return fetch_result(r, err);
	if (p->error != 0)
		return fetch_result(r, state_failed(r, p));
	/* A memfd of the caller's own has no name, and nobody else's rule. */
	if (r->target.object_fd >= 0 && p->unnamed) {
		(void)state(r, CLASS_STAT, p);
		return 0;
	}
	(void)state(r, CLASS_ATTR, p);
	return fetch_result(r, state_links(r, CLASS_ATTR, p));
}

static int change(const struct request *r, const struct xattr_call *x)
{
	bool removal = is_removal(r->call->row->op);
	char path[32];

	if (r->target.object_fd >= 0)
		return removal ? fremovexattr(r->target.object_fd, x->name)
		               : fsetxattr(r->target.object_fd, x->name, x->value, x->size,
		                           x->flags);
	xattr_path(r, path);
	return removal ? removexattr(path, x->name)
	               : setxattr(path, x->name, x->value, x->size, x->flags);
}

static void act(struct request *r, const struct receipt *receipt)
{
	const struct place *p = &r->target.place[0];

	(void)receipt;
	if (!hand_begin(r, p->error))
		return;
	r->reply.value = change(r, r->target.more) != 0 ? -errno : 0;
	hand_off(r);
	fd_drop(&r->target.object_fd);
}

const struct family family_xattr_set = {.prepare = prepare, .act = act};
