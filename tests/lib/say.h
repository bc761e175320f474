/* For callers whose native and supervised runs are compared: one line a call. */
#ifndef WARY_TESTS_LIB_SAY_H
#define WARY_TESTS_LIB_SAY_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The result of a call that gives 0 or -1: its errno by name. */
static inline void say(const char *what, long result)
{
	const char *error = result < 0 ? strerrorname_np(errno) : "ok";

	printf("%-48s %s\n", what, error ? error : "unknown errno");
}

/* The same where the number itself is part of the result. */
static inline void say_number(const char *what, long result)
{
	if (result < 0)
		say(what, result);
	else
		printf("%-48s %ld\n", what, result);
}

/* A descriptor: everything that can be seen of it; closes it. */
static inline void say_open(const char *what, int fd)
{
	struct stat st;

	if (fd < 0) {
		say(what, fd);
		return;
	}
	if (fstat(fd, &st) != 0)
		st.st_mode = 0;
	printf("%-48s mode %o size %lld flags %o cloexec %d at %lld\n", what, st.st_mode,
	       S_ISREG(st.st_mode) ? (long long)st.st_size : 0, fcntl(fd, F_GETFL),
	       fcntl(fd, F_GETFD), S_ISREG(st.st_mode) ? (long long)lseek(fd, 0, SEEK_CUR) : 0);
	close(fd);
}

/* What a name is, not following it. */
static inline void say_what(const char *name)
{
	struct stat st;

	if (lstat(name, &st) != 0)
		say(name, -1);
	else
		printf("%-48s mode %o owner %d:%d links %d size %lld\n", name, st.st_mode,
		       (int)st.st_uid, (int)st.st_gid, S_ISDIR(st.st_mode) ? 0 : (int)st.st_nlink,
		       S_ISREG(st.st_mode) || S_ISLNK(st.st_mode) ? (long long)st.st_size : 0);
}

/* An address where nothing is, which no compiler can see through. */
static inline void *bad_address(void)
{
	volatile uintptr_t address = 8;

	return (void *)address;
}

/* One that can be read and not be written. */
static inline void *constant(void)
{
	static const char text[512] = "constant";
	volatile uintptr_t address = (uintptr_t)text;

	return (void *)address;
}

/* A child that waits until *end is closed. */
static inline pid_t make_child(int *end)
{
	int ends[2];
	char c;
	pid_t pid;

	if (pipe(ends) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		_exit(read(ends[0], &c, 1) < 0);
	}
	close(ends[0]);
	if (pid < 0)
		close(ends[1]);
	*end = ends[1];
	return pid;
}

/* An empty file. */
static inline void make_file(const char *name, mode_t mode)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, mode);

	if (fd >= 0)
		close(fd);
}

/* A file with content. */
static inline void make_text(const char *name, const char *text)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		printf("cannot make %s\n", name);
	if (fd >= 0)
		close(fd);
}

#endif
