/* A leader is in the middle of a call when another thread's exec takes its
 * number over: nothing of the call's answer may reach the new program, neither
 * in its memory nor among its descriptors.
 *
 * exec_takeover ROUNDS: prints "intact N changed N other N". */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LENGTH ((size_t)65536)
#define CANARY 0x5a
#define DESCRIPTORS 256

enum { INTACT = 40, CHANGED, UNMAPPED };

/* The same place in the old program and in the new one. */
static char *const place = (char *)0x123450000UL;

static char *map_place(void)
{
	char *at = mmap(place, LENGTH, PROT_READ | PROT_WRITE,
	                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	return at == place ? at : NULL;
}

static unsigned open_descriptors(void)
{
	unsigned n = 0;

	for (int i = 0; i < DESCRIPTORS; i++)
		n += fcntl(i, F_GETFD) >= 0;
	return n;
}

/* The new program: watches that its memory stays as it is. */
static int watch(void)
{
	unsigned before = open_descriptors();
	char *at = map_place();

	if (!at)
		return UNMAPPED;
	memset(at, CANARY, LENGTH);
	for (int round = 0; round < 30; round++) {
		for (size_t i = 0; i < LENGTH; i++)
			if (((volatile char *)at)[i] != CANARY)
				return CHANGED;
		if (open_descriptors() != before)
			return CHANGED;
		usleep(100);
	}
	return INTACT;
}

/* Calls whose answers are written into the caller, one after the other. */
static void call_for_ever(char *at)
{
	for (unsigned i = 0;; i++) {
		struct stat *st = (struct stat *)(void *)(at + 8192 * (i % 4));
		ssize_t n = readlink("/proc/self/exe", at + 4096 * (i % 8), 4096);
		int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

		if (stat("/etc/passwd", st) != 0 || n < 0)
			_exit(99);
		if (i % 3)
			close(fd);
	}
}

static void *exec_soon(void *delay)
{
	char *argv[] = {(char *)"watch", NULL};
	char *envp[] = {(char *)"WATCH=1", NULL};

	usleep(*(useconds_t *)delay);
	execve("/proc/self/exe", argv, envp);
	_exit(98);
}

static int one_round(useconds_t delay)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		pthread_t t;
		char *at = map_place();

		if (!at || pthread_create(&t, NULL, exec_soon, &delay) != 0)
			_exit(UNMAPPED);
		call_for_ever(at);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	int intact = 0;
	int changed = 0;
	int other = 0;

	if (getenv("WATCH"))
		return watch();
	for (int i = 0; i < rounds; i++) {
		int what = one_round((useconds_t)(i * 37 % 1500));

		intact += what == INTACT;
		changed += what == CHANGED;
		other += what != INTACT && what != CHANGED;
		if (what != INTACT && what != CHANGED)
			fprintf(stderr, "round %d: %d\n", i, what);
	}
	printf("intact %d changed %d other %d\n", intact, changed, other);
	return 0;
}
