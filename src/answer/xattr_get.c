/* getxattr, listxattr and their forms: read from the judged object, and written
 * into the caller's buffer.  An attribute of a user's own (user.*) is content
 * and decided as reading the file; the others, and the list, as stat. */
#include "answer/families.h"
#include "answer/fetch.h"
#include "answer/hand.h"
#include "answer/xattr.h"
#include "base/uses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

USES(getxattr, listxattr);

static bool is_list(int op)
{
	return op == OP_LISTXATTR || op == OP_LLISTXATTR || op == OP_LISTXATTRAT;
}

static int fetch_getting(struct request *r, struct xattr_call *x)
{
	int err = 0;

	if (r->call->row->op == OP_GETXATTRAT) {
		err = xattr_fetch_args(r, x);
		if (err == 0 && x->flags != 0)
			err = -EINVAL;
	} else {
		x->buffer = fetch_arg(r, ROLE_BUF);
		x->size = fetch_arg(r, ROLE_SIZE);
	}
	return err != 0 || is_list(r->call->row->op) ? err : xattr_fetch_name(r, x);
}

static int prepare(struct request *r)
{
	struct place *p = &r->target.place[0];
	struct xattr_call *x = xattr_new(r);
	enum policy_class class;
	int err = x ? fetch_getting(r, x) : -ERR_NOMEM;

	if (err == 0)
		err = xattr_fetch_object(r);
	if (err != 0)
		return fetch_result(r, err);
	if (p->error != 0)
		return fetch_result(r, state_failed(r, p));
	class = strncmp(x->name, "user.", 5) == 0 ? CLASS_READ : CLASS_STAT;
	(void)state(r, class, p);
	return fetch_result(r, state_links(r, class, p));
}

static ssize_t get(struct request *r, struct xattr_call *x)
{
	char path[32];
	ssize_t n;

	/* The kernel takes no larger buffer either. */
	if (x->size > XATTR_SIZE_MAX)
		x->size = XATTR_SIZE_MAX;
	if (x->size > 0) {
		x->value = malloc(x->size);
		if (!x->value)
			return -ENOMEM;
	}
	xattr_path(r, path);
	if (hand_on(r) != 0)
		return -EIO;
	n = is_list(r->call->row->op) ? listxattr(path, (char *)x->value, x->size)
	                              : getxattr(path, x->name, x->value, x->size);
	n = n < 0 ? -errno : n;
	hand_off(r);
	if (n == -ERANGE && x->size >= XATTR_SIZE_MAX)
		return -E2BIG;
	return n;
}

static void act(struct request *r, const struct receipt *receipt)
{
	struct xattr_call *x = r->target.more;
	struct tracee_addr to = {x->buffer};
	const struct place *p = &r->target.place[0];
	ssize_t n;

	(void)receipt;
	r->reply.value = p->error;
	if (p->error != 0)
		return;
	n = get(r, x);
	if (n > 0 && x->size > 0 && mem_write(&r->mem, to, x->value, (size_t)n) != 0)
		n = -EFAULT;
	r->reply.value = n;
}

const struct family family_xattr_get = {.prepare = prepare, .act = act};
