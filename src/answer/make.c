/* mkdir, mknod, symlink and their at forms: in the judged folder. */
#include "answer/families.h"
#include "answer/fetch.h"
#include "answer/hand.h"
#include "base/uses.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

USES(mkdirat, mknodat, symlinkat);

/* umode_t of the kernel: what is above is dropped there too. */
#define MODE_BITS 0xffffu

/* What the kernel says to a mode before it looks at any name. */
static int check_node(uint32_t mode)
{
	uint32_t type = mode & S_IFMT;

	if (type == S_IFDIR)
		return -EPERM;
	return type == 0 || type == S_IFREG || type == S_IFCHR || type == S_IFBLK ||
	                       type == S_IFIFO || type == S_IFSOCK
	               ? 0
	               : -EINVAL;
}

/* What a symbolic link is to hold: any text. */
static int fetch_content(struct request *r)
{
	char text[PATH_MAX];
	int err = fetch_text(r, ROLE_TEXT, text, sizeof text);

	if (err != 0)
		return err;
	if (!text[0])
		return -ENOENT;
	r->target.more = strdup(text);
	r->target.more_free = free;
	return r->target.more ? 0 : -ERR_NOMEM;
}

static int prepare(struct request *r)
{
	struct place *p = &r->target.place[0];
	int err = 0;

	r->mode = (uint32_t)fetch_arg(r, ROLE_MODE) & MODE_BITS;
	if (r->call->row->op == OP_MKNOD)
		err = check_node(r->mode);
	if (r->call->row->op == OP_SYMLINK)
		err = fetch_content(r);
	if (err == 0)
		err = fetch_one(r, PLACE_PARENT, HAND_UMASK);
	if (err != 0)
		return fetch_result(r, err);
	if (p->error == 0)
		p->error = -EEXIST;
	else if (p->error == -ENOENT && p->parent_fd >= 0)
		p->error = 0;
	if (p->error != 0)
		return fetch_result(r, state_failed(r, p));
	(void)state(r, CLASS_CREATE, p);
	return fetch_result(r, state_links(r, CLASS_CREATE, p));
}

static long make(struct request *r, const struct place *p)
{
	char name[PLACE_NAME_MAX + 1];

	fetch_last_name(p, name);
	switch (r->call->row->op) {
	case OP_MKDIR:
		return mkdirat(p->parent_fd, name, r->mode);
	case OP_MKNOD:
		return syscall(SYS_mknodat, p->parent_fd, name, r->mode,
		               (unsigned)fetch_arg(r, ROLE_DEV));
	case OP_SYMLINK:
		return symlinkat(r->target.more, p->parent_fd, name);
	default:
		errno = ENOSYS;
		return -1;
	}
}

static void act(struct request *r, const struct receipt *receipt)
{
	const struct place *p = &r->target.place[0];

	(void)receipt;
	if (!hand_begin(r, p->error))
		return;
	if (make(r, p) != 0)
		r->reply.value = -errno;
	hand_off(r);
}

const struct family family_make = {.prepare = prepare, .act = act};
