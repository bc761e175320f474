/* net/guard and net/upstream, with a name server of the test's own: only what
 * is allowed is asked, only what was answered is remembered. */
#include "base/clock.h"
#include "base/own.h"
#include "net/addr.h"
#include "net/guard.h"
#include "tests/unit/tap.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS 60000

/* A name server: UDP and TCP on one port.  "big.test" is cut off by UDP, "odd."
 * gets an answer to another question first. */
struct server {
	int udp_fd, tcp_fd;
	uint16_t port;
	_Atomic unsigned asked;
	_Atomic bool over;
	pthread_t thread;
};

static size_t answer_to(const uint8_t *query, const struct dns_query *q, uint8_t *out, bool udp)
{
	size_t n = dns_write_refusal(query, q, DNS_OK, out, 512);
	static const uint8_t record[16] = {0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 1, 2, 3, 4};

	if (strcmp(q->name, "none.test") == 0) {
		out[3] |= DNS_NO_NAME;
		return n;
	}
	if (strcmp(q->name, "big.test") == 0 && udp) {
		out[2] |= 2;
		return n;
	}
	if (q->type == DNS_A) {
		memcpy(out + n, record, sizeof record);
		out[7] = 1;
		n += sizeof record;
	}
	return n;
}

static void serve_udp(struct server *s)
{
	uint8_t query[512];
	uint8_t out[600];
	struct sockaddr_in from;
	socklen_t len = sizeof from;
	struct dns_query q;
	ssize_t n = recvfrom(s->udp_fd, query, sizeof query, 0, (struct sockaddr *)&from, &len);
	size_t m;

	if (n <= 0 || dns_read_query(query, (size_t)n, &q) != 0)
		return;
	s->asked++;
	m = answer_to(query, &q, out, true);
	if (strncmp(q.name, "odd", 3) == 0) {
		out[0] ^= 1; /* another number: to be ignored */
		sendto(s->udp_fd, out, m, 0, (struct sockaddr *)&from, len);
		out[0] ^= 1;
	}
	sendto(s->udp_fd, out, m, 0, (struct sockaddr *)&from, len);
}

static void serve_tcp(struct server *s)
{
	auto_fd fd = accept4(s->tcp_fd, NULL, NULL, SOCK_CLOEXEC);
	uint8_t query[514];
	uint8_t out[600];
	struct dns_query q;
	size_t m;

	if (fd < 0 || recv(fd, query, 2, MSG_WAITALL) != 2 ||
	    recv(fd, query + 2, query[1], MSG_WAITALL) != query[1] ||
	    dns_read_query(query + 2, query[1], &q) != 0)
		return;
	m = answer_to(query + 2, &q, out + 2, false);
	out[0] = 0;
	out[1] = (uint8_t)m;
	(void)!write(fd, out, m + 2);
}

static void *run_server(void *arg)
{
	struct server *s = arg;
	struct pollfd p[2] = {{.fd = s->udp_fd, .events = POLLIN},
	                      {.fd = s->tcp_fd, .events = POLLIN}};

	while (!s->over) {
		if (poll(p, 2, 50) <= 0)
			continue;
		if (p[0].revents)
			serve_udp(s);
		if (p[1].revents)
			serve_tcp(s);
	}
	return NULL;
}

static void start_server(struct server *s)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof in;

	for (int i = 0; i < 100; i++) { /* one port that is free for both */
		s->udp_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		s->tcp_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		in.sin_port = 0;
		if (bind(s->udp_fd, (struct sockaddr *)&in, len) == 0 &&
		    getsockname(s->udp_fd, (struct sockaddr *)&in, &len) == 0 &&
		    bind(s->tcp_fd, (struct sockaddr *)&in, len) == 0)
			break;
		close(s->udp_fd);
		close(s->tcp_fd);
	}
	s->port = ntohs(in.sin_port);
	tap_ok(listen(s->tcp_fd, 4) == 0, "a name server");
	pthread_create(&s->thread, NULL, run_server, s);
}

static bool allow(void *ctx, const struct guard_asker *who, const char *name)
{
	(void)ctx;
	return who->pid == 4711 && strncmp(name, "bad", 3) != 0;
}

static bool leads(struct names *n, const char *name)
{
	struct facts_addr a = {.family = ADDR_NONE};
	const char *const *list;
	bool found = false;

	if (addr_parse_ip("1.2.3.4", &a) != 0)
		return false;
	list = names_of(n, &a, clock_mono_ns());
	for (size_t i = 0; list && list[i]; i++)
		found |= strcmp(list[i], name) == 0;
	free((void *)(uintptr_t)list);
	return found;
}

static int client(struct guard *g, int domain, enum facts_proto proto, bool expected)
{
	static const struct guard_asker who = {.pid = 4711, .tid = 4711};
	struct sockaddr_storage sa;
	socklen_t len = guard_address(g, domain, proto, &sa);
	int fd = socket(domain, (proto == PROTO_TCP ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&sa, len) != 0)
		return -1;
	if (expected)
		guard_expect(g, fd, proto, &who);
	return fd;
}

/* Asks by a datagram. Returns the answer's code, -1 where none came. */
static int ask(int fd, const char *name, uint16_t type, struct dns_answer *a)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint8_t bytes[1500];
	struct dns_query q;
	size_t len = dns_write_query(77, name, type, bytes, sizeof bytes);
	ssize_t n;

	if (dns_read_query(bytes, len, &q) != 0 || send(fd, bytes, len, 0) != (ssize_t)len)
		return -2;
	if (poll(&p, 1, WAIT_MS) != 1)
		return -1;
	n = recv(fd, bytes, sizeof bytes, 0);
	return n > 0 && dns_read_answer(bytes, (size_t)n, &q, a) == 0 ? a->code : -3;
}

static void datagrams(struct guard *g, struct names *names, struct server *s)
{
	struct dns_answer a = {.code = 0};
	int fd = client(g, AF_INET, PROTO_UDP, true);
	unsigned asked;

	tap_is_int(ask(fd, "Good.test", DNS_A, &a), DNS_OK, "an allowed name is answered");
	tap_ok(a.addrs_n == 1 && a.addrs[0].ip[0] == 1, "with the address");
	tap_ok(leads(names, "good.test"), "which is remembered");
	asked = s->asked;
	tap_ok(ask(fd, "good.TEST", DNS_A, &a) == DNS_OK && s->asked == asked,
	       "and answered again from memory, in the spelling that was asked");
	tap_is_int(ask(fd, "bad.test", DNS_A, &a), DNS_REFUSED, "another is refused");
	tap_ok(s->asked == asked && !leads(names, "bad.test"), "and not asked for");
	tap_is_int(ask(fd, "none.test", DNS_A, &a), DNS_NO_NAME, "what does not exist does not");
	tap_is_int(ask(fd, "good.test", DNS_AAAA, &a), DNS_OK, "another type");
	tap_is_int(ask(fd, "odd.test", DNS_A, &a), DNS_OK,
	           "an answer to something else is ignored");
	tap_ok(ask(fd, "big.test", DNS_A, &a) == DNS_OK && leads(names, "big.test"),
	       "an answer cut off is asked for by TCP");
	close(fd);
	fd = client(g, AF_INET6, PROTO_UDP, true);
	if (fd >= 0)
		tap_is_int(ask(fd, "six.test", DNS_A, &a), DNS_OK, "from an IPv6 socket");
	else
		tap_skip("no IPv6 here");
	close(fd);
}

static void connections(struct guard *g)
{
	uint8_t bytes[600];
	struct dns_query q;
	struct dns_answer a;
	int fd = client(g, AF_INET, PROTO_TCP, true);
	size_t len = dns_write_query(5, "tcp.test", DNS_A, bytes + 2, 500);

	bytes[0] = 0;
	bytes[1] = (uint8_t)len;
	tap_is_int(dns_read_query(bytes + 2, len, &q), 0, "a query");
	memcpy(bytes + 2 + len, bytes, len + 2); /* two at once, as the C library does */
	(void)!write(fd, bytes, 2 * (len + 2));
	for (int i = 0; i < 2; i++) {
		tap_ok(recv(fd, bytes, 2, MSG_WAITALL) == 2 &&
		               recv(fd, bytes + 2, bytes[1], MSG_WAITALL) == bytes[1],
		       "an answer on the connection");
		tap_ok(dns_read_answer(bytes + 2, bytes[1], &q, &a) == 0 && a.addrs_n == 1,
		       "which is right");
	}
	close(fd);
}

static void strangers(struct guard *g)
{
	int fd = client(g, AF_INET, PROTO_TCP, false);
	uint8_t bytes[600];
	size_t len = dns_write_query(5, "tcp.test", DNS_A, bytes + 2, 500);

	bytes[0] = 0;
	bytes[1] = (uint8_t)len;
	(void)!write(fd, bytes, len + 2);
	tap_is_int(recv(fd, bytes, 2, 0), 0, "a connection that wary did not make is closed");
	close(fd);
}

static void odd_bytes(struct guard *g)
{
	uint8_t bytes[64] = {0, 9};
	int fd = client(g, AF_INET, PROTO_UDP, true);

	tap_ok(send(fd, bytes, 12, 0) == 12 && recv(fd, bytes, sizeof bytes, 0) == 12,
	       "a query without a question");
	tap_ok(bytes[1] == 9 && (bytes[2] & 0x80) && bytes[3] == DNS_FORMAT, "is a format error");
	close(fd);
}

static void learning(struct guard *g, struct names *names)
{
	struct dns_query q = {.type = DNS_A, .class = 1, .name = "sent.test"};
	struct facts_addr to = {.family = ADDR_NONE};

	tap_is_int(guard_learn(g, &q), 0, "asked beside the program's own query");
	tap_ok(leads(names, "sent.test"), "and remembered");
	tap_ok(upstream_parse("127.0.0.1:53", &to) == 0 && !guard_serves(g, &to),
	       "not that server");
	tap_ok(upstream_parse("[::1]:53", &to) == 0 && to.family == ADDR_INET6, "IPv6");
	tap_is_int(upstream_parse("127.0.0.1", &to), -ERR_FORMAT, "no port");
	tap_is_int(upstream_parse("x:53", &to), -ERR_FORMAT, "no address");
}

int main(void)
{
	struct server s = {.port = 0};
	char word[64];
	const char *const servers[] = {word, NULL};
	struct names *names = NULL;
	struct guard *g = NULL;
	struct guard_config c = {.servers = servers, .allow = allow};
	struct facts_addr to = {.family = ADDR_NONE};

	start_server(&s);
	snprintf(word, sizeof word, "127.0.0.1:%u", s.port);
	tap_is_int(names_new(&names), 0, "names");
	c.names = names;
	tap_is_int(guard_start(&c, &g), 0, "a guard");
	tap_ok(upstream_parse(word, &to) == 0 && guard_serves(g, &to), "for that server");
	datagrams(g, names, &s);
	connections(g);
	strangers(g);
	odd_bytes(g);
	learning(g, names);
	guard_stop(g);
	s.over = true;
	pthread_join(s.thread, NULL);
	close(s.udp_fd);
	close(s.tcp_fd);
	names_free(names);
	return tap_done();
}
