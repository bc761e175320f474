/* ask/control: who has connected is taken in, also where poll(2) did not tell of it. */
#include "ask/control.h"
#include "tests/unit/tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned came_n;

static void came(void *ctx, struct control *c, int client)
{
	(void)ctx;
	(void)c;
	(void)client;
	came_n++;
}

static void answered(void *ctx, const struct control_answer *answer)
{
	(void)ctx;
	(void)answer;
}

/* A process that connects @n times, and stays until it is killed; 0 times: a guardian
 * of nobody. Returns when it has connected, with its pid, or -1. */
static pid_t client(const char *path, int n)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char word = 'y';
	int pipe_fd[2];
	pid_t pid;

	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	if (pipe(pipe_fd) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < n; i++) {
			int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

			if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
				word = 'n';
		}
		if (write(pipe_fd[1], &word, 1) == 1)
			pause();
		_exit(1);
	}
	close(pipe_fd[1]);
	if (pid < 0 || read(pipe_fd[0], &word, 1) != 1 || word != 'y')
		pid = -1;
	close(pipe_fd[0]);
	return pid;
}

static void end(pid_t pid)
{
	if (pid > 0 && kill(pid, SIGKILL) == 0)
		(void)waitpid(pid, NULL, 0);
}

/* A turn whose poll(2) was before anybody came. */
static void serve(struct control *c)
{
	struct pollfd p[CONTROL_CLIENTS_MAX + 1];
	size_t n = control_poll(c, p);

	tap_is_int((long)n, CONTROL_CLIENTS_MAX + 1, "each has a place");
	control_serve(c, p);
}

static void check(struct control *c, const char *path)
{
	pid_t some;

	tap_ok(!control_waits(c), "nobody waits");
	serve(c);
	tap_is_int((long)control_clients(c), 0, "and none is made up, nor waited for");
	some = client(path, 3);
	tap_ok(some > 0, "three connect");
	tap_ok(control_waits(c), "who has connected is seen to wait");
	tap_is_int((long)control_clients(c), 0, "though not taken in yet");
	serve(c);
	tap_is_int((long)control_clients(c), 3, "all are taken in at once");
	tap_is_int((long)came_n, 3, "and each is told what is open");
	tap_ok(!control_waits(c), "then nobody waits");
	end(some);
	some = client(path, CONTROL_CLIENTS_MAX);
	serve(c);
	tap_is_int((long)control_clients(c), CONTROL_CLIENTS_MAX, "no more than have a place");
	tap_ok(!control_waits(c), "and the others are turned away");
	end(some);
}

int main(void)
{
	struct control_ops ops = {NULL, came, answered};
	struct control *c = NULL;
	char folder[] = "/tmp/wary-unit-XXXXXX";
	char path[64];
	pid_t guardian;

	alarm(120); /* nothing here may wait for anybody */
	if (!mkdtemp(folder)) {
		tap_ok(false, "a folder can be made");
		return tap_done();
	}
	snprintf(path, sizeof path, "%s/wary/a3f9.sock", folder);
	guardian = client(path, 0);
	if (control_open(path, "a3f9", guardian, &ops, &c) == 0)
		check(c, path);
	tap_ok(c != NULL, "the socket is open");
	control_close(c);
	end(guardian);
	*strrchr(path, '/') = '\0';
	tap_is_int(rmdir(path), 0, "and goes");
	tap_is_int(rmdir(folder), 0, "with its folder");
	return tap_done();
}
