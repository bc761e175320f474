#include "net/guard.h"

#include "base/clock.h"
#include "base/own.h"
#include "base/thread.h"
#include "base/uses.h"
#include "net/addr.h"
#include "net/pins.h"
#include "tracee/lineage_entry.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

USES(accept4, getsockname, recvfrom, sendto);
USED_BEFORE(bind, eventfd2, listen, socket);

#define STACK_BYTES ((size_t)256 << 10)
/* So many connections and datagrams are served at once. */
#define BUSY_MAX 64u
#define ASKERS_MAX 1024u
/* What a datagram may hold that was not asked for as larger (RFC 1035), and
 * what programs that do ask are given (the usual bound of EDNS). */
#define UDP_PLAIN_BYTES 512
#define UDP_MORE_BYTES 1232
#define FLAG_TRUNCATED 2 /* in the third byte */
/* A connection that asks nothing is closed. */
#define IDLE_MS 30000

struct expected {
	enum facts_proto proto; /* PROTO_ANY: free */
	uint16_t port;
	struct guard_asker who;
};

struct guard {
	struct guard_config config;
	struct pins *pins;
	struct upstream served;
	struct upstream upstream;
	int tcp_fd, udp_fd;
	uint16_t tcp_port, udp_port;
	int stop_fd;
	pthread_t thread;
	pthread_mutex_t lock;
	/* Below: under the lock. */
	pthread_cond_t calm;
	unsigned busy;
	unsigned next;
	struct expected askers[ASKERS_MAX];
};

/* One connection, or one datagram. */
struct job {
	struct guard *g;
	int fd; /* of the connection, owned; -1: a datagram */
	struct sockaddr_in from;
	size_t len;
	uint8_t bytes[UDP_PLAIN_BYTES];
};

/* Room for one query and its answer. */
struct talk {
	uint8_t query[DNS_MESSAGE_MAX];
	uint8_t answer[DNS_MESSAGE_MAX];
};

/* ---- who asks --------------------------------------------------------- */

void guard_expect(struct guard *g, int socket_fd, enum facts_proto proto,
                  const struct guard_asker *who)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_storage room;
	} sa = {.room = {0}};
	socklen_t len = sizeof sa;
	struct expected *e;
	struct expected old;

	/* sin_port and sin6_port lie at the same place. */
	if (getsockname(socket_fd, &sa.any, &len) != 0) {
		entry_put(who->program);
		return;
	}
	pthread_mutex_lock(&g->lock);
	e = &g->askers[g->next];
	g->next = (g->next + 1) % ASKERS_MAX;
	old = *e;
	*e = (struct expected){.proto = proto, .port = ntohs(sa.in.sin_port), .who = *who};
	pthread_mutex_unlock(&g->lock);
	if (old.proto != PROTO_ANY)
		entry_put(old.who.program);
}

/* Decides while the entry cannot go: its program's strings are used. */
static bool known(struct guard *g, enum facts_proto proto, uint16_t port, struct guard_asker *out)
{
	bool found = false;

	pthread_mutex_lock(&g->lock);
	for (unsigned i = 1; i <= ASKERS_MAX && !found; i++) { /* the latest first */
		const struct expected *e = &g->askers[(g->next + ASKERS_MAX - i) % ASKERS_MAX];

		found = e->proto == proto && e->port == port;
		if (found) {
			*out = e->who;
			out->program = entry_get(e->who.program);
		}
	}
	pthread_mutex_unlock(&g->lock);
	return found;
}

/* ---- one query -------------------------------------------------------- */

/* Asks for what is not known yet; remembers addresses, and the answer as long
 * as they count. Returns the answer's length, or -ERR_. */
static ssize_t look_up(struct guard *g, const struct dns_query *q, uint8_t *out)
{
	struct dns_answer a;
	uint64_t until;
	size_t pinned = pins_get(g->pins, q->name, q->type, clock_mono_ns(), out, DNS_MESSAGE_MAX);
	ssize_t n;

	if (pinned > 0)
		return (ssize_t)pinned;
	n = upstream_ask(&g->upstream, q, out, DNS_MESSAGE_MAX, &a);
	if (n <= 0 || a.addrs_n == 0)
		return n;
	until = clock_mono_ns() + names_lifetime_ns(a.ttl_s);
	for (size_t i = 0; i < a.addrs_n; i++)
		names_learn(g->config.names, q->name, &a.addrs[i], until);
	pins_put(g->pins, q->name, q->type, out, (size_t)n, until);
	return n;
}

static size_t refusal(const uint8_t *query, size_t len, const struct dns_query *q,
                      enum dns_code code, uint8_t *out)
{
	uint16_t id;

	if (q)
		return dns_write_refusal(query, q, code, out, DNS_MESSAGE_MAX);
	if (!dns_is_query(query, len, &id))
		return 0;
	memcpy(out, query, 12);
	out[2] = 0x80;
	out[3] = DNS_FORMAT;
	memset(out + 4, 0, 8);
	return 12;
}

/* Answers one query. Returns the length of t->answer; 0: nothing is said. */
static size_t serve(struct guard *g, struct talk *t, size_t len, const struct guard_asker *who)
{
	struct dns_query q;
	ssize_t n;

	if (dns_read_query(t->query, len, &q) != 0)
		return refusal(t->query, len, NULL, DNS_FORMAT, t->answer);
	if (q.class != 1 || !g->config.allow(g->config.ctx, who, q.name))
		return refusal(t->query, len, &q, DNS_REFUSED, t->answer);
	n = look_up(g, &q, t->answer);
	if (n < (ssize_t)q.end_bytes)
		return refusal(t->query, len, &q, DNS_FAILED, t->answer);
	/* The program's own number and spelling of the name. */
	memcpy(t->answer, t->query, 2);
	memcpy(t->answer + 12, t->query + 12, q.end_bytes - 12);
	return (size_t)n;
}

/* ---- connections and datagrams ---------------------------------------- */

static bool read_exactly(struct guard *g, int fd, uint8_t *bytes, size_t len)
{
	struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = g->stop_fd, .events = POLLIN}};

	while (len > 0) {
		int got = poll(p, 2, IDLE_MS);
		ssize_t n;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0 || p[1].revents)
			return false;
		n = recv(fd, bytes, len, 0);
		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

static bool write_answer(int fd, const uint8_t *bytes, size_t len)
{
	uint8_t head[2] = {(uint8_t)(len >> 8), (uint8_t)len};

	return send(fd, head, sizeof head, MSG_NOSIGNAL | MSG_MORE) == (ssize_t)sizeof head &&
	       send(fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static void serve_connection(struct job *j, struct talk *t)
{
	struct guard_asker who;
	uint8_t head[2];
	bool asked = false;

	while (read_exactly(j->g, j->fd, head, sizeof head)) {
		size_t len = (size_t)head[0] << 8 | head[1];

		if (!read_exactly(j->g, j->fd, t->query, len))
			break;
		/* Known once it has asked: the connection was made before. */
		if (!asked && !known(j->g, PROTO_TCP, ntohs(j->from.sin_port), &who))
			return;
		asked = true;
		len = serve(j->g, t, len, &who);
		if (len == 0 || !write_answer(j->fd, t->answer, len))
			break;
	}
	if (asked)
		entry_put(who.program);
}

static void serve_datagram(struct job *j, struct talk *t)
{
	struct guard_asker who;
	struct dns_query q;
	size_t most = UDP_PLAIN_BYTES;
	size_t len;

	if (!known(j->g, PROTO_UDP, ntohs(j->from.sin_port), &who))
		return;
	memcpy(t->query, j->bytes, j->len);
	len = serve(j->g, t, j->len, &who);
	entry_put(who.program);
	if (j->len > 11 && j->bytes[11] > 0) /* it brought EDNS along */
		most = UDP_MORE_BYTES;
	if (len > most && dns_read_query(j->bytes, j->len, &q) == 0) {
		len = dns_write_refusal(j->bytes, &q, DNS_OK, t->answer, sizeof t->answer);
		t->answer[2] |= FLAG_TRUNCATED;
	}
	if (len > 0)
		(void)sendto(j->g->udp_fd, t->answer, len, MSG_NOSIGNAL,
		             (const struct sockaddr *)&j->from, sizeof j->from);
}

static void job_done(struct guard *g)
{
	pthread_mutex_lock(&g->lock);
	g->busy--;
	pthread_cond_broadcast(&g->calm);
	pthread_mutex_unlock(&g->lock);
}

static void *run_job(void *arg)
{
	struct job *j = arg;
	struct guard *g = j->g;
	struct talk *t = malloc(sizeof *t);

	if (t && j->fd >= 0)
		serve_connection(j, t);
	else if (t)
		serve_datagram(j, t);
	free(t);
	fd_drop(&j->fd);
	free(j);
	job_done(g);
	return NULL;
}

/* Starts a job, or drops it where too many are under way. */
static void start_job(struct guard *g, struct job *j)
{
	pthread_attr_t attr;
	pthread_t thread;
	bool room;
	int err = 1;

	pthread_mutex_lock(&g->lock);
	room = g->busy < BUSY_MAX;
	g->busy += room;
	pthread_mutex_unlock(&g->lock);
	if (room && pthread_attr_init(&attr) == 0) {
		err = pthread_attr_setstacksize(&attr, STACK_BYTES);
		err |= pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		err = err ? err : pthread_create(&thread, &attr, run_job, j);
		pthread_attr_destroy(&attr);
	}
	if (err == 0)
		return;
	if (room)
		job_done(g);
	fd_drop(&j->fd);
	free(j);
}

static void take_connection(struct guard *g)
{
	struct job *j = calloc(1, sizeof *j);
	socklen_t len = sizeof j->from;
	int fd = accept4(g->tcp_fd, j ? (struct sockaddr *)&j->from : NULL, j ? &len : NULL,
	                 SOCK_CLOEXEC);

	if (fd < 0 || !j) {
		fd_drop(&fd);
		free(j);
		return;
	}
	j->g = g;
	j->fd = fd;
	start_job(g, j);
}

static void take_datagram(struct guard *g)
{
	struct job *j = calloc(1, sizeof *j);
	uint8_t none[1];
	socklen_t len = sizeof j->from;
	ssize_t n = j ? recvfrom(g->udp_fd, j->bytes, sizeof j->bytes, MSG_DONTWAIT,
	                         (struct sockaddr *)&j->from, &len)
	              : recv(g->udp_fd, none, sizeof none, MSG_DONTWAIT);

	if (n <= 0 || !j) {
		free(j);
		return;
	}
	j->g = g;
	j->fd = -1;
	j->len = (size_t)n;
	start_job(g, j);
}

static void *run(void *arg)
{
	struct guard *g = arg;
	struct pollfd p[3] = {{.fd = g->stop_fd, .events = POLLIN},
	                      {.fd = g->tcp_fd, .events = POLLIN},
	                      {.fd = g->udp_fd, .events = POLLIN}};

	for (;;) {
		if (poll(p, 3, -1) < 0)
			continue;
		if (p[0].revents)
			return NULL;
		if (p[1].revents)
			take_connection(g);
		if (p[2].revents)
			take_datagram(g);
	}
}

/* ---- its life --------------------------------------------------------- */

static int open_port(int type, uint16_t *port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof in;
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -ERR_SYS;
	if (bind(fd, (struct sockaddr *)&in, len) != 0 ||
	    getsockname(fd, (struct sockaddr *)&in, &len) != 0 ||
	    (type == SOCK_STREAM && listen(fd, 64) != 0)) {
		fd_drop(&fd);
		return -ERR_SYS;
	}
	*port = ntohs(in.sin_port);
	return fd;
}

static void free_all(struct guard *g)
{
	for (unsigned i = 0; i < ASKERS_MAX; i++)
		if (g->askers[i].proto != PROTO_ANY)
			entry_put(g->askers[i].who.program);
	fd_drop(&g->tcp_fd);
	fd_drop(&g->udp_fd);
	fd_drop(&g->stop_fd);
	pins_free(g->pins);
	pthread_mutex_destroy(&g->lock);
	pthread_cond_destroy(&g->calm);
	free(g);
}

static int read_servers(struct upstream *u, const char *const *words)
{
	for (; words && *words && u->servers_n < UPSTREAM_SERVERS_MAX; words++)
		if (upstream_parse(*words, &u->servers[u->servers_n]) == 0)
			u->servers_n++;
	return u->servers_n > 0 ? 0 : -ERR_FORMAT;
}

int guard_start(const struct guard_config *c, struct guard **out)
{
	struct guard *g = calloc(1, sizeof *g);
	int err;

	if (!g)
		return -ERR_NOMEM;
	g->config = *c;
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->calm, NULL);
	g->tcp_fd = open_port(SOCK_STREAM, &g->tcp_port);
	g->udp_fd = open_port(SOCK_DGRAM, &g->udp_port);
	g->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	g->upstream.stop_fd = g->stop_fd;
	err = g->tcp_fd < 0 || g->udp_fd < 0 || g->stop_fd < 0 ? -ERR_SYS : 0;
	if (err == 0)
		err = pins_new(&g->pins);
	if (err == 0)
		err = read_servers(&g->served, c->servers);
	if (err == 0)
		err = read_servers(&g->upstream, c->upstream ? c->upstream : c->servers);
	if (err == 0)
		err = thread_begin(&g->thread, NULL, run, g);
	if (err != 0) {
		free_all(g);
		return err;
	}
	*out = g;
	return 0;
}

void guard_stop(struct guard *g)
{
	uint64_t one = 1;

	if (!g)
		return;
	invariant(write(g->stop_fd, &one, sizeof one) == (ssize_t)sizeof one);
	invariant(pthread_join(g->thread, NULL) == 0);
	pthread_mutex_lock(&g->lock);
	while (g->busy > 0)
		pthread_cond_wait(&g->calm, &g->lock);
	pthread_mutex_unlock(&g->lock);
	free_all(g);
}

/* ---- for the answers -------------------------------------------------- */

bool guard_serves(const struct guard *g, const struct facts_addr *to)
{
	for (size_t i = 0; i < g->served.servers_n; i++)
		if (addr_same_ip(&g->served.servers[i], to) &&
		    g->served.servers[i].port == to->port)
			return true;
	return false;
}

socklen_t guard_address(const struct guard *g, int domain, enum facts_proto proto,
                        struct sockaddr_storage *out)
{
	static const uint8_t mapped[16] = {[10] = 0xff, 0xff, 127, 0, 0, 1};
	struct sockaddr_in *in = (struct sockaddr_in *)out;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
	uint16_t port = proto == PROTO_TCP ? g->tcp_port : g->udp_port;

	memset(out, 0, sizeof *out);
	if (domain == AF_INET6) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		memcpy(&in6->sin6_addr, mapped, sizeof mapped);
		return sizeof *in6;
	}
	in->sin_family = AF_INET;
	in->sin_port = htons(port);
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return sizeof *in;
}

int guard_learn(struct guard *g, const struct dns_query *q)
{
	uint8_t *room = malloc(DNS_MESSAGE_MAX);
	ssize_t n;

	if (!room)
		return -ERR_NOMEM;
	n = look_up(g, q, room);
	free(room);
	return n > 0 ? 0 : (int)n;
}
