/* Internet sockets on loopback, and netlink: prints what each call gives, so
 * that a native and a supervised run can be compared line by line. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

static void say(const char *what, long n)
{
	printf("%-40s %s\n", what, n < 0 ? strerrorname_np(errno) : n == 0 ? "0" : "n");
}

static void say_number(const char *what, long n)
{
	if (n < 0)
		say(what, n);
	else
		printf("%-40s %ld\n", what, n);
}

static struct sockaddr_in at(const char *ip, unsigned port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	inet_pton(AF_INET, ip, &in.sin_addr);
	return in;
}

static unsigned port_of(int fd)
{
	struct sockaddr_in in = {0};
	socklen_t len = sizeof in;

	getsockname(fd, (struct sockaddr *)&in, &len);
	return ntohs(in.sin_port);
}

static int connect_to(int fd, const char *ip, unsigned port)
{
	struct sockaddr_in in = at(ip, port);

	return connect(fd, (struct sockaddr *)&in, sizeof in);
}

static int made(int type)
{
	return socket(AF_INET, type | SOCK_CLOEXEC, 0);
}

static int listener(unsigned *port)
{
	struct sockaddr_in in = at("127.0.0.1", 0);
	int fd = made(SOCK_STREAM);

	say("bind", bind(fd, (struct sockaddr *)&in, sizeof in));
	say("listen", listen(fd, 8));
	*port = port_of(fd);
	return fd;
}

/* ---- TCP -------------------------------------------------------------- */

static void tcp_connect(void)
{
	struct sockaddr none = {.sa_family = AF_UNSPEC};
	struct sockaddr_in in;
	socklen_t len = sizeof in;
	struct pollfd p;
	unsigned port;
	int server = listener(&port);
	int fd = made(SOCK_STREAM);
	int error = 1;

	say("connect", connect_to(fd, "127.0.0.1", port));
	say("connect again", connect_to(fd, "127.0.0.1", port));
	say("getpeername", getpeername(fd, (struct sockaddr *)&in, &len));
	printf("%-40s %d\n", "is the one", ntohs(in.sin_port) == port);
	say("dissolve", connect(fd, &none, sizeof none));
	say("and connect", connect_to(fd, "0.0.0.0", port));
	close(fd);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	in = at("127.0.0.1", 0);
	say("bind first", bind(fd, (struct sockaddr *)&in, sizeof in));
	error = connect_to(fd, "127.0.0.1", port) == 0 || errno == EINPROGRESS;
	printf("%-40s %d\n", "non-blocking connect", error);
	p = (struct pollfd){.fd = fd, .events = POLLOUT};
	printf("%-40s %d\n", "writable", poll(&p, 1, 20000));
	len = sizeof error;
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	printf("%-40s %d\n", "SO_ERROR", error);
	close(fd);
	close(server);
	fd = made(SOCK_STREAM);
	say("connect, it has gone", connect_to(fd, "127.0.0.1", port));
	say("connect after that", connect_to(fd, "127.0.0.1", port));
	close(fd);
}

static void tcp_errors(void)
{
	struct sockaddr_in in = at("127.0.0.1", 9);
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	unsigned port;
	int server = listener(&port);
	int fd = made(SOCK_STREAM);

	say("connect, short", connect(fd, (struct sockaddr *)&in, 8));
	say("connect, 1 byte", connect(fd, (struct sockaddr *)&in, 1));
	say("connect, length -1", connect(fd, (struct sockaddr *)&in, (socklen_t)-1));
	say("connect, IPv6", connect(fd, (struct sockaddr *)&in6, sizeof in6));
	say("connect, bad pointer", connect(fd, (struct sockaddr *)16, sizeof in));
	say("connect, no descriptor", connect(-1, (struct sockaddr *)&in, sizeof in));
	say("connect, no socket", connect(0, (struct sockaddr *)&in, sizeof in));
	in = at("127.0.0.1", port);
	say("bind, in use", bind(fd, (struct sockaddr *)&in, sizeof in));
	in = at("203.0.113.9", 0);
	say("bind, not ours", bind(fd, (struct sockaddr *)&in, sizeof in));
	in = at("127.0.0.1", 0);
	say("bind, short", bind(fd, (struct sockaddr *)&in, 8));
	in.sin_family = AF_UNSPEC;
	say("bind, no family", bind(fd, (struct sockaddr *)&in, sizeof in));
	in6.sin6_family = AF_INET6;
	say("bind, IPv6", bind(fd, (struct sockaddr *)&in6, sizeof in6));
	say("listen, no socket", listen(0, 1));
	say("listen, no descriptor", listen(-1, 1));
	close(fd);
	fd = made(SOCK_DGRAM);
	say("listen, datagrams", listen(fd, 1));
	close(fd);
	fd = made(SOCK_STREAM);
	in = at("0.0.0.0", 0);
	say("listen without bind", listen(fd, 1));
	printf("%-40s %d\n", "has a port", port_of(fd) != 0);
	close(fd);
	close(server);
}

struct reading {
	int fd;
	size_t bytes;
	unsigned long sum;
};

static void *read_all(void *arg)
{
	struct reading *r = arg;
	static unsigned char b[65536];
	ssize_t n;

	while ((n = read(r->fd, b, sizeof b)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			r->sum = r->sum * 31 + b[i];
		r->bytes += (size_t)n;
	}
	return NULL;
}

/* Many pieces, more bytes than any one copy takes: all of them, in order. */
static void tcp_large(void)
{
	size_t size = (size_t)5 << 20;
	unsigned char *data = malloc(size);
	struct iovec v[100];
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 100};
	struct reading r = {0};
	unsigned long sum = 0;
	unsigned port;
	int server = listener(&port);
	int fd = made(SOCK_STREAM);
	pthread_t t;

	for (size_t i = 0; i < size; i++) {
		data[i] = (unsigned char)(i * 2654435761u >> 13);
		sum = sum * 31 + data[i];
	}
	for (int i = 0; i < 100; i++)
		v[i] = (struct iovec){data + (size_t)i * (size / 100), size / 100};
	v[99].iov_len = size - 99 * (size / 100);
	connect_to(fd, "127.0.0.1", port);
	r.fd = accept(server, NULL, NULL);
	pthread_create(&t, NULL, read_all, &r);
	say_number("a large sendmsg", sendmsg(fd, &m, 0));
	close(fd);
	pthread_join(t, NULL);
	printf("%-40s %zu %d\n", "arrives whole", r.bytes, r.sum == sum);
	close(r.fd);
	close(server);
	free(data);
}

static volatile sig_atomic_t pipes;

static void on_pipe(int s)
{
	(void)s;
	pipes = pipes + 1;
}

static void tcp_broken(void)
{
	struct iovec v = {.iov_base = "x", .iov_len = 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	struct sigaction sa = {.sa_handler = on_pipe};
	unsigned port;
	int server = listener(&port);
	int fd = made(SOCK_STREAM);

	sigaction(SIGPIPE, &sa, NULL);
	say_number("sendmsg, not connected", sendmsg(fd, &m, 0));
	printf("%-40s %d\n", "SIGPIPE", pipes);
	connect_to(fd, "127.0.0.1", port);
	shutdown(fd, SHUT_WR);
	say_number("sendmsg after shutdown", sendmsg(fd, &m, 0));
	printf("%-40s %d\n", "SIGPIPE", pipes);
	say_number("sendmsg, MSG_NOSIGNAL", sendmsg(fd, &m, MSG_NOSIGNAL));
	printf("%-40s %d\n", "SIGPIPE", pipes);
	close(fd);
	close(server);
}

static void tcp_waiting(void)
{
	static char data[1 << 20];
	struct iovec v = {.iov_base = data, .iov_len = sizeof data};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	struct timeval wait = {.tv_usec = 200000};
	unsigned port;
	int server = listener(&port);
	int fd = made(SOCK_STREAM);
	long n = 0;

	connect_to(fd, "127.0.0.1", port);
	for (int i = 0; i < 1000 && n >= 0; i++)
		n = sendmsg(fd, &m, MSG_DONTWAIT);
	say("MSG_DONTWAIT when it is full", n);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
	/* What is on its way may still make room once more. */
	n = 0;
	for (int i = 0; i < 1000 && n >= 0; i++)
		n = sendmsg(fd, &m, 0);
	say("SO_SNDTIMEO when it is full", n);
	close(fd);
	close(server);
}

/* ---- UDP -------------------------------------------------------------- */

static void udp(void)
{
	static char big[70000];
	struct sockaddr_in to = at("127.0.0.1", 0);
	struct sockaddr_in from;
	struct sockaddr none = {.sa_family = AF_UNSPEC};
	socklen_t len = sizeof from;
	int server = made(SOCK_DGRAM);
	int fd = made(SOCK_DGRAM);
	char b[16];

	say("bind", bind(server, (struct sockaddr *)&to, sizeof to));
	to.sin_port = htons((uint16_t)port_of(server));
	say_number("sendto", sendto(fd, "a", 1, 0, (struct sockaddr *)&to, sizeof to));
	say_number("recvfrom", recvfrom(server, b, sizeof b, 0, (struct sockaddr *)&from, &len));
	printf("%-40s %d\n", "from the sender", ntohs(from.sin_port) == port_of(fd));
	say_number("answer", sendto(server, "bc", 2, 0, (struct sockaddr *)&from, len));
	say_number("it arrives", recv(fd, b, sizeof b, 0));
	to.sin_family = AF_UNSPEC;
	say_number("sendto, no family", sendto(fd, "abc", 3, 0, (struct sockaddr *)&to, sizeof to));
	say_number("recv", recv(server, b, sizeof b, 0));
	to.sin_family = AF_INET6;
	say_number("sendto, another family",
	           sendto(fd, "a", 1, 0, (struct sockaddr *)&to, sizeof to));
	to.sin_family = AF_INET;
	say_number("sendto, short", sendto(fd, "a", 1, 0, (struct sockaddr *)&to, 8));
	say_number("sendto, too large",
	           sendto(fd, big, sizeof big, 0, (struct sockaddr *)&to, sizeof to));
	say_number("sendto, bad data",
	           sendto(fd, (void *)16, 10, 0, (struct sockaddr *)&to, sizeof to));
	say("connect", connect(fd, (struct sockaddr *)&to, sizeof to));
	say_number("send", send(fd, "abcd", 4, 0));
	say_number("recv", recv(server, b, sizeof b, 0));
	say("dissolve", connect(fd, &none, sizeof none));
	say_number("send", send(fd, "a", 1, 0));
	to.sin_port = 0;
	say_number("sendto port 0", sendto(fd, "a", 1, 0, (struct sockaddr *)&to, sizeof to));
	close(fd);
	close(server);
}

static void v6(void)
{
	struct sockaddr_in6 to = {.sin6_family = AF_INET6};
	struct sockaddr_in to4;
	int server = made(SOCK_DGRAM);
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	unsigned port;
	int stream;
	char b[8];

	if (fd < 0) {
		printf("no IPv6\n");
		return;
	}
	to4 = at("127.0.0.1", 0);
	bind(server, (struct sockaddr *)&to4, sizeof to4);
	to4.sin_port = htons((uint16_t)port_of(server));
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &to.sin6_addr);
	to.sin6_port = to4.sin_port;
	say_number("sendto mapped", sendto(fd, "a", 1, 0, (struct sockaddr *)&to, sizeof to));
	say_number("recv", recv(server, b, sizeof b, 0));
	say_number("sendto IPv4 from IPv6",
	           sendto(fd, "ab", 2, 0, (struct sockaddr *)&to4, sizeof to4));
	say_number("recv", recv(server, b, sizeof b, 0));
	close(server);
	server = listener(&port);
	stream = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	to.sin6_port = htons((uint16_t)port);
	say("connect mapped", connect(stream, (struct sockaddr *)&to, sizeof to));
	close(stream);
	close(server);
	close(fd);
}

/* ---- netlink ---------------------------------------------------------- */

static void netlink(void)
{
	struct {
		struct nlmsghdr h;
		struct rtgenmsg g;
	} q = {.h = {.nlmsg_len = NLMSG_LENGTH(sizeof q.g),
	             .nlmsg_type = RTM_GETLINK,
	             .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
	       .g = {.rtgen_family = AF_UNSPEC}};
	struct sockaddr_nl nl = {.nl_family = AF_NETLINK};
	struct iovec v = {.iov_base = &q, .iov_len = q.h.nlmsg_len};
	struct msghdr m = {
		.msg_name = &nl, .msg_namelen = sizeof nl, .msg_iov = &v, .msg_iovlen = 1};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	static char b[65536];

	say("netlink bind", bind(fd, (struct sockaddr *)&nl, sizeof nl));
	say_number("netlink sendto",
	           sendto(fd, &q, q.h.nlmsg_len, 0, (struct sockaddr *)&nl, sizeof nl));
	say("netlink recv", recv(fd, b, sizeof b, 0) > 0 ? 0 : -1);
	close(fd);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	say_number("netlink sendmsg", sendmsg(fd, &m, 0));
	say("netlink recv", recv(fd, b, sizeof b, 0) > 0 ? 0 : -1);
	close(fd);
}

/* What no kernel has: what wary does not let through looks the same. */
static void protocols(void)
{
	int pair[2];

	say("a protocol that there is not", socket(AF_INET, SOCK_STREAM, 250));
	say("netlink that there is not", socket(AF_NETLINK, SOCK_RAW, 31));
	say("a pair of TCP", socketpair(AF_INET, SOCK_STREAM, 0, pair));
	say("a pair of UDP", socketpair(AF_INET6, SOCK_DGRAM, IPPROTO_UDP, pair));
	say("a pair of UDP as a stream", socketpair(AF_INET, SOCK_STREAM, IPPROTO_UDP, pair));
	say("a pair of no type", socketpair(AF_INET, 11, 0, pair));
	say("a pair of netlink", socketpair(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, pair));
	say("a pair of no family", socketpair(AF_UNSPEC, SOCK_STREAM, 0, pair));
	say("a pair of a family below 0", socketpair(-1, SOCK_STREAM, 0, pair));
	say("a pair to no address", socketpair(AF_UNIX, SOCK_STREAM, 0, NULL));
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	tcp_connect();
	tcp_errors();
	tcp_large();
	tcp_broken();
	tcp_waiting();
	udp();
	v6();
	netlink();
	protocols();
	return 0;
}
