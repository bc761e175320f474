/* listen: opens a port even where nothing was bound, so what is opened is
 * judged here, on the address that the socket has.  Unix sockets have been
 * judged when they were bound. */
#include "answer/families.h"
#include "answer/hand.h"
#include "answer/sock.h"
#include "base/uses.h"
#include "net/own.h"
#include "supervise.h"

#include <errno.h>

USES(getsockname, listen);

static int prepare(struct request *r)
{
	struct sock *s = sock_new(r, sizeof *s);
	struct sock_addr *a;
	socklen_t len;
	int err;

	if (!s)
		return -ERR_NOMEM;
	err = sock_get(r, s, r->call->args[0]);
	if (err == 0)
		err = fetch_end(r, HAND_IDS);
	if (err == 0)
		err = sock_kind(s);
	if (err != 0)
		return fetch_result(r, err);
	a = &s->addrs[s->addrs_n++];
	a->place = -1;
	len = sizeof a->a.sa;
	if (getsockname(s->fd, (struct sockaddr *)&a->a.sa, &len) != 0)
		return fetch_result(r, -errno);
	a->a.len_bytes = len;
	if (s->domain == AF_UNIX || s->type == SOCK_DGRAM)
		return 0;
	err = addr_read(&a->a, s->domain, s->type, s->protocol, ADDR_FOR_BIND);
	if (err == 0)
		err = sock_question(r, s, a, CLASS_BIND);
	return fetch_result(r, err);
}

static void act(struct request *r, const struct receipt *receipt)
{
	struct sock *s = r->target.more;

	(void)receipt;
	if (hand_on_named(r) != 0) {
		r->reply.value = -EACCES;
		return;
	}
	r->reply.value = listen(s->fd, (int)r->call->args[1]) == 0 ? 0 : -errno;
	hand_off(r);
	if (r->reply.value == 0 && s->domain != AF_UNIX)
		own_add(r->sup->own, s->fd);
}

const struct family family_listen = {.prepare = prepare, .act = act};
