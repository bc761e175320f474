/* connect: the socket got from the caller is connected to the copy of the
 * address that was judged.  The socket stays the caller's own: its options,
 * its local address and its O_NONBLOCK are what they were. */
#include "answer/families.h"
#include "answer/hand.h"
#include "answer/sock.h"
#include "answer/sockpath.h"
#include "base/uses.h"
#include "net/own.h"
#include "supervise.h"

#include <errno.h>

USES(connect, shutdown);

struct attempt {
	int fd;
	const struct sockaddr *sa;
	socklen_t len_bytes;
};

static int prepare(struct request *r)
{
	return sock_prepare(r, ADDR_FOR_CONNECT, HAND_IDS, CLASS_CONNECT);
}

static long attempt_once(void *ctx)
{
	const struct attempt *t = ctx;

	return connect(t->fd, t->sa, t->len_bytes);
}

static long perform(struct request *r, const struct sock *s, struct attempt *t)
{
	/* Datagram sockets only note the address. */
	if (s->type != SOCK_DGRAM && sock_blocks(s->fd))
		return sock_wait(r, s->fd, attempt_once, t);
	return attempt_once(t) == 0 ? 0 : -errno;
}

/* The port changed hands between question and connection: nobody learns of it,
 * nothing was sent. */
static void undo(const struct sock *s)
{
	struct sockaddr none = {.sa_family = AF_UNSPEC};

	if (s->domain == AF_UNIX)
		(void)shutdown(s->fd, SHUT_RDWR);
	else
		(void)connect(s->fd, &none, sizeof none);
}

static long act_on(struct request *r, struct sock *s, struct sock_addr *a)
{
	struct sockaddr_un name;
	struct attempt t = {
		.fd = s->fd, .sa = (const struct sockaddr *)&a->a.sa, .len_bytes = a->a.len_bytes};
	long n;

	if (a->nowhere)
		return r->target.place[a->place].error;
	if (a->a.kind == ADDR_IS_PATH) {
		t.len_bytes = sockpath_name(r, a, &name);
		t.sa = (const struct sockaddr *)&name;
	}
	if (hand_on_named(r) != 0)
		return -EACCES;
	n = perform(r, s, &t);
	hand_off(r);
	if ((n == 0 || n == -EINPROGRESS) && a->guarded)
		sock_tell_guard(r, s);
	if ((n == 0 || n == -EINPROGRESS) && !sock_still_own(r, s, a)) {
		undo(s);
		return -ECONNREFUSED;
	}
	return n;
}

static void act(struct request *r, const struct receipt *receipt)
{
	struct sock *s = r->target.more;
	struct sock_addr *a = &s->addrs[0];

	(void)receipt;
	r->reply.value = act_on(r, s, a);
	/* It has a port now, to which others of the tree may answer. */
	if (r->reply.value == 0 && s->type == SOCK_DGRAM && a->a.kind == ADDR_IS_IP)
		own_add(r->sup->own, s->fd);
}

const struct family family_connect = {.prepare = prepare, .act = act};
