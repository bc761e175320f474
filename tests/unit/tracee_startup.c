/* tracee/startup and tracee/argv: what a new program finds on its stack, read
 * and rewritten at a real exec stop; lists of strings read from a process. */
#include "base/buf.h"
#include "base/own.h"
#include "tests/unit/tap.h"
#include "tracee/argv.h"
#include "tracee/procfs.h"
#include "tracee/startup.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

extern char **environ;

/* ---- the program that is looked at: this one -------------------------- */

/* Prints its arguments' count and last, its environment, and what the kernel
 * shows of it; checks that the vector behind the environment is whole. */
static int be_looked_at(int argc, char **argv)
{
	char shown[65536];
	ssize_t n = procfs_read("/proc/self/environ", shown, sizeof shown);

	printf("args %d last %s\n", argc, argv[argc - 1]);
	for (char **e = environ; *e; e++)
		printf("env %s\n", *e);
	for (ssize_t i = 0; i < n; i += (ssize_t)strlen(shown + i) + 1)
		if (shown[i])
			printf("proc %s\n", shown + i);
	printf("auxv %d\n", getauxval(AT_PAGESZ) == (unsigned long)sysconf(_SC_PAGESIZE) &&
	                            getauxval(AT_RANDOM) && getauxval(AT_EXECFN));
	fflush(stdout);
	return 0;
}

/* ---- who looks -------------------------------------------------------- */

struct child {
	pid_t pid;
	int out_fd;
};

/* A child at its exec stop. */
static bool start(struct child *c, char *const *argv, char *const *envp)
{
	int pipes[2];
	int status;

	if (pipe(pipes) != 0)
		return false;
	c->pid = fork();
	if (c->pid == 0) {
		dup2(pipes[1], 1);
		close(pipes[0]);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execve("/proc/self/exe", argv, envp);
		_exit(9);
	}
	close(pipes[1]);
	c->out_fd = pipes[0];
	return waitpid(c->pid, &status, 0) == c->pid && WIFSTOPPED(status);
}

/* Lets it go, and what it printed. */
static void finish(struct child *c, struct buf *out)
{
	int status = 0;

	ptrace(PTRACE_DETACH, c->pid, NULL, NULL);
	if (buf_read_file(out, c->out_fd) != 0)
		tap_note("its output could not be read");
	close(c->out_fd);
	waitpid(c->pid, &status, 0);
	tap_is_int(status, 0, "it ended well");
}

static bool begins(void *ctx, const char *entry)
{
	return strncmp(entry, ctx, strlen(ctx)) == 0;
}

static bool never(void *ctx, const char *entry)
{
	(void)ctx;
	(void)entry;
	return false;
}

static bool has(struct buf *out, const char *line)
{
	return strstr(buf_text(out), line) != NULL;
}

static char *const plain_env[] = {(char *)"LOOKED_AT=1", (char *)"ONE=1", (char *)"TOKEN=managed",
                                  (char *)"TWO=22", NULL};
static char *const plain_argv[] = {(char *)"zero", (char *)"", (char *)"last", NULL};

static void test_read(void)
{
	struct child c;
	struct startup s;
	auto_buf out = BUF_INIT;

	tap_ok(start(&c, plain_argv, plain_env), "a program at its exec stop");
	tap_is_int(startup_read(c.pid, &s), 0, "its stack is read");
	tap_is_int((long long)s.argc, 3, "its arguments are counted");
	tap_is_str(s.argv[0], "zero", "the first");
	tap_is_str(s.argv[1], "", "an empty one");
	tap_is_str(s.argv[2], "last", "the last");
	tap_is_int((long long)s.envc, 4, "its variables are counted");
	tap_is_str(s.envp[2], "TOKEN=managed", "one of them");
	tap_ok(s.auxv_words >= 20 && s.auxv[s.auxv_words - 2] == AT_NULL, "the vector behind them");
	startup_remove(&s, never, NULL);
	tap_is_int(startup_commit(&s), 0, "nothing is changed");
	startup_done(&s);
	finish(&c, &out);
	tap_ok(has(&out, "args 3 last last\n") && has(&out, "env TWO=22\n") &&
	               has(&out, "proc TOKEN=managed\n") && has(&out, "auxv 1\n"),
	       "it finds everything as it was");
}

/* @added: how many variables; odd and even, for the stack's alignment. */
static void test_change(const char *remove, unsigned added)
{
	struct child c;
	struct startup s;
	auto_buf out = BUF_INIT;
	char name[32];
	bool all = true;

	tap_ok(start(&c, plain_argv, plain_env) && startup_read(c.pid, &s) == 0,
	       "removing %s*, adding %u", remove, added);
	startup_remove(&s, begins, (void *)remove);
	for (unsigned i = 0; i < added; i++) {
		snprintf(name, sizeof name, "ADDED_%u", i);
		all = startup_add(&s, name, "secret-value", 12) == 0 && all;
	}
	tap_ok(all && startup_commit(&s) == 0, "it is written");
	startup_done(&s);
	finish(&c, &out);
	for (unsigned i = 0; i < added; i++) {
		snprintf(name, sizeof name, "env ADDED_%u=secret-value\n", i);
		all = has(&out, name) && all;
	}
	tap_ok(all, "what was added is found");
	tap_ok(!has(&out, "proc ADDED"), "and is not shown in /proc");
	tap_ok(*remove == 'T' || (has(&out, "env TWO=22\n") && has(&out, "proc TWO=22\n")),
	       "what was not removed stays");
	tap_ok(strcmp(remove, "TOKEN") != 0 || (!has(&out, "env TOKEN") && !has(&out, "managed")),
	       "what was removed is nowhere");
	tap_ok(has(&out, "args 3 last last\n") && has(&out, "auxv 1\n"), "the rest is whole");
}

/* As many arguments as xargs may make. */
static void test_many(void)
{
	enum { MANY = 40000 };
	char **argv = calloc(MANY + 1, sizeof *argv);
	struct child c;
	struct startup s;
	auto_buf out = BUF_INIT;

	if (!argv)
		abort();
	for (size_t i = 0; i < MANY; i++)
		argv[i] = (char *)(i % 2 ? "an argument" : "b");
	tap_ok(start(&c, argv, plain_env) && startup_read(c.pid, &s) == 0, "40,000 arguments");
	tap_is_int((long long)s.argc, MANY, "are counted");
	startup_remove(&s, begins, (void *)"TOKEN");
	tap_ok(startup_add(&s, "ADDED", "x", 1) == 0 && startup_commit(&s) == 0, "and kept");
	startup_done(&s);
	finish(&c, &out);
	tap_ok(has(&out, "args 40000 last an argument\n") && has(&out, "env ADDED=x\n") &&
	               has(&out, "env TWO=22\n") && !has(&out, "managed") && has(&out, "auxv 1\n"),
	       "by the program too");
	free(argv);
}

static void test_bounds(void)
{
	struct child c;
	struct startup s;
	auto_buf out = BUF_INIT;
	char *big = malloc(STARTUP_ADD_MAX_BYTES);

	if (!big)
		abort();
	memset(big, 'x', STARTUP_ADD_MAX_BYTES);
	tap_ok(start(&c, plain_argv, plain_env) && startup_read(c.pid, &s) == 0, "bounds");
	tap_is_int(startup_add(&s, "A", big, STARTUP_ADD_MAX_BYTES), -ERR_BOUND,
	           "too long a variable is refused");
	tap_is_int(startup_add(&s, "A", big, STARTUP_ADD_MAX_BYTES - 100), 0, "one at the bound");
	tap_is_int(startup_add(&s, "B", big, 100), -ERR_BOUND, "and no more");
	tap_is_int(startup_commit(&s), 0, "it is written");
	startup_done(&s);
	finish(&c, &out);
	tap_ok(has(&out, "env A=xxx") && has(&out, "auxv 1\n"), "and found");
	free(big);
}

/* ---- lists ------------------------------------------------------------ */

static int list_of(char **items, struct argv *out)
{
	struct tracee_mem m;

	mem_init(&m, -1, 0, getpid());
	return argv_read(&m, (struct tracee_addr){(uint64_t)(uintptr_t)items}, out);
}

static void test_lists(void)
{
	char *page =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char **many = calloc(5001, sizeof *many);
	char *longest = malloc(ARGV_STRING_MAX_BYTES + 100);
	char *two[] = {(char *)"a", NULL, NULL};
	struct argv v;
	bool same = true;

	if (page == MAP_FAILED || !many || !longest)
		abort();
	munmap(page + 2 * 4096, 4096);
	tap_is_int(list_of(NULL, &v), 0, "no list at all is an empty one");
	tap_is_int((long long)v.n, 0, "of no strings");
	argv_free(&v);

	memset(page, 'x', 2 * 4096);
	page[2 * 4096 - 1] = '\0';
	two[1] = page + 4000;
	tap_is_int(list_of(two, &v), 0, "a string up to the end of what is mapped");
	tap_is_int((long long)strlen(v.items[1]), 2 * 4096 - 1 - 4000, "is whole");
	argv_free(&v);
	page[2 * 4096 - 1] = 'x';
	tap_is_int(list_of(two, &v), -EFAULT, "one that runs over it is a fault");
	two[1] = (char *)8;
	tap_is_int(list_of(two, &v), -EFAULT, "and so is one elsewhere");
	((char **)(void *)page)[1023] = two[0];
	tap_is_int(list_of((char **)(void *)page + 1023, &v), -EFAULT, "and a list without an end");

	memset(longest, 'y', ARGV_STRING_MAX_BYTES + 99);
	longest[ARGV_STRING_MAX_BYTES + 99] = '\0';
	two[1] = longest;
	tap_is_int(list_of(two, &v), -E2BIG, "too long a string");
	longest[ARGV_STRING_MAX_BYTES - 1] = '\0';
	tap_is_int(list_of(two, &v), 0, "the longest");
	argv_free(&v);

	for (size_t i = 0; i < 5000; i++)
		many[i] = longest + (i * 37) % (ARGV_STRING_MAX_BYTES - 200) +
		          (ARGV_STRING_MAX_BYTES - 200 - (i * 37) % (ARGV_STRING_MAX_BYTES - 200));
	tap_is_int(list_of(many, &v), 0, "5,000 strings");
	for (size_t i = 0; i < v.n; i++)
		same = same && strcmp(v.items[i], many[i]) == 0;
	tap_ok(same && v.n == 5000, "each as it was");
	argv_free(&v);
	free(many);
	free(longest);
}

int main(int argc, char **argv)
{
	if (getenv("LOOKED_AT"))
		return be_looked_at(argc, argv);
	test_read();
	test_change("TOKEN", 0);
	test_change("TOKEN", 1);
	test_change("TOKEN", 2);
	test_change("T", 3);
	test_change("NOTHING", 1);
	test_change("NOTHING", 7);
	test_many();
	test_bounds();
	test_lists();
	return tap_done();
}
