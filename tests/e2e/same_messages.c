/* sendmsg and sendmmsg: descriptors, credentials, vectors, interrupts: prints
 * what each call gives, so that a native and a supervised run can be compared. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define FDS_MOST 253

static void say(const char *what, long n)
{
	if (n < 0)
		printf("%-40s %s\n", what, strerrorname_np(errno));
	else
		printf("%-40s %ld\n", what, n);
}

/* A message of one byte with one control message. */
struct message {
	struct msghdr head;
	struct iovec data;
	char byte;
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * 300)];
};

static void with(struct message *m, int level, int type, const void *data, size_t len)
{
	struct cmsghdr *c;

	memset(m, 0, sizeof *m);
	m->byte = 'm';
	m->data = (struct iovec){.iov_base = &m->byte, .iov_len = 1};
	m->head = (struct msghdr){.msg_iov = &m->data,
	                          .msg_iovlen = 1,
	                          .msg_control = m->control,
	                          .msg_controllen = CMSG_SPACE(len)};
	c = CMSG_FIRSTHDR(&m->head);
	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(c), data, len);
}

/* Receives a message; its descriptors, at most @most. Returns how many. */
static int take(int fd, int *fds, int most)
{
	struct message m = {.head = {0}};
	struct cmsghdr *c;
	int n = 0;

	m.data = (struct iovec){.iov_base = &m.byte, .iov_len = 1};
	m.head = (struct msghdr){.msg_iov = &m.data,
	                         .msg_iovlen = 1,
	                         .msg_control = m.control,
	                         .msg_controllen = sizeof m.control};
	if (recvmsg(fd, &m.head, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	for (c = CMSG_FIRSTHDR(&m.head); c; c = CMSG_NXTHDR(&m.head, c)) {
		int here = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (int i = 0; i < here && n < most; i++)
			memcpy(&fds[n++], CMSG_DATA(c) + (size_t)i * sizeof(int), sizeof(int));
	}
	return n;
}

static void close_all(const int *fds, int n)
{
	for (int i = 0; i < n; i++)
		close(fds[i]);
}

/* ---- descriptors ------------------------------------------------------ */

static void rights(int type, const char *what)
{
	struct message m;
	int pair[2];
	int pipes[2];
	int got[4] = {-1, -1, -1, -1};
	struct stat a;
	struct stat b;
	char text[8] = "";
	int file = open("plain", O_CREAT | O_RDWR | O_CLOEXEC, 0644);

	printf("-- %s\n", what);
	say("socketpair", socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair));
	say("pipe", pipe(pipes));
	with(&m, SOL_SOCKET, SCM_RIGHTS, (int[]){file, pipes[1]}, 2 * sizeof(int));
	say("send two", sendmsg(pair[0], &m.head, 0));
	say("take two", take(pair[1], got, 4));
	fstat(file, &a);
	say("the file", fstat(got[0], &b));
	printf("%-40s %d\n", "is the same", a.st_ino == b.st_ino && a.st_dev == b.st_dev);
	lseek(file, 17, SEEK_SET);
	say("one open file, one offset", lseek(got[0], 0, SEEK_CUR));
	say("write to the passed pipe", write(got[1], "pipe", 4));
	say("read it", read(pipes[0], text, sizeof text));
	close_all(got, 2);
	close(pipes[1]);
	say("its end, when all have closed it", read(pipes[0], text, sizeof text));
	with(&m, SOL_SOCKET, SCM_RIGHTS, (int[]){9999}, sizeof(int));
	say("no such descriptor", sendmsg(pair[0], &m.head, 0));
	with(&m, SOL_SOCKET, SCM_RIGHTS, (int[]){-1}, sizeof(int));
	say("descriptor -1", sendmsg(pair[0], &m.head, 0));
	with(&m, SOL_SOCKET, SCM_RIGHTS, (int[]){pair[0]}, sizeof(int));
	say("the socket itself", sendmsg(pair[0], &m.head, 0));
	say("take it", take(pair[1], got, 4));
	close_all(got, 1);
	close(pipes[0]);
	close(file);
	close_all(pair, 2);
}

static void many_rights(void)
{
	struct message m;
	int pair[2];
	int fds[300];
	int got[300];
	int n;

	socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
	for (int i = 0; i < 300; i++)
		fds[i] = i % 2;
	with(&m, SOL_SOCKET, SCM_RIGHTS, fds, FDS_MOST * sizeof(int));
	say("253 descriptors", sendmsg(pair[0], &m.head, 0));
	n = take(pair[1], got, 300);
	say("take them", n);
	close_all(got, n);
	with(&m, SOL_SOCKET, SCM_RIGHTS, fds, (FDS_MOST + 1) * sizeof(int));
	say("254 descriptors", sendmsg(pair[0], &m.head, 0));
	with(&m, SOL_SOCKET, SCM_RIGHTS, fds, sizeof(int));
	CMSG_FIRSTHDR(&m.head)->cmsg_len = 3;
	say("a length that is too short", sendmsg(pair[0], &m.head, 0));
	CMSG_FIRSTHDR(&m.head)->cmsg_len = 4000;
	say("a length that is too long", sendmsg(pair[0], &m.head, 0));
	m.head.msg_controllen = 4;
	say("a control that is too short for any", sendmsg(pair[0], &m.head, 0));
	m.head.msg_controllen = (size_t)1 << 40;
	say("a control that is too long", sendmsg(pair[0], &m.head, 0));
	with(&m, SOL_SOCKET, 77, fds, sizeof(int));
	CMSG_FIRSTHDR(&m.head)->cmsg_level = 4711;
	say("another level", sendmsg(pair[0], &m.head, 0));
	close_all(pair, 2);
}

static void credentials(void)
{
	struct ucred mine = {.pid = getpid(), .uid = getuid(), .gid = getgid()};
	struct message m;
	int pair[2];
	int one = 1;
	struct ucred got = {.uid = 12345};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
	char byte;
	struct iovec v = {.iov_base = &byte, .iov_len = 1};
	struct msghdr h = {.msg_iov = &v,
	                   .msg_iovlen = 1,
	                   .msg_control = control,
	                   .msg_controllen = sizeof control};

	socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair);
	setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &one, sizeof one);
	with(&m, SOL_SOCKET, SCM_CREDENTIALS, &mine, sizeof mine);
	say("own credentials", sendmsg(pair[0], &m.head, 0));
	say("arrive", recvmsg(pair[1], &h, 0));
	memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&h)), sizeof got);
	printf("%-40s %d\n", "with the own user", got.uid == getuid() && got.gid == getgid());
	if (getuid() != 0) {
		mine.pid = 1;
		with(&m, SOL_SOCKET, SCM_CREDENTIALS, &mine, sizeof mine);
		say("another's number", sendmsg(pair[0], &m.head, 0));
		mine.pid = getpid();
		mine.uid = 0;
		with(&m, SOL_SOCKET, SCM_CREDENTIALS, &mine, sizeof mine);
		say("another's user", sendmsg(pair[0], &m.head, 0));
	}
	close_all(pair, 2);
}

/* ---- vectors ---------------------------------------------------------- */

static void vectors(void)
{
	static struct iovec v[1025];
	struct msghdr h = {.msg_iov = v, .msg_iovlen = 3};
	char back[64] = "";
	int pair[2];

	socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
	v[0] = (struct iovec){"ab", 2};
	v[1] = (struct iovec){(void *)16, 0};
	v[2] = (struct iovec){"cde", 3};
	say("three pieces, one empty", sendmsg(pair[0], &h, 0));
	say("one packet", read(pair[1], back, sizeof back));
	printf("%-40s %s\n", "in order", back);
	h.msg_iovlen = 0;
	say("no pieces", sendmsg(pair[0], &h, 0));
	h.msg_iovlen = 1025;
	say("1025 pieces", sendmsg(pair[0], &h, 0));
	h.msg_iovlen = 1;
	v[0] = (struct iovec){(void *)16, 10};
	say("unreadable piece", sendmsg(pair[0], &h, 0));
	v[0].iov_len = (size_t)-5;
	say("a negative length", sendmsg(pair[0], &h, 0));
	h.msg_iov = (void *)16;
	say("unreadable vector", sendmsg(pair[0], &h, 0));
	say("unreadable header", sendmsg(pair[0], (void *)16, 0));
	say("no descriptor", sendmsg(-1, &h, 0));
	say("no socket", sendmsg(STDIN_FILENO, &h, 0));
	close_all(pair, 2);
}

static void batch(void)
{
	struct mmsghdr mm[3];
	struct iovec v[3] = {{"a", 1}, {"bb", 2}, {"ccc", 3}};
	char back[8];
	int pair[2];

	memset(mm, 0, sizeof mm);
	for (int i = 0; i < 3; i++)
		mm[i].msg_hdr = (struct msghdr){.msg_iov = &v[i], .msg_iovlen = 1};
	socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair);
	say("a batch of three", sendmmsg(pair[0], mm, 3, 0));
	printf("%-40s %u %u %u\n", "lengths", mm[0].msg_len, mm[1].msg_len, mm[2].msg_len);
	say("first", recv(pair[1], back, sizeof back, 0));
	say("second", recv(pair[1], back, sizeof back, 0));
	say("third", recv(pair[1], back, sizeof back, 0));
	say("none", sendmmsg(pair[0], mm, 0, 0));
	v[1].iov_base = (void *)16;
	say("the second cannot be read", sendmmsg(pair[0], mm, 3, 0));
	v[0].iov_base = (void *)16;
	say("the first cannot be read", sendmmsg(pair[0], mm, 3, 0));
	say("no descriptor", sendmmsg(-1, mm, 3, 0));
	close_all(pair, 2);
}

static void batch_of_addresses(void)
{
	struct sockaddr_in to[12];
	struct mmsghdr mm[12];
	struct iovec v = {"x", 1};
	int servers[12];
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int sent = 0;
	char b;

	memset(mm, 0, sizeof mm);
	for (int i = 0; i < 12; i++) {
		socklen_t len = sizeof to[i];

		servers[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		to[i] = (struct sockaddr_in){.sin_family = AF_INET};
		to[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		bind(servers[i], (struct sockaddr *)&to[i], len);
		getsockname(servers[i], (struct sockaddr *)&to[i], &len);
		mm[i].msg_hdr = (struct msghdr){
			.msg_name = &to[i], .msg_namelen = len, .msg_iov = &v, .msg_iovlen = 1};
	}
	while (sent < 12) { /* a count below what was asked for is no error */
		int n = sendmmsg(fd, mm + sent, (unsigned)(12 - sent), 0);

		if (n <= 0)
			break;
		sent += n;
	}
	say("a batch to twelve addresses", sent);
	for (int i = 0; i < sent; i++)
		sent -= recv(servers[i], &b, 1, 0) != 1;
	say("all arrive", sent);
	to[1].sin_port = 0;
	say("the second has no port", sendmmsg(fd, mm, 3, 0));
	to[0].sin_port = 0;
	say("the first has no port", sendmmsg(fd, mm, 3, 0));
	close_all(servers, 12);
	close(fd);
}

/* ---- interrupts ------------------------------------------------------- */

static volatile sig_atomic_t alarms;

static void on_alarm(int s)
{
	(void)s;
	alarms = alarms + 1;
}

static void alarm_soon(int flags)
{
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = flags};
	struct itimerval t = {.it_value.tv_usec = 200000};

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
}

static void *drain_after_alarm(void *arg)
{
	static char b[65536];
	int fd = *(int *)arg;

	while (!alarms)
		usleep(1000);
	while (read(fd, b, sizeof b) > 0)
		continue;
	return NULL;
}

static void interrupts(void)
{
	static char data[1 << 16];
	struct iovec v = {.iov_base = data, .iov_len = sizeof data};
	struct msghdr h = {.msg_iov = &v, .msg_iovlen = 1};
	int pair[2];
	pthread_t t;
	sigset_t alarm_only;

	socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
	while (sendmsg(pair[0], &h, MSG_DONTWAIT) > 0)
		continue;
	alarm_soon(0);
	say("interrupted", sendmsg(pair[0], &h, 0));
	printf("%-40s %d\n", "handlers run", alarms);
	alarms = 0;
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
	pthread_create(&t, NULL, drain_after_alarm, &pair[1]);
	pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
	alarm_soon(SA_RESTART);
	say("interrupted and restarted", sendmsg(pair[0], &h, 0));
	printf("%-40s %d\n", "handlers run", alarms);
	close(pair[0]);
	pthread_join(t, NULL);
	close(pair[1]);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	rights(SOCK_STREAM, "stream");
	rights(SOCK_DGRAM, "datagram");
	rights(SOCK_SEQPACKET, "packets");
	many_rights();
	credentials();
	vectors();
	batch();
	batch_of_addresses();
	interrupts();
	return 0;
}
