/* net/own and net/diag: a listener counts as the session's own while it lives,
 * and never when another process' socket could take the connection. */
#include "net/addr.h"
#include "net/diag.h"
#include "net/own.h"
#include "tests/unit/tap.h"

#include "base/own.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static int inet_socket(int type, const char *ip, uint16_t port, struct facts_addr *out)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
	socklen_t len = sizeof in;
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	int one = 1;

	inet_pton(AF_INET, ip, &in.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
	if (bind(fd, (struct sockaddr *)&in, sizeof in) != 0)
		return -1;
	getsockname(fd, (struct sockaddr *)&in, &len);
	if (type == SOCK_STREAM && listen(fd, 4) != 0)
		return -1;
	memset(out, 0, sizeof *out);
	out->family = ADDR_INET;
	out->proto = type == SOCK_STREAM ? PROTO_TCP : PROTO_UDP;
	memcpy(out->ip, "\x7f\0\0\1", 4);
	out->port = ntohs(in.sin_port);
	return fd;
}

static void internet(struct listeners *l, int type, const char *what)
{
	struct facts_addr to;
	struct facts_addr same;
	int fd = inet_socket(type, "0.0.0.0", 0, &to);
	int other;

	tap_ok(fd >= 0 && own_inet(l, &to) != OWN_SELF, "%s: not noted, not own", what);
	own_add(l, fd);
	tap_ok(own_inet(l, &to) == OWN_SELF, "%s: noted, own", what);
	to.ip[3] = 9;
	tap_ok(own_inet(l, &to) == OWN_SELF, "%s: a wildcard takes any address of this host", what);
	to.ip[3] = 1;
	other = inet_socket(type, "127.0.0.1", to.port, &same);
	tap_ok(other >= 0 && own_inet(l, &to) != OWN_SELF, "%s: another one on that port: not own",
	       what);
	close(other);
	tap_ok(own_inet(l, &to) == OWN_SELF, "%s: it left: own again", what);
	close(fd);
	tap_is_int(own_inet(l, &to), OWN_NOBODY, "%s: closed, no longer own", what);
	other = inet_socket(type, "127.0.0.1", to.port, &same);
	tap_ok(other >= 0 && own_inet(l, &to) == OWN_OTHER,
	       "%s: a port that another took is not own", what);
	close(other);
}

static void exact_address(struct listeners *l)
{
	struct facts_addr to;
	int fd = inet_socket(SOCK_STREAM, "127.0.0.1", 0, &to);

	own_add(l, fd);
	tap_ok(own_inet(l, &to) == OWN_SELF, "bound to one address: own there");
	to.ip[3] = 2;
	tap_ok(own_inet(l, &to) != OWN_SELF, "not at another");
	to.ip[3] = 1;
	to.proto = PROTO_UDP;
	tap_ok(own_inet(l, &to) != OWN_SELF, "not for another protocol");
	close(fd);
}

static void v6(struct listeners *l)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	socklen_t len = sizeof in6;
	struct facts_addr to = {.family = ADDR_INET, .proto = PROTO_TCP, .ip = {127, 0, 0, 1}};
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int one = 1;

	if (fd < 0 || bind(fd, (struct sockaddr *)&in6, len) != 0 || listen(fd, 1) != 0) {
		tap_skip("no IPv6 here");
		return;
	}
	getsockname(fd, (struct sockaddr *)&in6, &len);
	to.port = ntohs(in6.sin6_port);
	own_add(l, fd);
	tap_ok(own_inet(l, &to) == OWN_SELF, "a dual-stack listener takes IPv4");
	close(fd);
	fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
	if (bind(fd, (struct sockaddr *)&in6, len) != 0 || listen(fd, 1) != 0) {
		tap_skip("the port is taken");
		return;
	}
	own_add(l, fd);
	tap_ok(own_inet(l, &to) != OWN_SELF, "one for IPv6 only does not");
	to = (struct facts_addr){.family = ADDR_INET6, .proto = PROTO_TCP, .port = to.port};
	to.ip[15] = 1;
	tap_ok(own_inet(l, &to) == OWN_SELF, "but is own by IPv6");
	close(fd);
}

static void unix_sockets(struct listeners *l)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	struct stat st;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(un.sun_path, sizeof un.sun_path, "net_own.%d.sock", (int)getpid());
	if (bind(fd, (struct sockaddr *)&un, sizeof un) != 0 || stat(un.sun_path, &st) != 0) {
		tap_ok(false, "cannot bind %s", un.sun_path);
		return;
	}
	tap_ok(!own_file(l, st.st_dev, st.st_ino), "a file that was not noted is not own");
	own_add_file(l, fd, st.st_dev, st.st_ino);
	tap_ok(own_file(l, st.st_dev, st.st_ino), "noted, own");
	tap_ok(!own_file(l, st.st_dev, st.st_ino + 1), "another inode is not");
	own_add_name(l, fd, "some name");
	tap_ok(own_name(l, "some name") && !own_name(l, "some nam"), "names likewise");
	close(fd);
	tap_ok(!own_file(l, st.st_dev, st.st_ino), "its socket is closed: not own");
	tap_ok(!own_name(l, "some name"), "the name neither");
	unlink(un.sun_path);
}

static void bounded(struct listeners *l)
{
	struct facts_addr to;
	int fd = inet_socket(SOCK_STREAM, "127.0.0.1", 0, &to);
	int filler = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	own_add(l, fd);
	for (unsigned i = 1; i < 16384; i++)
		own_add_file(l, filler, 1, 1000000 + i);
	tap_ok(own_inet(l, &to) == OWN_SELF, "the table holds so many");
	own_add_file(l, filler, 1, 1);
	tap_ok(own_inet(l, &to) != OWN_SELF, "and then forgets the oldest, which is then not own");
	own_add(l, fd);
	tap_ok(own_inet(l, &to) == OWN_SELF, "until it is noted again");
	close(filler);
	close(fd);
}

int main(void)
{
	struct listeners *l = NULL;
	int fd = diag_open();

	if (fd < 0) {
		tap_skip("no NETLINK_SOCK_DIAG here");
		return tap_done();
	}
	close(fd);
	tap_is_int(own_new(&l), 0, "a table");
	internet(l, SOCK_STREAM, "TCP");
	internet(l, SOCK_DGRAM, "UDP");
	exact_address(l);
	v6(l);
	unix_sockets(l);
	bounded(l);
	own_free(l);
	return tap_done();
}
