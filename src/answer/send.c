/* sendto with an address, sendmsg, sendmmsg: addresses, data, descriptors and
 * credentials are copied once, judged, and sent on the socket that was got.
 *
 * Only where a message goes is a question: with an address, or with
 * MSG_FASTOPEN, which connects.  A message without either goes where the
 * socket is connected, which was judged then; it is sent without a record.
 * Of sendmmsg as many messages are sent as may be; the caller learns how many,
 * as it would where one failed, and meets the refused one with its next call. */
#include "answer/send.h"

#include "answer/families.h"
#include "answer/hand.h"
#include "base/log.h"
#include "call/op.h"
#include "net/guard.h"
#include "net/own.h"
#include "supervise.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* As the kernel lays them out for 64-bit programs. */
_Static_assert(sizeof(struct msghdr) == 56, "struct user_msghdr");
_Static_assert(sizeof(struct mmsghdr) == 64, "struct mmsghdr");

static void send_free(void *more)
{
	struct send *t = more;

	for (unsigned i = 0; i < t->messages_n; i++)
		send_message_free(&t->messages[i]);
	free(t->messages);
	sock_free(more);
}

bool send_goes_somewhere(const struct send *t)
{
	if (t->sock.type == SOCK_STREAM || t->sock.type == SOCK_SEQPACKET)
		return (t->flags & MSG_FASTOPEN) && t->sock.domain != AF_UNIX;
	return true;
}

static bool same_address(const struct sock_addr *a, const struct sock_addr *b)
{
	return a->a.len_bytes == b->a.len_bytes && memcmp(&a->a.sa, &b->a.sa, sizeof a->a.sa) == 0;
}

/* A datagram to a name server: the name in it is the question.  It goes out as
 * wary writes it, with nothing of the program's but number, name and type. */
static int question_name(struct request *r, struct send_message *m)
{
	uint8_t query[512];
	size_t len;

	m->query = calloc(1, sizeof *m->query);
	if (!m->query)
		return -ERR_NOMEM;
	if (dns_read_query(m->data, m->data_bytes, m->query) != 0)
		return -ERR_FORMAT;
	len = dns_write_query(m->query->id, m->query->name, m->query->type, query, sizeof query);
	if (len == 0 || len > m->data_bytes || m->query->class != 1)
		return -ERR_FORMAT;
	memcpy(m->data, query, len);
	m->data_bytes = len;
	return request_add_fact(r, CLASS_RESOLVE, m->query->name) ? 0 : -ERR_NOMEM;
}

/* The message's destination becomes a question, unless it is that of an
 * earlier message. */
static int question(struct request *r, struct send *t, struct send_message *m)
{
	struct sock *s = &t->sock;
	struct sock_addr *a = m->addr;

	if (!a)
		return 0;
	if (t->sock.type == SOCK_DGRAM && sock_is_name_server(r, a))
		return question_name(r, m);
	for (unsigned i = 0; &s->addrs[i] != a; i++) {
		if (s->addrs[i].text && same_address(&s->addrs[i], a)) {
			m->addr = &s->addrs[i];
			sock_drop_addr(r, s);
			return 0;
		}
	}
	return sock_question(r, s, a, CLASS_CONNECT);
}

static int prepare_one(struct request *r, struct send *t)
{
	struct send_message *m = &t->messages[0];
	int err;

	if (r->call->row->op == OP_SENDTO)
		err = send_fetch_flat(r, t, m);
	else
		err = send_fetch(r, t, m, r->call->args[1]);
	if (err == 0)
		err = fetch_end(r, HAND_IDS);
	return err != 0 ? err : question(r, t, m);
}

/* Whether a further message's question is answered by the rules alone, and with
 * yes: else the call ends before it (a partial count), and the next begins
 * with it. */
static bool allowed_at_once(struct request *r, unsigned facts_before)
{
	for (unsigned i = facts_before; i < r->facts_n; i++) {
		struct verdict v;

		lineage_facts(r->caller.program, &r->facts[i]);
		policy_decide(r->sup->policy, &r->facts[i], &v);
		if (v.answer != ANSWER_ALLOW)
			return false;
	}
	return true;
}

/* One more message of a sendmmsg. Returns whether it belongs to this call. */
static bool prepare_next(struct request *r, struct send *t, size_t *bytes)
{
	struct send_message *m = &t->messages[t->messages_n];
	unsigned facts_before = r->facts_n;
	uint64_t head = t->vector + t->messages_n * sizeof(struct mmsghdr);
	int err;

	if (t->sock.addrs_n == REQUEST_FACTS_MAX || r->facts_n == REQUEST_FACTS_MAX)
		return false;
	t->messages_n++;
	err = send_fetch(r, t, m, head);
	*bytes += m->data_bytes + m->control_bytes;
	if (err == 0 && mem_valid(&r->mem) == 0 && *bytes <= 2 * SEND_PIECE_BYTES)
		err = question(r, t, m);
	else
		err = 1;
	if (err == 0 && allowed_at_once(r, facts_before))
		return true;
	r->facts_n = facts_before;
	t->messages_n--;
	send_message_free(m);
	return false;
}

static int prepare_many(struct request *r, struct send *t)
{
	size_t bytes;
	int err;

	if (t->asked_n == 0)
		return 0;
	err = prepare_one(r, t);
	if (err != 0)
		return err;
	bytes = t->messages[0].data_bytes;
	while (t->messages_n < t->asked_n && prepare_next(r, t, &bytes))
		continue;
	return 0;
}

static int prepare(struct request *r)
{
	struct send *t = (struct send *)sock_new(r, sizeof *t);
	const uint64_t *args = r->call->args;
	int op = r->call->row->op;
	int err;

	if (!t)
		return -ERR_NOMEM;
	r->target.more_free = send_free;
	t->asked_n = 1;
	t->flags = (unsigned)(op == OP_SENDMSG ? args[2] : args[3]);
	if (op == OP_SENDMMSG) {
		t->vector = args[1];
		t->asked_n =
			(unsigned)args[2] < SEND_VECTOR_MAX ? (unsigned)args[2] : SEND_VECTOR_MAX;
	}
	r->flags = t->flags;
	t->messages = calloc(t->asked_n ? t->asked_n : 1, sizeof *t->messages);
	if (!t->messages)
		return -ERR_NOMEM;
	t->messages_n = t->asked_n ? 1 : 0;
	err = sock_get(r, &t->sock, args[0]);
	if (err == 0 && (t->flags & MSG_FASTOPEN))
		err = sock_kind(&t->sock);
	t->kind_known = (t->flags & MSG_FASTOPEN) != 0;
	if (err == 0)
		err = op == OP_SENDMMSG ? prepare_many(r, t) : prepare_one(r, t);
	/* The kernel looks at the descriptor before anything else. */
	if (err < 0 && err > -ERR_BASE && sock_kind(&t->sock) == -ENOTSOCK)
		err = -ENOTSOCK;
	return fetch_result(r, err);
}

/* ---- effect ----------------------------------------------------------- */

/* The count that the caller reads beside each message. */
static int tell_length(struct request *r, const struct send *t, unsigned i, long sent)
{
	struct tracee_addr at = {t->vector + i * sizeof(struct mmsghdr) +
	                         offsetof(struct mmsghdr, msg_len)};
	uint32_t len = (uint32_t)sent;

	return mem_write(&r->mem, at, &len, sizeof len);
}

/* A query that goes to a name server by itself: wary asks the same, so that
 * rules by name know the answer before the program does.  Where nobody answers,
 * nothing is learnt, and no rule by name will match. */
static long perform(struct request *r, struct send *t, struct send_message *m)
{
	if (m->query) {
		if (worker_block_begin(r->worker, r->call->id, r->call->tid) != 0)
			return -EAGAIN;
		if (guard_learn(r->sup->guard, m->query) == -ERR_CANCELLED)
			log_detail("a lookup was given up: the session ends");
		worker_block_end(r->worker);
	}
	return send_perform(r, t, m);
}

static long act_many(struct request *r, struct send *t)
{
	unsigned done = 0;
	long n = 0;

	while (done < t->messages_n) {
		struct send_message *m = &t->messages[done];

		n = perform(r, t, m);
		if (n < 0)
			break;
		if (tell_length(r, t, done, n) != 0) {
			n = -EFAULT;
			break;
		}
		done++;
		if ((size_t)n < m->total_bytes)
			break; /* a stream that took no more */
	}
	return done > 0 ? (long)done : n;
}

static void act(struct request *r, const struct receipt *receipt)
{
	struct send *t = r->target.more;
	const struct sock_addr *a = t->messages_n ? t->messages[0].addr : NULL;
	long n;

	(void)receipt;
	if (t->messages_n == 0) {
		r->reply.value = 0;
		return;
	}
	if (r->call->row->op == OP_SENDMMSG)
		n = act_many(r, t);
	else
		n = perform(r, t, &t->messages[0]);
	if (n >= 0 && a && a->guarded)
		sock_tell_guard(r, &t->sock);
	/* A first send gave the socket a port, to which others may answer. */
	if (n >= 0 && a && a->a.kind == ADDR_IS_IP)
		own_add(r->sup->own, t->sock.fd);
	r->reply.value = n;
}

const struct family family_send = {.prepare = prepare, .act = act};
