/* Unix sockets: prints what each call gives, so that a native and a supervised
 * run can be compared line by line.  Runs in an empty folder of its own. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
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

static socklen_t named(struct sockaddr_un *un, const char *name)
{
	memset(un, 0, sizeof *un);
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, name, strnlen(name, sizeof un->sun_path));
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
	                   strnlen(name, sizeof un->sun_path - 1) + 1);
}

static socklen_t abstract(struct sockaddr_un *un, const char *name)
{
	memset(un, 0, sizeof *un);
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path + 1, name, strlen(name));
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

static int bind_to(int fd, const char *name)
{
	struct sockaddr_un un;
	socklen_t len = named(&un, name);

	return bind(fd, (struct sockaddr *)&un, len);
}

static int connect_to(int fd, const char *name)
{
	struct sockaddr_un un;
	socklen_t len = named(&un, name);

	return connect(fd, (struct sockaddr *)&un, len);
}

static int made(int type)
{
	return socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
}

static void say_name(const char *what, int fd)
{
	struct sockaddr_un un = {0};
	socklen_t len = sizeof un;

	if (getsockname(fd, (struct sockaddr *)&un, &len) != 0)
		say(what, -1);
	else
		printf("%-40s %u \"%.108s\"\n", what, len, un.sun_path);
}

/* ---- names ------------------------------------------------------------ */

static void binding(const char *cwd)
{
	char path[sizeof(struct sockaddr_un)];
	struct stat st;
	int fd = made(SOCK_STREAM);

	umask(027);
	say("bind relative", bind_to(fd, "rel.sock"));
	say_name("its name", fd);
	say("stat", stat("rel.sock", &st));
	printf("%-40s %o\n", "its mode", st.st_mode);
	say("bind again", bind_to(fd, "other.sock"));
	say("no second file", stat("other.sock", &st));
	close(fd);
	umask(0);
	fd = made(SOCK_STREAM);
	say("bind where it exists", bind_to(fd, "rel.sock"));
	say("bind in no folder", bind_to(fd, "none/x.sock"));
	say("bind below a file", bind_to(fd, "rel.sock/x"));
	say("bind with a slash", bind_to(fd, "slash/"));
	snprintf(path, sizeof path, "%.80s/abs.sock", cwd);
	say("bind absolute", bind_to(fd, path));
	printf("%-40s %d\n", "its name is the one given",
	       access(path, F_OK) == 0 && stat(path, &st) == 0 && S_ISSOCK(st.st_mode));
	say_name("name", fd);
	printf("%-40s %o\n", "mode without umask", st.st_mode);
	close(fd);
	fd = made(SOCK_STREAM);
	say("bind ./", bind_to(fd, "./dot.sock"));
	say_name("name with a dot", fd);
	close(fd);
	mkdir("d", 0755);
	fd = made(SOCK_STREAM);
	say("bind d/../d/", bind_to(fd, "d/../d/up.sock"));
	say_name("name with dots", fd);
	say("it is there", stat("d/up.sock", &st));
	close(fd);
}

static void odd_names(void)
{
	char longest[sizeof((struct sockaddr_un *)0)->sun_path];
	struct sockaddr_un un;
	struct stat st;
	int fd = made(SOCK_STREAM);

	symlink("nowhere.sock", "dangling");
	say("bind on a dangling link", bind_to(fd, "dangling"));
	say("nothing behind it", stat("nowhere.sock", &st));
	memset(longest, 'l', sizeof longest);
	memcpy(un.sun_path, longest, sizeof longest);
	un.sun_family = AF_UNIX;
	say("bind 108 bytes", bind(fd, (struct sockaddr *)&un, sizeof un));
	say_name("name of 108 bytes", fd);
	close(fd);
	fd = made(SOCK_STREAM);
	say("bind, length 0", bind(fd, (struct sockaddr *)&un, 0));
	say("bind, length 1", bind(fd, (struct sockaddr *)&un, 1));
	say("bind, length 111", bind(fd, (struct sockaddr *)&un, sizeof un + 1));
	say("bind, length 129", bind(fd, (struct sockaddr *)&un, 129));
	say("bind, length -1", bind(fd, (struct sockaddr *)&un, (socklen_t)-1));
	say("bind, bad pointer", bind(fd, (struct sockaddr *)16, sizeof un));
	un.sun_family = AF_INET;
	say("bind, another family", bind(fd, (struct sockaddr *)&un, sizeof un));
	say("bind, no descriptor", bind_to(-1, "x"));
	say("bind, no socket", bind_to(STDOUT_FILENO, "x"));
	un.sun_family = AF_UNIX;
	say("autobind", bind(fd, (struct sockaddr *)&un, 2));
	socklen_t len = sizeof un;
	say("its name", getsockname(fd, (struct sockaddr *)&un, &len));
	printf("%-40s %u %d\n", "five digits", len, un.sun_path[0]);
	close(fd);
}

/* ---- streams ---------------------------------------------------------- */

static void connecting(void)
{
	int server = made(SOCK_STREAM);
	int fd = made(SOCK_STREAM);
	int other;
	char b[8] = "";

	unlink("s.sock");
	say("connect, no such file", connect_to(fd, "s.sock"));
	say("connect below a file", connect_to(fd, "rel.sock/x"));
	say("listen, not bound", listen(server, 4));
	say("bind", bind_to(server, "s.sock"));
	say("connect before listen", connect_to(fd, "s.sock"));
	say("listen", listen(server, 4));
	say("connect", connect_to(fd, "s.sock"));
	say("connect again", connect_to(fd, "s.sock"));
	other = accept(server, NULL, NULL);
	say("accept", other >= 0 ? 0 : -1);
	say_number("write", write(fd, "hello", 5));
	say_number("read", read(other, b, sizeof b));
	printf("%-40s %s\n", "what", b);
	close(fd);
	close(other);
	symlink("s.sock", "link.sock");
	fd = made(SOCK_STREAM);
	say("connect through a link", connect_to(fd, "link.sock"));
	close(fd);
	fd = made(SOCK_DGRAM);
	say("a datagram socket to a stream", connect_to(fd, "s.sock"));
	close(fd);
	fd = made(SOCK_STREAM);
	close(open("plain", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	say("connect to a plain file", connect_to(fd, "plain"));
	say("connect to a folder", connect_to(fd, "d"));
	say("connect to the bound one that does not listen", connect_to(fd, "abs.sock"));
	chmod("s.sock", 0);
	if (geteuid() != 0)
		say("connect without permission", connect_to(fd, "s.sock"));
	chmod("s.sock", 0777);
	close(fd);
	close(server);
	fd = made(SOCK_STREAM);
	say("connect, the listener has gone", connect_to(fd, "s.sock"));
	close(fd);
}

static void full_backlog(void)
{
	int server = made(SOCK_STREAM);
	struct pollfd p;
	long n = 0;
	int fds[8];
	int i;

	unlink("b.sock");
	bind_to(server, "b.sock");
	say("listen 1", listen(server, 1));
	for (i = 0; i < 8; i++) {
		fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		n = connect_to(fds[i], "b.sock");
		if (n < 0)
			break;
	}
	say("non-blocking connect to a full one", n);
	printf("%-40s %d\n", "so many fit", i);
	p = (struct pollfd){.fd = server, .events = POLLIN};
	printf("%-40s %d\n", "readable", poll(&p, 1, 10000));
	while (i >= 0)
		close(fds[i--]);
	close(server);
}

static void abstracts(void)
{
	struct sockaddr_un un;
	char name[64];
	socklen_t len;
	int server = made(SOCK_STREAM);
	int fd = made(SOCK_STREAM);

	snprintf(name, sizeof name, "same-unix-%d", getpid());
	len = abstract(&un, name);
	say("connect to no such name", connect(fd, (struct sockaddr *)&un, len));
	say("bind a name", bind(server, (struct sockaddr *)&un, len));
	say("bind it again", bind(fd, (struct sockaddr *)&un, len));
	say("listen", listen(server, 2));
	say("connect, another length", connect(fd, (struct sockaddr *)&un, len + 1));
	say("connect", connect(fd, (struct sockaddr *)&un, len));
	close(fd);
	close(server);
	fd = made(SOCK_STREAM);
	say("connect, it has gone", connect(fd, (struct sockaddr *)&un, len));
	close(fd);
}

/* ---- datagrams -------------------------------------------------------- */

static void datagrams(void)
{
	struct sockaddr_un un;
	struct sockaddr_un from = {0};
	struct sockaddr none = {.sa_family = AF_UNSPEC};
	socklen_t len = named(&un, "./dg.sock");
	socklen_t from_len = sizeof from;
	int server = made(SOCK_DGRAM);
	int fd = made(SOCK_DGRAM);
	char b[16];

	say("bind", bind(server, (struct sockaddr *)&un, len));
	say_number("sendto, not bound", sendto(fd, "a", 1, 0, (struct sockaddr *)&un, len));
	say_number("recvfrom",
	           recvfrom(server, b, sizeof b, 0, (struct sockaddr *)&from, &from_len));
	printf("%-40s %u\n", "from nobody", from_len);
	say("bind the sender", bind_to(fd, "./client.sock"));
	say_number("sendto", sendto(fd, "ab", 2, 0, (struct sockaddr *)&un, len));
	from_len = sizeof from;
	say_number("recvfrom",
	           recvfrom(server, b, sizeof b, 0, (struct sockaddr *)&from, &from_len));
	printf("%-40s %u \"%s\"\n", "from", from_len, from.sun_path);
	say_number("answer to that name",
	           sendto(server, "xyz", 3, 0, (struct sockaddr *)&from, from_len));
	say_number("it arrives", recv(fd, b, sizeof b, 0));
	say("connect", connect(fd, (struct sockaddr *)&un, len));
	say_number("send", send(fd, "abc", 3, 0));
	say_number("recv", recv(server, b, sizeof b, 0));
	say_number("sendto while connected", sendto(fd, "abcd", 4, 0, (struct sockaddr *)&un, len));
	say_number("recv", recv(server, b, sizeof b, 0));
	say("dissolve", connect(fd, &none, sizeof none));
	say_number("send after that", send(fd, "abc", 3, 0));
	named(&un, "none.sock");
	say_number("sendto no such file", sendto(fd, "a", 1, 0, (struct sockaddr *)&un, len));
	named(&un, "s.sock");
	say_number("sendto a stream", sendto(fd, "a", 1, 0, (struct sockaddr *)&un, len));
	close(fd);
	close(server);
}

static void full_queue(void)
{
	static char big[300000];
	struct sockaddr_un un;
	socklen_t len = named(&un, "q.sock");
	int server = made(SOCK_DGRAM);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	long n = 0;
	int i;

	bind(server, (struct sockaddr *)&un, len);
	for (i = 0; i < 100000 && n >= 0; i++)
		n = sendto(fd, "x", 1, 0, (struct sockaddr *)&un, len);
	say("sendto a full queue", n);
	say_number("a datagram too large",
	           sendto(fd, big, sizeof big, 0, (struct sockaddr *)&un, len));
	say_number("an empty datagram", sendto(fd, big, 0, 0, (struct sockaddr *)&un, len));
	close(fd);
	close(server);
}

/* ---- who is at the other end ------------------------------------------ */

static void say_peer(const char *what, int fd, bool and_number)
{
	struct ucred peer = {0};
	socklen_t len = sizeof peer;
	gid_t mine[256];
	gid_t theirs[256];
	socklen_t theirs_len = sizeof theirs;
	int n = getgroups(256, mine);

	say(what, getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len));
	printf("%-40s user %d, group %d, number %s\n", what, peer.uid == geteuid(),
	       peer.gid == getegid(),
	       !and_number             ? "not compared"
	       : peer.pid == getpid()  ? "this"
	       : peer.pid == getppid() ? "above"
	                               : "another");
	say(what, getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, theirs, &theirs_len));
	printf("%-40s groups %d %d\n", what, n,
	       n >= 0 && theirs_len == (socklen_t)n * sizeof mine[0] &&
	               memcmp(mine, theirs, theirs_len) == 0);
}

static void say_sender(const char *what, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))] = {0};
	char byte;
	struct iovec v = {&byte, 1};
	struct msghdr h = {.msg_iov = &v,
	                   .msg_iovlen = 1,
	                   .msg_control = control,
	                   .msg_controllen = sizeof control};
	struct ucred who = {0};

	say(what, recvmsg(fd, &h, 0));
	memcpy(&who, CMSG_DATA((struct cmsghdr *)control), sizeof who);
	printf("%-40s user %d, group %d, number %d\n", what, who.uid == getuid(),
	       who.gid == getgid(), who.pid == getpid());
}

/* What the kernel notes at connect and listen has wary's number (DIFFERENCES), and
 * all else of the caller's; pairs, and data that is written, are the caller's own. */
static void credentials(void)
{
	int server = made(SOCK_STREAM);
	int fd = made(SOCK_STREAM);
	int pair[2];
	int one = 1;
	int taken;

	bind_to(server, "cred.sock");
	listen(server, 1);
	say("connect", connect_to(fd, "cred.sock"));
	taken = accept4(server, NULL, NULL, SOCK_CLOEXEC);
	say_peer("who connected", taken, false);
	say_peer("who listened", fd, false);
	setsockopt(taken, SOL_SOCKET, SO_PASSCRED, &one, sizeof one);
	say_number("write", write(fd, "x", 1));
	say_sender("who wrote", taken);
	close(taken);
	close(fd);
	close(server);
	say("a pair", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	say_peer("who made it", pair[0], true);
	close(pair[0]);
	close(pair[1]);
}

static void say_ids(const char *what, int fd)
{
	struct ucred peer = {0};
	socklen_t len = sizeof peer;

	say(what, getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len));
	printf("%-40s user %d, group %d\n", what, (int)peer.uid, (int)peer.gid);
}

static socklen_t abstract_of(struct sockaddr_un *un, const char *name)
{
	*un = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(un->sun_path + 1, sizeof un->sun_path - 1, "%s-%d", name, (int)getppid());
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(un->sun_path + 1));
}

static void say_sent(const char *what, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))] = {0};
	char byte;
	struct iovec v = {&byte, 1};
	struct msghdr h = {.msg_iov = &v,
	                   .msg_iovlen = 1,
	                   .msg_control = control,
	                   .msg_controllen = sizeof control};
	struct ucred who = {0};

	say(what, recvmsg(fd, &h, 0));
	memcpy(&who, CMSG_DATA((struct cmsghdr *)control), sizeof who);
	printf("%-40s user %d, group %d\n", what, (int)who.uid, (int)who.gid);
}

/* In a process of its own: a real and an effective user of no rights, the two not the same. */
static void as_another(void)
{
	struct sockaddr_un un;
	socklen_t len = abstract_of(&un, "another");
	int server = made(SOCK_STREAM);
	int fd = made(SOCK_STREAM);
	int box = made(SOCK_DGRAM);
	int from = made(SOCK_DGRAM);
	int one = 1;
	int taken;
	struct iovec v = {"b", 1};
	struct msghdr h = {.msg_name = &un, .msg_iov = &v, .msg_iovlen = 1};

	say("leave the groups", setgroups(0, NULL));
	say("another group", setresgid(65534, 65533, 65534));
	say("another user", setresuid(65534, 65533, 65534));
	say("bind as another", bind(server, (struct sockaddr *)&un, len));
	say("listen as another", listen(server, 1));
	say("connect as another", connect(fd, (struct sockaddr *)&un, len));
	taken = accept4(server, NULL, NULL, SOCK_CLOEXEC);
	say_ids("another who connected", taken);
	say_ids("another who listened", fd);
	len = abstract_of(&un, "box");
	say("bind a box as another", bind(box, (struct sockaddr *)&un, len));
	say("pass credentials", setsockopt(box, SOL_SOCKET, SO_PASSCRED, &one, sizeof one));
	say("sendto as another", sendto(from, "a", 1, 0, (struct sockaddr *)&un, len));
	say_sent("another who sent", box);
	h.msg_namelen = len;
	say("sendmsg as another", sendmsg(from, &h, 0));
	say_sent("another who sent a message", box);
	say("no way back", setresuid(0, 0, 0));
	say("nor to root's files", open("/etc/shadow", O_RDONLY | O_CLOEXEC));
}

/* Of root's programs some give root up: that is not root who connects then. */
static void given_up(void)
{
	pid_t pid;
	int status;

	if (geteuid() != 0)
		return;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		as_another();
		fflush(stdout);
		_exit(0);
	}
	say("its end", waitpid(pid, &status, 0) == pid ? status : -1);
	/* Wary's hand has taken it off again. */
	unlink("cred.sock");
	credentials();
}

int main(void)
{
	char cwd[512];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!getcwd(cwd, sizeof cwd))
		return 1;
	binding(cwd);
	odd_names();
	connecting();
	full_backlog();
	abstracts();
	datagrams();
	full_queue();
	credentials();
	given_up();
	return 0;
}
