#include "answer/sock.h"

#include "answer/sockpath.h"
#include "base/clock.h"
#include "base/own.h"
#include "base/uses.h"
#include "net/guard.h"
#include "net/local.h"
#include "net/names.h"
#include "net/own.h"
#include "supervise.h"
#include "tracee/fd.h"
#include "tracee/lineage_entry.h"
#include "tracee/wear.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

USES(fcntl_flags, getsockname, getsockopt);

#define RESTART (-512L) /* ERESTARTSYS: never seen by a program */

/* ---- the socket ------------------------------------------------------- */

static void addr_free(struct sock_addr *a)
{
	free(a->text);
	free((void *)a->hosts);
}

void sock_free(void *more)
{
	struct sock *s = more;

	for (unsigned i = 0; i < s->addrs_n; i++)
		addr_free(&s->addrs[i]);
	free(s);
}

struct sock *sock_new(struct request *r, size_t size_bytes)
{
	struct sock *s = calloc(1, size_bytes);

	if (!s)
		return NULL;
	s->fd = -1;
	r->target.more = s;
	r->target.more_free = sock_free;
	return s;
}

int sock_get(struct request *r, struct sock *s, uint64_t number)
{
	int fd = fd_get(r->call->tid, (int)number);

	if (fd < 0)
		return fd;
	r->target.socket_fd = fd;
	s->fd = fd;
	return 0;
}

int sock_kind(struct sock *s)
{
	socklen_t len = sizeof s->domain;

	if (getsockopt(s->fd, SOL_SOCKET, SO_DOMAIN, &s->domain, &len) != 0 ||
	    getsockopt(s->fd, SOL_SOCKET, SO_TYPE, &s->type, &len) != 0 ||
	    getsockopt(s->fd, SOL_SOCKET, SO_PROTOCOL, &s->protocol, &len) != 0)
		return -errno;
	return 0;
}

/* ---- addresses -------------------------------------------------------- */

int sock_read_addr(struct request *r, struct sock *s, uint64_t addr, uint64_t len_bytes,
                   enum addr_use use, struct sock_addr **out)
{
	struct sock_addr *a;
	int len = (int)len_bytes; /* as the kernel's own argument is declared */
	int err;

	if (len < 0 || (size_t)len > sizeof a->a.sa)
		return -EINVAL;
	invariant(s->addrs_n < REQUEST_FACTS_MAX);
	a = &s->addrs[s->addrs_n];
	*a = (struct sock_addr){.place = -1};
	a->a.len_bytes = (socklen_t)len;
	err = mem_read(&r->mem, (struct tracee_addr){addr}, &a->a.sa, (size_t)len);
	if (err != 0)
		return err;
	err = addr_read(&a->a, s->domain, s->type, s->protocol, use);
	if (err != 0)
		return err;
	s->addrs_n++;
	*out = a;
	return a->a.kind == ADDR_IS_PATH ? sockpath_fetch(r, s, a) : 0;
}

void sock_drop_addr(struct request *r, struct sock *s)
{
	struct sock_addr *a = &s->addrs[--s->addrs_n];

	if (a->place >= 0)
		sockpath_drop(r, s, a);
	addr_free(a);
	*a = (struct sock_addr){.place = -1};
}

/* 0.0.0.0 and :: lead elsewhere from a socket that is bound. */
static void settle_any(const struct sock *s, struct addr *a)
{
	struct sockaddr_storage local;
	socklen_t len = sizeof local;

	if (a->any && getsockname(s->fd, (struct sockaddr *)&local, &len) == 0)
		addr_local_any(a, &local, len);
}

static void know_inet(struct request *r, const struct sock *s, struct addr *a,
                      enum policy_class class)
{
	struct facts_addr *f = &a->facts;

	if (class == CLASS_BIND)
		return; /* which addresses are own then is the policy's to say */
	settle_any(s, a);
	f->local = addr_is_loopback(f) || local_is(f);
	f->own = f->local && f->proto != PROTO_ANY && own_inet(r->sup->own, f) == OWN_SELF;
}

static void know(struct request *r, const struct sock *s, struct sock_addr *a,
                 enum policy_class class)
{
	struct facts_addr *f = &a->a.facts;

	switch (a->a.kind) {
	case ADDR_IS_IP:
		know_inet(r, s, &a->a, class);
		break;
	case ADDR_IS_ABSTRACT:
		f->own = class == CLASS_BIND || own_name(r->sup->own, f->unix_name);
		break;
	case ADDR_IS_AUTOBIND:
		f->own = true;
		break;
	case ADDR_IS_PATH: /* sockpath.c */
	case ADDR_IS_NONE:
	case ADDR_IS_KERNEL:
	case ADDR_IS_OTHER:
		break;
	}
	if (a->a.kind == ADDR_IS_IP && class != CLASS_BIND)
		f->hosts = a->hosts = names_of(r->sup->names, f, clock_mono_ns());
	a->was_own = f->own && class != CLASS_BIND;
}

int sock_question(struct request *r, struct sock *s, struct sock_addr *a, enum policy_class class)
{
	struct buf text = BUF_INIT;
	struct facts *f;

	if (a->a.kind == ADDR_IS_NONE || a->a.kind == ADDR_IS_KERNEL)
		return 0;
	if (a->a.kind == ADDR_IS_PATH)
		return sockpath_question(r, a, class);
	if (class == CLASS_CONNECT && sock_is_name_server(r, a)) {
		a->guarded = true;
		a->a.len_bytes =
			guard_address(r->sup->guard, s->domain, a->a.facts.proto, &a->a.sa);
		return 0;
	}
	know(r, s, a, class);
	addr_text(&text, &a->a.facts);
	a->text = buf_take(&text);
	if (!a->text)
		return -ERR_NOMEM;
	f = request_add_fact(r, class, a->text);
	if (!f)
		return -ERR_NOMEM;
	f->addr = a->a.facts;
	return 0;
}

int sock_prepare(struct request *r, enum addr_use use, unsigned need, enum policy_class class)
{
	struct sock *s = sock_new(r, sizeof *s);
	const uint64_t *args = r->call->args;
	struct sock_addr *a = NULL;
	int err;

	if (!s)
		return -ERR_NOMEM;
	err = sock_get(r, s, args[0]);
	if (err == 0)
		err = sock_kind(s);
	if (err == 0)
		err = sock_read_addr(r, s, args[1], args[2], use, &a);
	if (err == 0)
		err = fetch_end(r, need);
	if (err == 0)
		err = sock_question(r, s, a, class);
	return fetch_result(r, err);
}

bool sock_is_name_server(const struct request *r, const struct sock_addr *a)
{
	return r->sup->guard && a->a.kind == ADDR_IS_IP && a->a.facts.proto != PROTO_ANY &&
	       guard_serves(r->sup->guard, &a->a.facts);
}

void sock_tell_guard(struct request *r, const struct sock *s)
{
	struct guard_asker who = {.program = entry_get(r->caller.program),
	                          .pid = r->caller.tgid > 0 ? r->caller.tgid : r->call->tid,
	                          .tid = r->call->tid,
	                          .uid = r->worker->fsuid_now};

	guard_expect(r->sup->guard, s->fd, s->type == SOCK_STREAM ? PROTO_TCP : PROTO_UDP, &who);
}

/* Whether the rules allow the address also where it is not the session's own. */
static bool allowed_anyway(struct request *r, const struct sock_addr *a)
{
	struct facts f = {.class = CLASS_CONNECT, .object = a->text, .addr = a->a.facts};
	struct verdict as_own;
	struct verdict as_other;

	lineage_facts(r->caller.program, &f);
	f.now_s = r->facts_n > 0 ? r->facts[0].now_s : 0;
	policy_decide(r->sup->policy, &f, &as_own);
	f.addr.own = false;
	policy_decide(r->sup->policy, &f, &as_other);
	return as_other.answer <= as_own.answer;
}

/* Whose hand made the listener of a connected unix socket: wary's, if it is the
 * tree's (the kernel notes who called listen). */
static bool peer_is_ours(const struct request *r, const struct sock *s)
{
	struct ucred peer = {.pid = 0};
	socklen_t len = sizeof peer;

	return getsockopt(s->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	       peer.pid == r->sup->wary_pid;
}

bool sock_still_own(struct request *r, const struct sock *s, const struct sock_addr *a)
{
	bool still = true; /* a file is the one that was judged: it is held */

	if (!a->was_own)
		return true;
	/* A listener may close once it has accepted: nobody else took its place. */
	if (a->a.kind == ADDR_IS_IP)
		still = own_inet(r->sup->own, &a->a.facts) != OWN_OTHER;
	else if (a->a.kind == ADDR_IS_ABSTRACT && s->type != SOCK_DGRAM)
		still = peer_is_ours(r, s);
	else if (a->a.kind == ADDR_IS_ABSTRACT)
		still = own_name(r->sup->own, a->a.facts.unix_name);
	return still || allowed_anyway(r, a);
}

/* ---- effects ---------------------------------------------------------- */

bool sock_blocks(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !(flags & O_NONBLOCK);
}

/* An interrupted call with a timeout is not restarted (socket(7)). */
static bool has_timeout(int fd)
{
	struct timeval t = {0};
	socklen_t len = sizeof t;

	return getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, &len) == 0 &&
	       (t.tv_sec != 0 || t.tv_usec != 0);
}

long sock_wait(struct request *r, int fd, long (*call)(void *ctx), void *ctx)
{
	struct worker *w = r->worker;
	bool cancelled;
	bool interrupted;
	long n;

	if (worker_block_begin(w, r->call->id, r->call->tid) != 0)
		return -EAGAIN;
	do {
		n = call(ctx);
		if (n < 0)
			n = -errno;
		cancelled = atomic_load(&w->cancelled);
		interrupted = atomic_load(&w->interrupted);
	} while (n == -EINTR && !cancelled);
	worker_block_end(w);
	if (n != -EINTR || !interrupted)
		return n;
	return has_timeout(fd) ? -EINTR : RESTART;
}
