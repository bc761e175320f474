#include "net/upstream.h"

#include "base/clock.h"
#include "base/own.h"
#include "base/text.h"
#include "base/uses.h"
#include "net/addr.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

USES(connect, recvfrom, sendto, socket_inet);

#define ROUNDS 2
#define WAIT_NS 2500000000u
#define NS_PER_MS 1000000u
#define QUERY_MAX 512

int upstream_parse(const char *word, struct facts_addr *out)
{
	char ip[64];
	unsigned long long port;
	const char *colon = strrchr(word, ':');
	size_t len = colon ? (size_t)(colon - word) : 0;

	if (len >= 2 && word[0] == '[' && word[len - 1] == ']') {
		word++;
		len -= 2;
	}
	if (len == 0 || len >= sizeof ip)
		return -ERR_FORMAT;
	memcpy(ip, word, len);
	ip[len] = '\0';
	*out = (struct facts_addr){.family = ADDR_NONE};
	if (addr_parse_ip(ip, out) != 0 || text_number(colon + 1, UINT16_MAX, &port) != 0 || !port)
		return -ERR_FORMAT;
	out->port = (uint16_t)port;
	return 0;
}

static socklen_t sockaddr_of(const struct facts_addr *f, struct sockaddr_storage *out)
{
	struct sockaddr_in *in = (struct sockaddr_in *)out;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;

	memset(out, 0, sizeof *out);
	if (f->family == ADDR_INET) {
		in->sin_family = AF_INET;
		in->sin_port = htons(f->port);
		memcpy(&in->sin_addr, f->ip, 4);
		return sizeof *in;
	}
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(f->port);
	memcpy(&in6->sin6_addr, f->ip, 16);
	return sizeof *in6;
}

/* Waits until the socket is ready. Returns 0, -ERR_GONE (time is up) or
 * -ERR_CANCELLED. */
static int wait_for(const struct upstream *u, int fd, short events, uint64_t until_ns)
{
	struct pollfd p[2] = {{.fd = fd, .events = events}, {.fd = u->stop_fd, .events = POLLIN}};

	for (;;) {
		uint64_t now = clock_mono_ns();
		int n;

		if (now >= until_ns)
			return -ERR_GONE;
		n = poll(p, 2, (int)((until_ns - now) / NS_PER_MS) + 1);
		if (n > 0 && p[1].revents)
			return -ERR_CANCELLED;
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -ERR_GONE;
	}
}

static int open_to(const struct facts_addr *server, int type)
{
	struct sockaddr_storage sa;
	socklen_t len = sockaddr_of(server, &sa);
	int fd = socket(sa.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return errno == EMFILE || errno == ENFILE ? -ERR_NOFD : -ERR_GONE;
	if (connect(fd, (const struct sockaddr *)&sa, len) != 0 && errno != EINPROGRESS)
		fd_drop(&fd);
	return fd < 0 ? -ERR_GONE : fd;
}

/* ---- UDP -------------------------------------------------------------- */

static ssize_t ask_udp(const struct upstream *u, const struct facts_addr *server,
                       const struct dns_query *q, const uint8_t *query, size_t query_len,
                       uint8_t *out, size_t cap, struct dns_answer *answer)
{
	uint64_t until = clock_mono_ns() + WAIT_NS;
	auto_fd fd = open_to(server, SOCK_DGRAM);

	if (fd < 0)
		return fd;
	if (send(fd, query, query_len, MSG_NOSIGNAL) != (ssize_t)query_len)
		return -ERR_GONE;
	for (;;) {
		int err = wait_for(u, fd, POLLIN, until);
		ssize_t n;

		if (err != 0)
			return err;
		n = recv(fd, out, cap, 0);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -ERR_GONE; /* nobody listens there */
		/* What does not answer this very question is not looked at. */
		if (n > 0 && dns_read_answer(out, (size_t)n, q, answer) == 0)
			return n;
	}
}

/* ---- TCP -------------------------------------------------------------- */

static int write_all(const struct upstream *u, int fd, const uint8_t *bytes, size_t len,
                     uint64_t until)
{
	while (len > 0) {
		int err = wait_for(u, fd, POLLOUT, until);
		ssize_t n;

		if (err != 0)
			return err;
		n = send(fd, bytes, len, MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -ERR_GONE;
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static int read_all(const struct upstream *u, int fd, uint8_t *bytes, size_t len, uint64_t until)
{
	while (len > 0) {
		int err = wait_for(u, fd, POLLIN, until);
		ssize_t n;

		if (err != 0)
			return err;
		n = recv(fd, bytes, len, 0);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return -ERR_GONE;
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static ssize_t ask_tcp(const struct upstream *u, const struct facts_addr *server,
                       const struct dns_query *q, const uint8_t *query, size_t query_len,
                       uint8_t *out, size_t cap, struct dns_answer *answer)
{
	uint64_t until = clock_mono_ns() + WAIT_NS;
	uint8_t head[2] = {(uint8_t)(query_len >> 8), (uint8_t)query_len};
	auto_fd fd = open_to(server, SOCK_STREAM);
	size_t len;
	int err;

	if (fd < 0)
		return fd;
	err = write_all(u, fd, head, sizeof head, until);
	if (err == 0)
		err = write_all(u, fd, query, query_len, until);
	if (err == 0)
		err = read_all(u, fd, head, sizeof head, until);
	if (err != 0)
		return err;
	len = (size_t)head[0] << 8 | head[1];
	if (len > cap)
		return -ERR_GONE;
	err = read_all(u, fd, out, len, until);
	if (err != 0)
		return err;
	return dns_read_answer(out, len, q, answer) == 0 ? (ssize_t)len : -ERR_GONE;
}

/* ---- asking ----------------------------------------------------------- */

static ssize_t ask_one(const struct upstream *u, const struct facts_addr *server,
                       const struct dns_query *asked, uint8_t *out, size_t cap,
                       struct dns_answer *answer)
{
	struct dns_query q = *asked;
	uint8_t query[QUERY_MAX];
	size_t len;
	ssize_t n;

	/* A number and a port that nobody else can guess. */
	if (getrandom(&q.id, sizeof q.id, 0) != (ssize_t)sizeof q.id)
		return -ERR_GONE;
	q.class = 1;
	len = dns_write_query(q.id, q.name, q.type, query, sizeof query);
	if (len == 0)
		return -ERR_GONE;
	n = ask_udp(u, server, &q, query, len, out, cap, answer);
	if (n > 0 && answer->truncated)
		n = ask_tcp(u, server, &q, query, len, out, cap, answer);
	return n;
}

ssize_t upstream_ask(const struct upstream *u, const struct dns_query *q, uint8_t *out,
                     size_t cap_bytes, struct dns_answer *answer)
{
	ssize_t n = -ERR_GONE;

	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < u->servers_n; i++) {
			n = ask_one(u, &u->servers[i], q, out, cap_bytes, answer);
			if (n == -ERR_CANCELLED || n == -ERR_NOFD)
				return n;
			/* A server that fails or refuses is not the last word. */
			if (n > 0 && answer->code != DNS_FAILED && answer->code != DNS_REFUSED)
				return n;
		}
	}
	return n;
}
