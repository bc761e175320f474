/* bind: the socket got from the caller is bound to the copy of the address that
 * was judged.  A name in the file system is judged as the file that binding
 * creates; any other address as `bind`. */
#include "answer/families.h"
#include "answer/hand.h"
#include "answer/sock.h"
#include "answer/sockpath.h"
#include "base/uses.h"
#include "net/own.h"
#include "supervise.h"

#include <errno.h>
#include <string.h>

USES(bind, getsockname);

static int prepare(struct request *r)
{
	return sock_prepare(r, ADDR_FOR_BIND, HAND_UMASK, CLASS_BIND);
}

static long perform(struct request *r, const struct sock *s, const struct sock_addr *a)
{
	long n;

	if (hand_on(r) != 0)
		return -EACCES;
	n = bind(s->fd, (const struct sockaddr *)&a->a.sa, a->a.len_bytes) == 0 ? 0 : -errno;
	hand_off(r);
	return n;
}

/* What is bound is the session's own from now on, by the name it really got. */
static void note(struct request *r, const struct sock *s)
{
	struct addr bound;
	socklen_t len = sizeof bound.sa;

	if (s->domain == AF_INET || s->domain == AF_INET6) {
		own_add(r->sup->own, s->fd);
		return;
	}
	if (s->domain != AF_UNIX || getsockname(s->fd, (struct sockaddr *)&bound.sa, &len) != 0)
		return;
	bound.len_bytes = len;
	if (addr_read(&bound, s->domain, s->type, s->protocol, ADDR_FOR_BIND) == 0 &&
	    bound.kind == ADDR_IS_ABSTRACT)
		own_add_name(r->sup->own, s->fd, bound.facts.unix_name);
}

static void act(struct request *r, const struct receipt *receipt)
{
	struct sock *s = r->target.more;
	struct sock_addr *a = &s->addrs[0];

	(void)receipt;
	if (a->a.kind == ADDR_IS_PATH) {
		r->reply.value = sockpath_bind(r, s->fd, a);
		return;
	}
	r->reply.value = perform(r, s, a);
	if (r->reply.value == 0)
		note(r, s);
}

const struct family family_bind = {.prepare = prepare, .act = act};
