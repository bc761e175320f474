/* tracee/lineage: what a process is and came from: by exec, by fork, by thread,
 * when its parent has left, when its number is another's. */
#include "tests/unit/tap.h"
#include "tracee/lineage.h"
#include "tracee/lineage_entry.h"
#include "tracee/procfs.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- entries ---------------------------------------------------------- */

static const struct lineage_entry *next(const struct lineage_entry *before, const char *path,
                                        const char *script, const char *mark)
{
	const char *argv[] = {"zero", "one", NULL};
	struct facts_program p = {.path = path,
	                          .script = script,
	                          .fixed = true,
	                          .argv = argv,
	                          .argc = 2,
	                          .argv_whole = true};
	struct lineage_exec exec = {.program = &p, .mark = mark};
	const struct lineage_entry *e = entry_new(before, &exec);

	entry_put(before);
	return e;
}

static void is_under(const struct lineage_entry *e, const char *want, const char *what)
{
	char text[4096] = "";

	for (const char *const *u = e->under; *u; u++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
		         u == e->under ? "" : " ", *u);
	tap_is_str(text, want, "%s", what);
}

static void test_entries(void)
{
	struct lineage_entry none = {.known = true};
	const struct lineage_entry *e = next(entry_get(NULL), "/a", NULL, NULL);

	tap_ok(!e->known, "what came from nothing known is not known");
	entry_put(e);
	none.refs_ = 2;
	e = next(&none, "/a", NULL, NULL);
	tap_ok(e->known, "what came from something known is");
	tap_is_str(e->program.path, "/a", "its program");
	tap_is_str(e->program.argv[1], "one", "its arguments");
	is_under(e, "", "the first is under nothing");
	e = next(e, "/b", "/s", NULL);
	is_under(e, "/a", "then the earlier image");
	e = next(e, "/c", NULL, "install:npm");
	is_under(e, "install:npm /s /b /a", "nearest first, script before interpreter, mark first");
	e = next(e, "/a", NULL, "script:x");
	is_under(e, "script:x /c install:npm /s /b /a", "marks of two kinds");
	e = next(e, "/d", NULL, "install:pip");
	is_under(e, "install:pip /a script:x /c /s /b",
	         "of one kind the innermost, each name once");
	entry_put(e);
	none.refs_ = 2;
	e = &none;
	for (int i = 0; i < LINEAGE_UNDER_MAX + 10; i++) {
		char path[32];

		snprintf(path, sizeof path, "/p%d", i);
		e = next(e, path, NULL, NULL);
	}
	tap_ok(!e->known, "too many to be kept: not known");
	entry_put(e);
}

static void test_prints(void)
{
	uint64_t random[] = {31, 0x7ffc12345678, 25, 0x7ffc12340000, 33, 0x7fff00000000, 0, 0};
	uint64_t fixed[] = {31, 0x7fffffffefd0, 25, 0x7fffffffe000, 33, 0x7ffff7fc1000, 0, 0};
	uint64_t cut[] = {31, 0x7ffc12345678, 0, 0};
	struct lineage_print a;
	struct lineage_print b;

	lineage_print_of(random, 8, &a);
	lineage_print_of(random, 8, &b);
	tap_ok(entry_same_print(&a, &b), "the same addresses are the same exec");
	b.words[1]++;
	tap_ok(!entry_same_print(&a, &b), "others are another");
	lineage_print_of(fixed, 8, &a);
	lineage_print_of(fixed, 8, &b);
	tap_ok(!entry_same_print(&a, &b), "addresses that are not random say nothing");
	lineage_print_of(cut, 4, &a);
	tap_ok(!entry_same_print(&a, &a), "nor do some that are missing");
}

/* ---- processes -------------------------------------------------------- */

struct child {
	pid_t pid;
	int out_fd, in_fd; /* it says and hears one byte at a time */
};

/* A child that runs @f and then waits to be let go. */
static struct child start(void (*f)(int out_fd))
{
	struct child c = {.pid = -1};
	int out[2];
	int in[2];
	char byte;

	if (pipe(out) != 0 || pipe(in) != 0)
		abort();
	c.pid = fork();
	if (c.pid == 0) {
		close(out[0]);
		close(in[1]);
		if (f)
			f(out[1]);
		else if (write(out[1], "x", 1) != 1)
			_exit(1);
		if (read(in[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(out[1]);
	close(in[0]);
	c.out_fd = out[0];
	c.in_fd = in[1];
	if (!f && read(c.out_fd, &byte, 1) != 1)
		abort();
	return c;
}

static void finish(struct child *c)
{
	close(c->in_fd);
	close(c->out_fd);
	waitpid(c->pid, NULL, 0);
}

static struct lineage_print own_print(void)
{
	uint64_t auxv[64];
	size_t n = 64;
	struct lineage_print p = {0};

	if (procfs_auxv(getpid(), auxv, &n) == 0)
		lineage_print_of(auxv, n, &p);
	return p;
}

static void exec_as(struct lineage *l, pid_t pid, const char *path, const char *mark)
{
	struct facts_program p = {.path = path, .fixed = true, .argv_whole = true};
	struct lineage_exec exec = {.program = &p, .mark = mark, .print = own_print()};

	tap_is_int(lineage_exec(l, pid, &exec), 0, "an exec of %s is entered", path);
}

static void is_program(struct lineage *l, pid_t tid, pid_t want_tgid, const char *path, bool known,
                       const char *what)
{
	pid_t tgid = 0;
	const struct lineage_entry *e = lineage_of(l, tid, &tgid);
	struct facts f = {0};

	lineage_facts(e, &f);
	tap_is_str(f.by.path, path, "%s: program", what);
	tap_is_int(f.under_known, known, "%s: known or not", what);
	tap_is_int(tgid, want_tgid, "%s: process", what);
	lineage_put(l, e);
}

/* Forks a child of its own and says its number. */
static void fork_and_say(int out_fd)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			pause();
	}
	if (write(out_fd, &pid, sizeof pid) != sizeof pid)
		_exit(1);
}

static void *say_tid(void *fd)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);

	if (write(*(int *)fd, &tid, sizeof tid) != sizeof tid)
		_exit(1);
	for (;;)
		pause();
	return NULL;
}

static void thread_and_say(int out_fd)
{
	static int fd;
	pthread_t t;

	fd = out_fd;
	pthread_create(&t, NULL, say_tid, &fd);
}

static pid_t said(const struct child *c)
{
	pid_t pid = -1;

	if (read(c->out_fd, &pid, sizeof pid) != sizeof pid)
		abort();
	return pid;
}

static void test_forks(struct lineage *l)
{
	struct child a = start(NULL);
	struct child b;
	struct child t;
	pid_t grandchild;

	is_program(l, a.pid, a.pid, "/tool", true, "a forked child is what its parent is");
	exec_as(l, a.pid, "/other", NULL);
	is_program(l, a.pid, a.pid, "/other", true, "until it executes another");
	is_program(l, getpid(), getpid(), "/tool", true, "its parent stays what it was");
	finish(&a);

	b = start(fork_and_say);
	grandchild = said(&b);
	is_program(l, grandchild, grandchild, "/tool", true,
	           "a grandchild, its parent not seen yet");
	kill(grandchild, SIGKILL);
	finish(&b);

	t = start(thread_and_say);
	is_program(l, said(&t), t.pid, "/tool", true, "a thread is its process");
	finish(&t);
}

static void test_orphans(struct lineage *l)
{
	struct child c = start(fork_and_say);
	pid_t orphan = said(&c);

	finish(&c);
	/* Two images with one print have been entered: neither is certain. */
	is_program(l, orphan, orphan, NULL, false, "an orphan that two images claim");
	kill(orphan, SIGKILL);
}

static void test_orphan_of_one(void)
{
	struct lineage *l = NULL;
	struct child c;
	pid_t orphan;

	tap_is_int(lineage_new(&l), 0, "another lineage");
	exec_as(l, getpid(), "/only", NULL);
	c = start(fork_and_say);
	orphan = said(&c);
	finish(&c);
	is_program(l, orphan, orphan, "/only", false, "an orphan that one image claims");
	kill(orphan, SIGKILL);
	lineage_free(l);
}

static void test_gone(struct lineage *l)
{
	struct child c = start(NULL);
	pid_t pid = c.pid;
	const struct lineage_entry *e;

	is_program(l, pid, pid, "/tool", true, "a child");
	finish(&c);
	e = lineage_of(l, pid, NULL);
	tap_ok(e == NULL, "is nothing once it has gone");
	lineage_put(l, e);
}

/* Many that come and go are forgotten. */
static void test_many(struct lineage *l)
{
	bool good = true;

	for (int i = 0; i < 600; i++) {
		struct child c = start(NULL);
		const struct lineage_entry *e = lineage_of(l, c.pid, NULL);

		good = good && e && e->program.path && strcmp(e->program.path, "/tool") == 0;
		lineage_put(l, e);
		finish(&c);
	}
	tap_ok(good, "600 children, one after the other");
}

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void start_known(struct lineage *l, struct child *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		c[i] = start(NULL);
	for (size_t i = 0; i < n; i++)
		lineage_put(l, lineage_of(l, c[i].pid, NULL));
}

/* What ended ones left is let go of when the tree is calm, though too few have come for
 * a sweep; what lives stays. */
static void test_settle(struct lineage *l)
{
	struct child c[40];
	size_t n = sizeof c / sizeof c[0];
	int before;

	/* So many that what earlier tests left goes with them. */
	start_known(l, c, n);
	for (size_t i = n; i-- > 0;) /* a later one has earlier ones' pipes */
		finish(&c[i]);
	lineage_settle(l);
	before = open_descriptors();
	start_known(l, c, n);
	tap_is_int(open_descriptors() - before, 3 * (long)n, "40 children: a descriptor for each");
	for (size_t i = n; i-- > 1;)
		finish(&c[i]);
	tap_is_int(open_descriptors() - before, 2 + (long)n, "they are kept when those end");
	lineage_settle(l);
	tap_is_int(open_descriptors() - before, 3,
	           "until it is calm: then that of the one that lives is left");
	is_program(l, c[0].pid, c[0].pid, "/tool", true, "which is known still");
	finish(&c[0]);
}

static void test_tree(struct lineage *l)
{
	struct child c = start(fork_and_say);
	pid_t below = said(&c);

	tap_ok(lineage_in_tree(l, c.pid, getpid()), "a child is in the tree of its parent");
	tap_ok(lineage_in_tree(l, below, getpid()), "so is a grandchild");
	tap_ok(lineage_in_tree(l, below, c.pid), "also in that of its own parent");
	tap_ok(!lineage_in_tree(l, getpid(), c.pid), "a parent is not in its child's");
	tap_ok(!lineage_in_tree(l, 1, getpid()), "nor is init");
	tap_ok(!lineage_in_tree(l, 1 << 30, getpid()), "nor what does not exist");
	kill(below, SIGKILL);
	finish(&c);
}

int main(void)
{
	struct lineage *l = NULL;

	test_entries();
	test_prints();
	tap_is_int(lineage_new(&l), 0, "a lineage");
	tap_is_int(lineage_seed(l, getpid()), 0, "this process is its seed");
	exec_as(l, getpid(), "/tool", NULL);
	is_program(l, getpid(), getpid(), "/tool", true, "the first");
	test_forks(l);
	test_orphans(l);
	test_orphan_of_one();
	test_gone(l);
	test_many(l);
	test_settle(l);
	test_tree(l);
	lineage_free(l);
	return tap_done();
}
