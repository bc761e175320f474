/* A hostile caller: listens on a port now and then, and connects to that port
 * all the time, hoping to be let through to whoever else listens there.
 *
 *   own_takeover ROUNDS PORT
 *
 * Prints how often it listened and how many of its connections succeeded. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static _Atomic bool over;
static _Atomic long listened;
static struct sockaddr_in at;

static int made(int flags)
{
	int one = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	return fd;
}

/* Takes what comes, for a moment. */
static void serve(int fd)
{
	listened++;
	for (int i = 0; i < 5; i++) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int other;

		if (poll(&p, 1, 1) == 1 && (other = accept(fd, NULL, NULL)) >= 0)
			close(other);
	}
}

/* Listens when it can, and leaves the port to others. */
static void *listener(void *arg)
{
	(void)arg;
	while (!over) {
		int fd = made(SOCK_NONBLOCK);

		if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 64) == 0)
			serve(fd);
		close(fd);
		usleep(2000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct linger reset = {.l_onoff = 1};
	pthread_t t;
	long good = 0;
	long rounds;

	if (argc != 3)
		return 2;
	rounds = strtol(argv[1], NULL, 10);
	at = (struct sockaddr_in){.sin_family = AF_INET,
	                          .sin_port = htons((uint16_t)strtol(argv[2], NULL, 10))};
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (pthread_create(&t, NULL, listener, NULL) != 0)
		return 1;
	for (long i = 0; i < rounds; i++) {
		int fd = made(0);

		/* No wait for the port when it is closed. */
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
		if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0) {
			good++;
			(void)!send(fd, "x", 1, MSG_NOSIGNAL);
		}
		close(fd);
	}
	over = true;
	pthread_join(t, NULL);
	printf("%ld %ld\n", listened, good);
	return 0;
}
