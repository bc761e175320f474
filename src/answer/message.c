/* Messages: fetched from the caller, and sent. */
#include "answer/send.h"

#include "answer/hand.h"
#include "base/own.h"
#include "base/uses.h"
#include "net/cmsg.h"
#include "supervise.h"
#include "tracee/fd.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

USES(getsockopt, sendmsg);

void send_message_free(struct send_message *m)
{
	for (size_t i = 0; i < m->fds_n; i++)
		fd_drop(&m->fds[i]);
	if (m->map_bytes)
		munmap(m->data, m->map_bytes);
	else
		free(m->data);
	free(m->fds);
	free(m->control);
	free(m->remote);
	free(m->query);
	*m = (struct send_message){0};
}

/* ---- data ------------------------------------------------------------- */

/* Room for one piece.  With MSG_ZEROCOPY the kernel goes on reading the pages
 * after the call: they get a mapping of their own, which is never written
 * again (unmapping leaves them to the kernel). */
static int make_room(struct send *t, struct send_message *m, size_t bytes)
{
	if (m->data && !m->map_bytes)
		return 0; /* the first piece was the largest */
	if (m->data)
		munmap(m->data, m->map_bytes);
	m->data = NULL;
	m->map_bytes = 0;
	if (!(t->flags & MSG_ZEROCOPY)) {
		m->data = malloc(bytes ? bytes : 1);
		return m->data ? 0 : -ERR_NOMEM;
	}
	m->data = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	               -1, 0);
	if (m->data == MAP_FAILED) {
		m->data = NULL;
		return -ERR_NOMEM;
	}
	m->map_bytes = bytes ? bytes : 1;
	return 0;
}

int send_fetch_more(struct request *r, struct send *t, struct send_message *m, size_t done_bytes)
{
	size_t left = m->total_bytes - done_bytes;
	size_t want = left < SEND_PIECE_BYTES ? left : SEND_PIECE_BYTES;
	size_t skip = done_bytes;
	size_t have = 0;
	int err = make_room(t, m, want);

	for (size_t i = 0; err == 0 && have < want; i++) {
		const struct iovec *v = &m->remote[i];
		struct tracee_addr at = {(uint64_t)(uintptr_t)v->iov_base + skip};
		size_t len;

		if (v->iov_len <= skip) {
			skip -= v->iov_len;
			continue;
		}
		len = v->iov_len - skip;
		skip = 0;
		if (len > want - have)
			len = want - have;
		err = mem_read(&r->mem, at, m->data + have, len);
		have += len;
	}
	m->data_bytes = err == 0 ? want : 0;
	return err;
}

/* As import_iovec: no piece is negative, and no more in all than a file's
 * offset can count is looked at. */
static int add_up(struct send_message *m)
{
	size_t most = (size_t)INT_MAX & ~(size_t)4095;

	for (size_t i = 0; i < m->remote_n; i++) {
		size_t len = m->remote[i].iov_len;

		if (len > SSIZE_MAX)
			return -EINVAL;
		if (len > most - m->total_bytes)
			m->remote[i].iov_len = len = most - m->total_bytes;
		m->total_bytes += len;
	}
	return 0;
}

static int fetch_pieces(struct request *r, struct send_message *m, const struct msghdr *head)
{
	struct tracee_addr at = {(uint64_t)(uintptr_t)head->msg_iov};
	int err;

	if (head->msg_iovlen > SEND_VECTOR_MAX)
		return -EMSGSIZE;
	m->remote_n = head->msg_iovlen;
	m->remote = calloc(m->remote_n ? m->remote_n : 1, sizeof *m->remote);
	if (!m->remote)
		return -ERR_NOMEM;
	err = mem_read(&r->mem, at, m->remote, m->remote_n * sizeof *m->remote);
	return err != 0 ? err : add_up(m);
}

/* A datagram goes whole or not at all; the largest that any socket takes is far
 * below a piece, but for unix sockets with a buffer that root has raised. */
static int fetch_data(struct request *r, struct send *t, struct send_message *m)
{
	int err;

	if (m->total_bytes > SEND_PIECE_BYTES && !t->kind_known) {
		err = sock_kind(&t->sock);
		if (err != 0)
			return err;
		t->kind_known = true;
	}
	if (m->total_bytes > SEND_PIECE_BYTES && t->sock.type != SOCK_STREAM)
		return -EMSGSIZE;
	return send_fetch_more(r, t, m, 0);
}

/* ---- control ---------------------------------------------------------- */

/* Numbers of the caller become wary's; the rest of the message stays. */
static int take_rights(struct request *r, struct send_message *m, const struct cmsg_item *item)
{
	size_t n = item->data_len_bytes / sizeof(int);
	int theirs[SEND_FDS_MAX];
	int err;

	if (n > SEND_FDS_MAX - m->fds_n)
		return -EINVAL;
	if (n == 0)
		return 0;
	if (!m->fds)
		m->fds = calloc(SEND_FDS_MAX, sizeof *m->fds);
	if (!m->fds)
		return -ERR_NOMEM;
	memcpy(theirs, item->data, n * sizeof theirs[0]);
	err = fd_get_many(r->call->tid, theirs, n, m->fds + m->fds_n);
	if (err != 0)
		return err;
	memcpy(item->data, m->fds + m->fds_n, n * sizeof theirs[0]);
	m->fds_n += n;
	return 0;
}

/* A process may claim its own number and ids.  The number becomes wary's where
 * the kernel would not take another's from wary. */
static int take_credentials(struct request *r, struct send_message *m, const struct cmsg_item *item)
{
	struct ucred claimed;
	struct caller_creds creds;
	pid_t tgid = 0;
	int err;

	if (item->data_len_bytes != sizeof claimed)
		return -EINVAL;
	memcpy(&claimed, item->data, sizeof claimed);
	err = caller_creds_of(r->call->tid, &creds, &tgid);
	if (err != 0)
		return err;
	if (claimed.pid != tgid || (claimed.uid != creds.ruid && claimed.uid != creds.euid) ||
	    (claimed.gid != creds.egid && claimed.gid != creds.fsgid))
		return -EPERM;
	m->credentials = (struct ucred *)(void *)item->data;
	if (!r->sup->as_root)
		m->credentials->pid = getpid();
	return 0;
}

static int take_control(struct request *r, struct send *t, struct send_message *m)
{
	struct cmsg_walk walk = {.bytes = m->control, .len_bytes = m->control_bytes};
	struct cmsg_item item;
	int more;
	int err = 0;

	while (err == 0 && (more = cmsg_next(&walk, &item)) != 0) {
		if (more < 0)
			return more;
		switch (cmsg_kind(&item, t->sock.domain)) {
		case CMSG_RIGHTS:
			err = t->sock.domain == AF_UNIX ? take_rights(r, m, &item) : -EINVAL;
			break;
		case CMSG_CREDENTIALS:
			err = take_credentials(r, m, &item);
			break;
		case CMSG_REFUSED:
			err = -ERR_CONTROL;
			break;
		case CMSG_PASS:
			break;
		}
	}
	return err;
}

static int fetch_control(struct request *r, struct send *t, struct send_message *m,
                         const struct msghdr *head)
{
	struct tracee_addr at = {(uint64_t)(uintptr_t)head->msg_control};
	int err;

	if (head->msg_controllen == 0)
		return 0;
	if (head->msg_controllen > SEND_CONTROL_BYTES)
		return -ENOBUFS;
	m->control = malloc(head->msg_controllen);
	if (!m->control)
		return -ERR_NOMEM;
	m->control_bytes = head->msg_controllen;
	err = mem_read(&r->mem, at, m->control, m->control_bytes);
	if (err != 0)
		return err;
	return take_control(r, t, m);
}

/* ---- one message ------------------------------------------------------ */

static int fetch_destination(struct request *r, struct send *t, struct send_message *m,
                             uint64_t addr, uint64_t len_bytes)
{
	/* As the kernel: what is longer than any address is cut. */
	if (len_bytes > sizeof(struct sockaddr_storage))
		len_bytes = sizeof(struct sockaddr_storage);
	return sock_read_addr(r, &t->sock, addr, len_bytes, ADDR_FOR_SEND, &m->addr);
}

int send_fetch(struct request *r, struct send *t, struct send_message *m, uint64_t at)
{
	struct msghdr head;
	bool has_name;
	int err = mem_read(&r->mem, (struct tracee_addr){at}, &head, sizeof head);

	if (err != 0)
		return err;
	if ((int)head.msg_namelen < 0)
		return -EINVAL;
	has_name = head.msg_name && head.msg_namelen > 0;
	if ((has_name || head.msg_controllen > 0) && !t->kind_known) {
		err = sock_kind(&t->sock);
		if (err != 0)
			return err;
		t->kind_known = true;
	}
	err = fetch_pieces(r, m, &head);
	m->named = has_name;
	if (err == 0 && has_name && send_goes_somewhere(t))
		err = fetch_destination(r, t, m, (uint64_t)(uintptr_t)head.msg_name,
		                        head.msg_namelen);
	if (err == 0)
		err = fetch_control(r, t, m, &head);
	return err != 0 ? err : fetch_data(r, t, m);
}

int send_fetch_flat(struct request *r, struct send *t, struct send_message *m)
{
	const uint64_t *args = r->call->args;
	int err;

	m->remote = calloc(1, sizeof *m->remote);
	if (!m->remote)
		return -ERR_NOMEM;
	m->remote_n = 1;
	m->remote[0].iov_base = (void *)(uintptr_t)args[1]; /* never followed */
	m->remote[0].iov_len = args[2];
	err = add_up(m);
	if (err == 0 && !t->kind_known)
		err = sock_kind(&t->sock);
	t->kind_known = true;
	m->named = args[4] != 0 && (int)args[5] != 0;
	if (err == 0 && m->named && send_goes_somewhere(t))
		err = sock_read_addr(r, &t->sock, args[4], args[5], ADDR_FOR_SEND, &m->addr);
	return err != 0 ? err : fetch_data(r, t, m);
}

/* ---- sending ---------------------------------------------------------- */

struct attempt {
	int fd;
	int flags;
	struct msghdr head;
	struct iovec data;
};

/* A name that a connected unix stream refuses, whatever it says. */
static const struct sockaddr some_name = {.sa_family = AF_UNIX};

static long attempt_once(void *ctx)
{
	struct attempt *t = ctx;

	return sendmsg(t->fd, &t->head, t->flags);
}

static void attempt_of(struct request *r, struct send *t, struct send_message *m, struct attempt *a)
{
	struct addr *to = m->addr ? &m->addr->a : NULL;

	*a = (struct attempt){.fd = t->sock.fd, .flags = (int)t->flags | MSG_NOSIGNAL};
	a->data = (struct iovec){.iov_base = m->data, .iov_len = m->data_bytes};
	a->head.msg_iov = &a->data;
	a->head.msg_iovlen = 1;
	a->head.msg_control = m->control;
	a->head.msg_controllen = m->control_bytes;
	if (!to && m->named && t->sock.domain == AF_UNIX && t->sock.type == SOCK_STREAM) {
		a->head.msg_name = (void *)(uintptr_t)&some_name;
		a->head.msg_namelen = sizeof some_name.sa_family;
	} else if (to && to->kind == ADDR_IS_PATH) {
		a->head.msg_name = &m->name;
		a->head.msg_namelen = sockpath_name(r, m->addr, &m->name);
	} else if (to) {
		a->head.msg_name = &to->sa;
		a->head.msg_namelen = to->len_bytes;
	}
}

/* At once where that goes, else waiting for it. */
static long attempt(struct request *r, struct send *t, struct attempt *a)
{
	bool may_wait = !(t->flags & MSG_DONTWAIT);
	long n;

	if ((t->flags & MSG_FASTOPEN) && may_wait && sock_blocks(a->fd))
		return sock_wait(r, a->fd, attempt_once, a); /* it connects first */
	if (!(t->flags & MSG_FASTOPEN))
		a->flags |= MSG_DONTWAIT;
	n = attempt_once(a);
	if (n >= 0)
		return n;
	if (errno != EAGAIN || !may_wait || !sock_blocks(a->fd))
		return -errno;
	a->flags &= ~MSG_DONTWAIT;
	return sock_wait(r, a->fd, attempt_once, a);
}

static long send_piece(struct request *r, struct send *t, struct send_message *m, struct attempt *a)
{
	long n;

	if (hand_on_named(r) != 0)
		return -EACCES;
	n = attempt(r, t, a);
	if (n == -EPERM && m->credentials && m->credentials->pid != getpid()) {
		m->credentials->pid = getpid();
		n = attempt(r, t, a);
	}
	hand_off(r);
	return n;
}

static long failed(struct request *r, struct send *t, long n)
{
	int type = 0;
	socklen_t len = sizeof type;

	if (n == -EPIPE && !(t->flags & MSG_NOSIGNAL) &&
	    getsockopt(t->sock.fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_STREAM) {
		r->caller.tgid = caller_tgid(r->call->tid);
		r->reply.signal = SIGPIPE;
	}
	return n;
}

/* What follows the bytes that a stream took. */
static int next_piece(struct request *r, struct send *t, struct send_message *m, size_t done,
                      struct attempt *a)
{
	int err = send_fetch_more(r, t, m, done);

	if (err != 0 || mem_valid(&r->mem) != 0)
		return -EFAULT;
	a->data = (struct iovec){.iov_base = m->data, .iov_len = m->data_bytes};
	a->head.msg_control = NULL; /* went with the first piece */
	a->head.msg_controllen = 0;
	return 0;
}

long send_perform(struct request *r, struct send *t, struct send_message *m)
{
	struct attempt a;
	size_t done = 0;
	long n;

	if (m->addr && m->addr->nowhere)
		return r->target.place[m->addr->place].error;
	attempt_of(r, t, m, &a);
	for (;;) {
		n = send_piece(r, t, m, &a);
		if (n < 0)
			break;
		done += (size_t)n;
		if (m->query) /* rewritten, and shorter: it went whole */
			return (long)m->total_bytes;
		/* Only a stream takes less than it is given. */
		if (done >= m->total_bytes || (t->flags & MSG_DONTWAIT) || !sock_blocks(a.fd))
			return (long)done;
		n = next_piece(r, t, m, done, &a);
		if (n < 0)
			break;
	}
	return done > 0 ? (long)done : failed(r, t, n);
}
