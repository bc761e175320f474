/* A hostile caller: one thread changes what another's socket call is about,
 * between something allowed and something denied, while it is decided.
 *
 *   net_flip MODE ROUNDS PORT_YES PORT_NO FOLDER
 *
 * FOLDER has yes/ and no/, with s.sock in each.  Prints how many calls gave 0 or
 * more.  What got through is seen by who listens outside. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static _Atomic bool over;
static uint16_t port_yes, port_no;
static struct sockaddr_in yes, no;
static volatile struct sockaddr_in flipped;
static int fds[2];
static int fd_number = 200;
static struct sockaddr_un unix_flipped;
static struct mmsghdr batch[2];
/* As the kernel lays it out; struct cmsghdr ends in an array of its own. */
static struct {
	struct {
		size_t cmsg_len;
		int cmsg_level, cmsg_type;
	} head;
	unsigned char data[8];
} control;

static struct sockaddr_in at(uint16_t port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return in;
}

static int made(int domain, int type)
{
	return socket(domain, type | SOCK_CLOEXEC, 0);
}

/* ---- what flips ------------------------------------------------------- */

static void flip_port(bool denied)
{
	flipped.sin_port = htons(denied ? port_no : port_yes);
}

static void flip_fd(bool denied)
{
	dup2(fds[denied ? 0 : 1], fd_number);
}

static void flip_link(bool denied)
{
	if (symlink(denied ? "no" : "yes", "link.new") == 0)
		rename("link.new", "link");
}

static void flip_path(bool denied)
{
	volatile char *to = unix_flipped.sun_path;
	const char *name = denied ? "no//" : "yes/";

	for (int i = 0; i < 4; i++)
		to[i] = name[i];
}

static void flip_head(bool denied)
{
	*(void *volatile *)&batch[0].msg_hdr.msg_name = denied ? &no : &yes;
}

static void flip_second(bool denied)
{
	*(void *volatile *)&batch[1].msg_hdr.msg_name = denied ? &no : &yes;
}

static void flip_control(bool denied)
{
	*(volatile int *)&control.head.cmsg_type = denied ? IP_RETOPTS : IP_TOS;
}

/* ---- the calls -------------------------------------------------------- */

static long call_connect(void)
{
	int fd = made(AF_INET, SOCK_STREAM);
	long n = connect(fd, (struct sockaddr *)(uintptr_t)&flipped, sizeof flipped);

	close(fd);
	return n;
}

/* Datagrams to that port are allowed, connections are not. */
static long call_connect_fd(void)
{
	return connect(fd_number, (struct sockaddr *)&no, sizeof no);
}

static long call_connect_unix(const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = made(AF_UNIX, SOCK_STREAM);
	long n;

	memcpy(un.sun_path, path, strlen(path));
	n = connect(fd, (struct sockaddr *)&un, sizeof un);
	close(fd);
	return n;
}

static long call_connect_link(void)
{
	return call_connect_unix("link/s.sock");
}

static long call_connect_path(void)
{
	int fd = made(AF_UNIX, SOCK_STREAM);
	long n = connect(fd, (struct sockaddr *)&unix_flipped, sizeof unix_flipped);

	close(fd);
	return n;
}

static long call_sendto(void)
{
	return sendto(fds[0], "m", 1, 0, (struct sockaddr *)(uintptr_t)&flipped, sizeof flipped);
}

static long call_sendmsg(void)
{
	return sendmsg(fds[0], &batch[0].msg_hdr, 0);
}

static long call_sendmmsg(void)
{
	return sendmmsg(fds[0], batch, 2, 0);
}

/* No family: an IPv4 socket takes the address, an IPv6 one does not. */
static long call_send_fd(void)
{
	struct sockaddr_in in = no;

	in.sin_family = AF_UNSPEC;
	return sendto(fd_number, "f", 1, MSG_DONTWAIT, (struct sockaddr *)&in, sizeof in);
}

static long call_sendmsg_fd(void)
{
	struct sockaddr_in in = no;
	struct iovec v = {"f", 1};
	struct msghdr head = {
		.msg_name = &in, .msg_namelen = sizeof in, .msg_iov = &v, .msg_iovlen = 1};

	in.sin_family = AF_UNSPEC;
	return sendmsg(fd_number, &head, MSG_DONTWAIT);
}

static long call_bind(const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = made(AF_UNIX, SOCK_STREAM);
	long n;

	memcpy(un.sun_path, path, strlen(path));
	n = bind(fd, (struct sockaddr *)&un, sizeof un);
	close(fd);
	unlink("yes/new.sock");
	return n;
}

static long call_bind_link(void)
{
	return call_bind("link/new.sock");
}

/* ---- modes ------------------------------------------------------------ */

static void set_messages(void)
{
	static struct iovec v = {"m", 1};

	for (int i = 0; i < 2; i++)
		batch[i].msg_hdr = (struct msghdr){.msg_name = &yes,
		                                   .msg_namelen = sizeof yes,
		                                   .msg_iov = &v,
		                                   .msg_iovlen = 1};
	fds[0] = made(AF_INET, SOCK_DGRAM);
}

static void set_control(void)
{
	set_messages();
	control.head = (__typeof__(control.head)){
		.cmsg_len = CMSG_LEN(1), .cmsg_level = IPPROTO_IP, .cmsg_type = IP_TOS};
	control.data[0] = 1; /* as options: one that does nothing */
	batch[0].msg_hdr.msg_control = &control;
	batch[0].msg_hdr.msg_controllen = CMSG_SPACE(1);
}

static void set_connect_fds(void)
{
	fds[0] = made(AF_INET, SOCK_STREAM);
	fds[1] = made(AF_INET, SOCK_DGRAM);
}

static void set_send_fds(void)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port_yes)};

	fds[0] = made(AF_INET, SOCK_DGRAM);
	fds[1] = made(AF_INET6, SOCK_DGRAM);
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &in6.sin6_addr);
	(void)connect(fds[1], (struct sockaddr *)&in6, sizeof in6);
}

static void set_path(void)
{
	unix_flipped = (struct sockaddr_un){.sun_family = AF_UNIX, .sun_path = "yes/s.sock"};
}

static const struct mode {
	const char *name;
	void (*set)(void);
	void (*flip)(bool denied);
	long (*call)(void);
} modes[] = {
	{"connect_address", NULL, flip_port, call_connect},
	{"connect_fd", set_connect_fds, flip_fd, call_connect_fd},
	{"connect_link", NULL, flip_link, call_connect_link},
	{"connect_path", set_path, flip_path, call_connect_path},
	{"sendto_address", set_messages, flip_port, call_sendto},
	{"sendmsg_header", set_messages, flip_head, call_sendmsg},
	{"sendmmsg_second", set_messages, flip_second, call_sendmmsg},
	{"sendto_fd", set_send_fds, flip_fd, call_send_fd},
	{"sendmsg_fd", set_send_fds, flip_fd, call_sendmsg_fd},
	{"sendmsg_control", set_control, flip_control, call_sendmsg},
	{"bind_link", NULL, flip_link, call_bind_link},
};

static void *flipper(void *arg)
{
	const struct mode *m = arg;

	for (unsigned i = 0; !over; i++) {
		m->flip(i % 2);
		for (volatile int wait = 0; wait < 200; wait++)
			continue;
	}
	return NULL;
}

static int run(const struct mode *m, long rounds)
{
	pthread_t t;
	long good = 0;

	yes = at(port_yes);
	no = at(port_no);
	memcpy((void *)(uintptr_t)&flipped, &yes, sizeof yes);
	if (m->set)
		m->set();
	if (pthread_create(&t, NULL, flipper, (void *)(uintptr_t)m) != 0)
		return 1;
	for (long i = 0; i < rounds; i++)
		good += m->call() >= 0;
	over = true;
	pthread_join(t, NULL);
	printf("%ld\n", good);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 6 || chdir(argv[5]) != 0)
		return 2;
	port_yes = (uint16_t)strtol(argv[3], NULL, 10);
	port_no = (uint16_t)strtol(argv[4], NULL, 10);
	for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
		if (strcmp(modes[i].name, argv[1]) == 0)
			return run(&modes[i], strtol(argv[2], NULL, 10));
	return 2;
}
