/* net/addr: every spelling of an address is judged as the address it reaches,
 * and lengths and families are taken as the kernel takes them. */
#include "net/addr.h"
#include "tests/unit/tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

static void put_v4(struct addr *a, const char *ip, uint16_t port)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&a->sa;

	memset(a, 0, sizeof *a);
	in->sin_family = AF_INET;
	in->sin_port = htons(port);
	inet_pton(AF_INET, ip, &in->sin_addr);
	a->len_bytes = sizeof *in;
}

static void put_v6(struct addr *a, const char *ip, uint16_t port)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&a->sa;

	memset(a, 0, sizeof *a);
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(port);
	inet_pton(AF_INET6, ip, &in6->sin6_addr);
	a->len_bytes = sizeof *in6;
}

static void put_unix(struct addr *a, const char *name, size_t len)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&a->sa;

	memset(a, 0, sizeof *a);
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, name, len);
	a->len_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

static void is_text(const struct addr *a, const char *want, const char *what)
{
	struct buf b = BUF_INIT;

	addr_text(&b, &a->facts);
	tap_is_str(buf_text(&b), want, "%s", what);
	buf_free(&b);
}

static void spellings(void)
{
	static const struct {
		const char *written, *judged;
	} rows[] = {
		{"::ffff:127.0.0.1", "127.0.0.1:80"},
		{"::ffff:0.0.0.0", "127.0.0.1:80"},
		{"::127.0.0.1", "127.0.0.1:80"},
		{"64:ff9b::169.254.169.254", "169.254.169.254:80"},
		{"::", "[::1]:80"},
		{"::1", "[::1]:80"},
		{"2001:db8::1", "[2001:db8::1]:80"},
		{"64:ff9b:1::1.2.3.4", "[64:ff9b:1::102:304]:80"},
		{"fe80::1", "[fe80::1]:80"},
	};
	struct addr a;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		put_v6(&a, rows[i].written, 80);
		tap_is_int(addr_read(&a, AF_INET6, SOCK_STREAM, 0, ADDR_FOR_CONNECT), 0,
		           "%s is an address", rows[i].written);
		is_text(&a, rows[i].judged, rows[i].written);
	}
	put_v4(&a, "0.0.0.0", 8080);
	tap_is_int(addr_read(&a, AF_INET, SOCK_STREAM, 0, ADDR_FOR_CONNECT), 0, "0.0.0.0");
	is_text(&a, "127.0.0.1:8080", "0.0.0.0 as a destination is this host");
	tap_ok(((struct sockaddr_in *)&a.sa)->sin_addr.s_addr == htonl(INADDR_LOOPBACK),
	       "and the kernel is given what was judged");
	put_v4(&a, "0.0.0.0", 8080);
	tap_is_int(addr_read(&a, AF_INET, SOCK_STREAM, 0, ADDR_FOR_BIND), 0, "bind 0.0.0.0");
	is_text(&a, "0.0.0.0:8080", "0.0.0.0 to bind is every interface");
	tap_ok(addr_is_any(&a.facts) && !addr_is_loopback(&a.facts), "not loopback");
}

static void bound_first(void)
{
	struct addr a;
	struct addr from;

	put_v4(&a, "0.0.0.0", 80);
	tap_is_int(addr_read(&a, AF_INET, SOCK_STREAM, 0, ADDR_FOR_CONNECT), 0, "any");
	put_v4(&from, "10.1.2.3", 0);
	addr_local_any(&a, &from.sa, from.len_bytes);
	is_text(&a, "10.1.2.3:80", "0.0.0.0 from a bound socket leads to its own address");
	put_v6(&a, "::", 80);
	tap_is_int(addr_read(&a, AF_INET6, SOCK_STREAM, 0, ADDR_FOR_CONNECT), 0, "any6");
	put_v6(&from, "::ffff:10.1.2.3", 0);
	addr_local_any(&a, &from.sa, from.len_bytes);
	is_text(&a, "127.0.0.1:80", ":: from a mapped socket leads to IPv4 loopback");
	put_v4(&a, "1.2.3.4", 80);
	tap_is_int(addr_read(&a, AF_INET, SOCK_STREAM, 0, ADDR_FOR_CONNECT), 0, "some");
	put_v4(&from, "10.1.2.3", 0);
	addr_local_any(&a, &from.sa, from.len_bytes);
	is_text(&a, "1.2.3.4:80", "another destination stays");
}

static void unspec(void)
{
	struct addr a;

	put_v4(&a, "9.9.9.9", 53);
	a.sa.ss_family = AF_UNSPEC;
	tap_is_int(addr_read(&a, AF_INET, SOCK_DGRAM, 0, ADDR_FOR_CONNECT), 0, "connect");
	tap_is_int(a.kind, ADDR_IS_NONE, "connect to AF_UNSPEC dissolves");
	put_v4(&a, "9.9.9.9", 53);
	a.sa.ss_family = AF_UNSPEC;
	tap_is_int(addr_read(&a, AF_INET, SOCK_DGRAM, 0, ADDR_FOR_SEND), 0, "send");
	is_text(&a, "9.9.9.9:53", "sendto AF_UNSPEC on an IPv4 socket is IPv4");
	tap_is_int(a.sa.ss_family, AF_INET, "and is so given to the kernel");
	put_v6(&a, "2001:db8::9", 53);
	a.sa.ss_family = AF_UNSPEC;
	tap_is_int(addr_read(&a, AF_INET6, SOCK_DGRAM, 0, ADDR_FOR_SEND), 0, "send6");
	tap_is_int(a.kind, ADDR_IS_NONE, "sendto AF_UNSPEC on IPv6 has no destination");
	put_v4(&a, "0.0.0.0", 53);
	a.sa.ss_family = AF_UNSPEC;
	tap_is_int(addr_read(&a, AF_INET, SOCK_DGRAM, 0, ADDR_FOR_BIND), 0, "bind as BSD did");
	is_text(&a, "0.0.0.0:53", "is every interface");
	put_v4(&a, "1.2.3.4", 53);
	a.sa.ss_family = AF_UNSPEC;
	tap_is_int(addr_read(&a, AF_INET, SOCK_DGRAM, 0, ADDR_FOR_BIND), -EAFNOSUPPORT,
	           "but no other");
}

static void lengths(void)
{
	struct addr a;

	put_v4(&a, "1.2.3.4", 80);
	a.len_bytes = 15;
	tap_is_int(addr_read(&a, AF_INET, SOCK_STREAM, 0, ADDR_FOR_CONNECT), -EINVAL, "short v4");
	put_v6(&a, "2001:db8::1", 80);
	a.len_bytes = 23;
	tap_is_int(addr_read(&a, AF_INET6, SOCK_STREAM, 0, ADDR_FOR_CONNECT), -EINVAL, "short v6");
	put_v6(&a, "2001:db8::1", 80);
	a.len_bytes = 24;
	tap_is_int(addr_read(&a, AF_INET6, SOCK_STREAM, 0, ADDR_FOR_CONNECT), 0, "v6, no scope");
	put_v4(&a, "1.2.3.4", 80);
	a.len_bytes = 1;
	tap_is_int(addr_read(&a, AF_INET, SOCK_STREAM, 0, ADDR_FOR_CONNECT), -EINVAL, "1 byte");
	put_v6(&a, "::1", 80);
	tap_is_int(addr_read(&a, AF_INET, SOCK_STREAM, 0, ADDR_FOR_CONNECT), -EAFNOSUPPORT,
	           "IPv6 on an IPv4 socket");
	put_v4(&a, "1.2.3.4", 80);
	tap_is_int(addr_read(&a, AF_INET6, SOCK_STREAM, 0, ADDR_FOR_CONNECT), -EINVAL,
	           "short IPv4 on an IPv6 stream");
	put_v4(&a, "1.2.3.4", 80);
	tap_is_int(addr_read(&a, AF_INET6, SOCK_DGRAM, 0, ADDR_FOR_CONNECT), 0, "datagram");
	is_text(&a, "1.2.3.4:80", "an IPv6 datagram socket takes IPv4");
	tap_is_int(a.facts.proto, PROTO_UDP, "as UDP");
}

static void unix_names(void)
{
	char longest[ADDR_UNIX_MAX];
	struct addr a;

	put_unix(&a, "/tmp/s\0junk", 11);
	tap_is_int(addr_read(&a, AF_UNIX, SOCK_STREAM, 0, ADDR_FOR_CONNECT), 0, "path");
	tap_is_int(a.kind, ADDR_IS_PATH, "a path");
	tap_is_str(a.name, "/tmp/s", "up to its NUL");
	memset(longest, 'x', sizeof longest);
	put_unix(&a, longest, sizeof longest);
	tap_is_int(addr_read(&a, AF_UNIX, SOCK_STREAM, 0, ADDR_FOR_CONNECT), 0, "longest");
	tap_is_int((long long)strlen(a.name), ADDR_UNIX_MAX, "108 bytes without NUL");
	put_unix(&a, "\0name", 5);
	tap_is_int(addr_read(&a, AF_UNIX, SOCK_STREAM, 0, ADDR_FOR_CONNECT), 0, "abstract");
	is_text(&a, "unix:@name", "abstract");
	put_unix(&a, "\0na\0me\0", 7);
	tap_is_int(addr_read(&a, AF_UNIX, SOCK_STREAM, 0, ADDR_FOR_CONNECT), 0, "with NULs");
	is_text(&a, "unix:@na\\x00me\\x00", "NULs tell names apart");
	put_unix(&a, "", 0);
	tap_is_int(addr_read(&a, AF_UNIX, SOCK_STREAM, 0, ADDR_FOR_CONNECT), -EINVAL, "empty");
	put_unix(&a, "", 0);
	tap_is_int(addr_read(&a, AF_UNIX, SOCK_STREAM, 0, ADDR_FOR_BIND), 0, "empty to bind");
	tap_is_int(a.kind, ADDR_IS_AUTOBIND, "the kernel chooses");
	put_unix(&a, "/s", 2);
	a.len_bytes = sizeof(struct sockaddr_un) + 1;
	tap_is_int(addr_read(&a, AF_UNIX, SOCK_STREAM, 0, ADDR_FOR_CONNECT), -EINVAL, "too long");
	put_unix(&a, "/s", 2);
	a.sa.ss_family = AF_UNSPEC;
	tap_is_int(addr_read(&a, AF_UNIX, SOCK_DGRAM, 0, ADDR_FOR_CONNECT), 0, "dissolve");
	tap_is_int(a.kind, ADDR_IS_NONE, "a datagram socket");
	tap_is_int(addr_read(&a, AF_UNIX, SOCK_STREAM, 0, ADDR_FOR_CONNECT), -EINVAL, "no stream");
}

static void others(void)
{
	struct addr a = {0};
	struct sockaddr_nl *nl = (struct sockaddr_nl *)&a.sa;

	nl->nl_family = AF_NETLINK;
	a.len_bytes = sizeof *nl;
	tap_is_int(addr_read(&a, AF_NETLINK, SOCK_RAW, 0, ADDR_FOR_SEND), 0, "netlink");
	tap_is_int(a.kind, ADDR_IS_KERNEL, "to the kernel");
	nl->nl_pid = 4711;
	tap_is_int(addr_read(&a, AF_NETLINK, SOCK_RAW, 0, ADDR_FOR_SEND), 0, "netlink");
	tap_is_int(a.kind, ADDR_IS_OTHER, "to another process");
	tap_is_int(addr_read(&a, 40, SOCK_STREAM, 0, ADDR_FOR_CONNECT), 0, "vsock");
	is_text(&a, "family 40", "another family is named by the socket's");
}

static void ranges(void)
{
	static const char *const inside[] = {
		"127.9.9.9",       "10.0.0.1",        "172.31.0.1", "192.168.1.1",
		"169.254.169.254", "100.64.0.1",      "::1",        "fd00::1",
		"fe80::1",         "::ffff:10.0.0.1", "0.0.0.0",    "ff02::1"};
	static const char *const outside[] = {"8.8.8.8", "172.32.0.1", "100.128.0.1",
	                                      "2001:4860::1"};
	struct facts_addr f;

	for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++)
		tap_ok(addr_parse_ip(inside[i], &f) == 0 && addr_is_private(&f), "%s", inside[i]);
	for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++)
		tap_ok(addr_parse_ip(outside[i], &f) == 0 && !addr_is_private(&f), "%s",
		       outside[i]);
	tap_is_int(addr_parse_ip("1.2.3", &f), -ERR_FORMAT, "no address");
	tap_is_int(addr_parse_ip("fe80::1%lo", &f), -ERR_FORMAT, "no scope");
}

int main(void)
{
	spellings();
	bound_first();
	unspec();
	lengths();
	unix_names();
	others();
	ranges();
	return tap_done();
}
