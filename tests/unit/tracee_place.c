/* tracee/place: names resolved as the kernel resolves them, through a caller's
 * eyes.  Where the eyes make no difference the kernel itself is asked. */
#include "base/own.h"
#include "tests/unit/tap.h"
#include "tracee/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char top[PATH_MAX];
static int top_fd;
static pid_t outside; /* a process that is not the tree's */
static struct place place;

static bool in_tree(void *ctx, pid_t pid)
{
	(void)ctx;
	return pid != outside && pid != getppid();
}

static struct place_env env_of(pid_t tid)
{
	struct stat st = {0};

	(void)stat("/proc", &st);
	return (struct place_env){
		.tid = tid,
		.fsuid = geteuid(),
		.root_fd = open("/", O_PATH | O_CLOEXEC),
		.self_fd_dir = open("/proc/self/fd", O_PATH | O_CLOEXEC),
		.proc_dev = st.st_dev,
		.in_tree = in_tree,
	};
}

static void env_done(struct place_env *env)
{
	close(env->root_fd);
	close(env->self_fd_dir);
}

/* Resolves into the static place; the caller is @tid. */
static const struct place *resolve(pid_t tid, const char *text, unsigned flags, uint64_t how)
{
	struct place_env env = env_of(tid);

	place_done(&place);
	place_init(&place);
	snprintf(place.text, sizeof place.text, "%s", text);
	place.base_fd = fcntl(top_fd, F_DUPFD_CLOEXEC, 0);
	place_resolve(&place, &env, flags, how);
	env_done(&env);
	return &place;
}

static const char *below_top(const struct place *p)
{
	size_t n = strlen(top);

	return strncmp(p->canon, top, n) == 0 ? p->canon + n : p->canon;
}

static void make(const char *name, mode_t mode)
{
	int fd = openat(top_fd, name, O_CREAT | O_WRONLY | O_CLOEXEC, mode);

	if (fd >= 0)
		close(fd);
}

static void make_tree(void)
{
	mkdirat(top_fd, "a", 0755);
	mkdirat(top_fd, "a/b", 0755);
	make("a/b/file", 0644);
	make("file", 0644);
	symlinkat("a/b", top_fd, "to-folder");
	symlinkat("file", top_fd, "to-file");
	symlinkat("to-file", top_fd, "to-link");
	symlinkat("nowhere", top_fd, "dangles");
	symlinkat("a/none/x", top_fd, "dangles-far");
	symlinkat("loop2", top_fd, "loop1");
	symlinkat("loop1", top_fd, "loop2");
	symlinkat("..", top_fd, "a/up");
	symlinkat("/", top_fd, "to-root");
	symlinkat("../../../../../../../../../../etc", top_fd, "a/b/out");
}

static void clean_tree(void)
{
	static const char *const names[] = {"a/b/file",    "a/b/out", "a/up",    "file",
	                                    "to-folder",   "to-file", "to-link", "dangles",
	                                    "dangles-far", "loop1",   "loop2",   "to-root"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		unlinkat(top_fd, names[i], 0);
	unlinkat(top_fd, "a/b", AT_REMOVEDIR);
	unlinkat(top_fd, "a", AT_REMOVEDIR);
	rmdir(top);
}

/* ---- the kernel as the judge ------------------------------------------ */

static const char *const texts[] = {
	"file",
	"./file",
	"a//b/./file",
	"a/b/../b/file",
	"to-file",
	"to-link",
	"to-folder",
	"to-folder/",
	"to-folder/file",
	"to-folder/../b",
	"to-file/",
	"file/",
	"file/x",
	"none",
	"none/x",
	"dangles",
	"dangles/",
	"dangles-far",
	"loop1",
	"loop1/x",
	"a/up/file",
	"a/up/a/up",
	"to-root",
	"to-root/etc",
	"a/b/out",
	"a/b/out/..",
	".",
	"..",
	"a/.",
	"a/..",
	"/",
	"//",
	"/..",
	"/etc/../etc",
	"/no-such/../etc",
	"a/b/none/..",
	"../",
	"to-folder/../../",
};

static const uint64_t ways[] = {
	0,
	RESOLVE_NO_SYMLINKS,
	RESOLVE_BENEATH,
	RESOLVE_IN_ROOT,
	RESOLVE_NO_XDEV,
	RESOLVE_NO_MAGICLINKS,
};

static void compare(const char *text, unsigned flags, uint64_t how)
{
	struct open_how kernel = {
		.flags = O_PATH | O_CLOEXEC | (flags & PLACE_FOLLOW ? 0 : O_NOFOLLOW) |
	                 (flags & PLACE_DIR ? O_DIRECTORY : 0),
		.resolve = how,
	};
	auto_fd fd = (int)syscall(SYS_openat2, top_fd, text, &kernel, sizeof kernel);
	int want = fd < 0 ? -errno : 0;
	const struct place *p = resolve(getpid(), text, flags, how);
	struct stat st;
	bool same = p->error == want;

	if (same && want == 0)
		same = fstat(fd, &st) == 0 && st.st_dev == p->st.st_dev &&
		       st.st_ino == p->st.st_ino;
	if (!same)
		tap_note("kernel %d, here %d", want, p->error);
	tap_ok(same, "\"%s\" flags %u resolve %#llx", text, flags, (unsigned long long)how);
}

static void check_against_kernel(void)
{
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
			compare(texts[i], 0, ways[w]);
			compare(texts[i], PLACE_FOLLOW, ways[w]);
			compare(texts[i], PLACE_FOLLOW | PLACE_DIR, ways[w]);
		}
	}
}

/* ---- names ------------------------------------------------------------- */

static void check_names(void)
{
	static const struct {
		const char *text;
		unsigned flags;
		int error;
		const char *canon;
		const char *name; /* with PLACE_PARENT */
	} rows[] = {
		{"to-folder/file", PLACE_FOLLOW, 0, "/a/b/file", NULL},
		{"a/../file", 0, 0, "/file", NULL},
		{"to-file", 0, 0, "/to-file", NULL},
		{"none/x/y", 0, -ENOENT, "/none/x/y", NULL},
		{"to-folder/none//x", 0, -ENOENT, "/a/b/none/x", NULL},
		{"a/none/../../file", 0, -ENOENT, "/a/none", NULL},
		{"new", PLACE_PARENT, -ENOENT, "/new", "new"},
		{"to-folder/new", PLACE_PARENT, -ENOENT, "/a/b/new", "new"},
		{"dangles", PLACE_PARENT | PLACE_FOLLOW, -ENOENT, "/nowhere", "nowhere"},
		{"dangles", PLACE_PARENT, 0, "/dangles", "dangles"},
		{"dangles-far", PLACE_PARENT | PLACE_FOLLOW, -ENOENT, "/a/none/x", NULL},
		{"to-link", PLACE_PARENT | PLACE_FOLLOW, 0, "/file", "file"},
		{"a/b/", PLACE_PARENT, 0, "/a/b", "b"},
		{"to-folder/", PLACE_PARENT, 0, "/to-folder", "to-folder"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct place *p = resolve(getpid(), rows[i].text, rows[i].flags, 0);

		tap_is_int(p->error, rows[i].error, "\"%s\": error", rows[i].text);
		tap_is_str(below_top(p), rows[i].canon, "\"%s\": name", rows[i].text);
		if (rows[i].flags & PLACE_PARENT)
			tap_is_str(p->parent_fd >= 0 ? p->name : NULL, rows[i].name,
			           "\"%s\": last name", rows[i].text);
	}
	tap_ok(resolve(getpid(), "a/b/", PLACE_PARENT, 0)->slash, "a slash at the end is seen");
}

static void check_links(void)
{
	const struct place *p = resolve(getpid(), "to-link", PLACE_FOLLOW, 0);

	tap_is_int(p->links_n, 2, "two links were followed");
	tap_ok(p->links_n == 2 && strcmp(p->links[0] + strlen(top), "/to-link") == 0 &&
	               strcmp(p->links[1] + strlen(top), "/to-file") == 0,
	       "each under its own name");
	p = resolve(getpid(), "to-link", 0, 0);
	tap_is_int(p->links_n, 0, "a link that is the object was not followed");
	p = resolve(getpid(), "", 0, 0);
	tap_is_int(p->error, -ENOENT, "an empty name");
	p = resolve(getpid(), "", PLACE_EMPTY, 0);
	tap_is_str(p->canon, top, "an empty name that means the base");
}

/* ---- procfs ------------------------------------------------------------ */

/* A process that waits to be killed, in the scratch folder, with a file as 99. */
static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		int fd = open("a/b/file", O_RDONLY | O_CLOEXEC);

		(void)dup2(fd, 99);
		for (;;)
			pause();
	}
	return pid;
}

static void wait_for_descriptor(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%d/fd/99", (int)pid);
	while (stat(path, &st) != 0)
		usleep(1000);
}

/* @below: what follows the caller's folder; @thread: of its thread's own. */
static void is_called(pid_t tid, const char *text, const char *below, bool thread)
{
	const struct place *p = resolve(tid, text, PLACE_FOLLOW, 0);
	char want[PATH_MAX];

	if (thread)
		snprintf(want, sizeof want, "/proc/%d/task/%d%s", (int)tid, (int)tid, below);
	else
		snprintf(want, sizeof want, "/proc/%d%s", (int)tid, below);
	tap_is_int(p->error, 0, "%s is there", text);
	tap_is_str(p->canon, want, "%s is the caller's", text);
	tap_ok(p->proc_own, "%s belongs to the caller", text);
}

static void check_self(pid_t child)
{
	const struct place *p;

	is_called(child, "/proc/self/status", "/status", false);
	is_called(child, "/proc/self", "", false);
	is_called(child, "/proc/self/../self/stat", "/stat", false);
	is_called(child, "/proc/thread-self/comm", "/comm", true);
	is_called(child, "/proc/net/dev", "/net/dev", false);
	p = resolve(child, "/proc/self/fd/99", PLACE_FOLLOW, 0);
	tap_is_str(below_top(p), "/a/b/file", "/proc/self/fd/99 is the caller's file");
	tap_ok(p->proc_own && p->proc_fd == 99 && p->proc_pid == child, "known by its number");
	p = resolve(child, "/dev/fd/99", PLACE_FOLLOW, 0);
	tap_is_str(below_top(p), "/a/b/file", "/dev/fd/99 as well");
	p = resolve(child, "/proc/self/cwd/file", PLACE_FOLLOW, 0);
	tap_is_str(below_top(p), "/file", "/proc/self/cwd is the caller's folder");
	p = resolve(child, "/proc/self/root/etc", PLACE_FOLLOW, 0);
	tap_is_str(p->canon, "/etc", "/proc/self/root is the root");
	p = resolve(child, "/proc/self/fd/99", PLACE_FOLLOW, RESOLVE_NO_MAGICLINKS);
	tap_is_int(p->error, -ELOOP, "a magic link can be refused");
	p = resolve(child, "/proc/self/fd/777", PLACE_FOLLOW, 0);
	tap_is_int(p->error, -ENOENT, "a number that is not open");
}

static void check_outside(pid_t child)
{
	static const char *const below[] = {"environ", "fd", "cwd/file", "root/etc", "task", "mem"};
	char text[64];

	outside = child;
	for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
		const struct place *p;

		snprintf(text, sizeof text, "/proc/%d/%s", (int)child, below[i]);
		p = resolve(getpid(), text, PLACE_FOLLOW, 0);
		tap_ok(p->outside && p->error != 0, "%s of a process outside is refused", below[i]);
	}
	snprintf(text, sizeof text, "/proc/%d", (int)child);
	tap_ok(resolve(getpid(), text, PLACE_FOLLOW, 0)->outside, "its folder too");
	outside = 0;
	snprintf(text, sizeof text, "/proc/%d/status", (int)child);
	tap_ok(resolve(getpid(), text, PLACE_FOLLOW, 0)->error == 0 && !place.proc_own,
	       "one of the tree's is another's, and may be seen");
}

static void check_unnamed(void)
{
	int ends[2];
	char text[64];
	const struct place *p;

	tap_is_int(pipe2(ends, O_CLOEXEC), 0, "a pipe");
	snprintf(text, sizeof text, "/proc/self/fd/%d", ends[0]);
	p = resolve(getpid(), text, PLACE_FOLLOW, 0);
	tap_ok(p->error == 0 && p->unnamed && p->proc_fd == ends[0], "has no name but a number");
	close(ends[0]);
	close(ends[1]);
}

/* fs.protected_symlinks, as the kernel applies it where it is on. */
static void check_sticky(void)
{
	struct place_env env = env_of(getpid());

	if (geteuid() != 0) {
		tap_skip("links of others need root");
		env_done(&env);
		return;
	}
	mkdirat(top_fd, "sticky", 0755);
	fchmodat(top_fd, "sticky", 01777, 0);
	symlinkat("../file", top_fd, "sticky/theirs");
	fchownat(top_fd, "sticky/theirs", 1234, 1234, AT_SYMLINK_NOFOLLOW);
	env.protected_links = true;
	place_done(&place);
	place_init(&place);
	snprintf(place.text, sizeof place.text, "sticky/theirs");
	place.base_fd = fcntl(top_fd, F_DUPFD_CLOEXEC, 0);
	place_resolve(&place, &env, PLACE_FOLLOW, 0);
	tap_is_int(place.error, -EACCES, "another's link in a sticky folder is not followed");
	fchownat(top_fd, "sticky/theirs", geteuid(), getegid(), AT_SYMLINK_NOFOLLOW);
	place_done(&place);
	place_init(&place);
	snprintf(place.text, sizeof place.text, "sticky/theirs");
	place.base_fd = fcntl(top_fd, F_DUPFD_CLOEXEC, 0);
	place_resolve(&place, &env, PLACE_FOLLOW, 0);
	tap_is_int(place.error, 0, "one's own is");
	env_done(&env);
	unlinkat(top_fd, "sticky/theirs", 0);
	unlinkat(top_fd, "sticky", AT_REMOVEDIR);
}

static void check_texts(void)
{
	tap_ok(place_text_is_canonical("/a/b") && place_text_is_canonical("/"), "canonical");
	tap_ok(!place_text_is_canonical("/a/") && !place_text_is_canonical("//a") &&
	               !place_text_is_canonical("/a/../b") && !place_text_is_canonical("/a/.") &&
	               !place_text_is_canonical("a") && !place_text_is_canonical(""),
	       "not canonical");
	tap_ok(place_text_is_plain("a/b") && place_text_is_plain("..a") &&
	               !place_text_is_plain("../a") && !place_text_is_plain("a//b") &&
	               !place_text_is_plain("/a") && !place_text_is_plain(""),
	       "plain relative names");
}

int main(void)
{
	char dir[] = "/tmp/wary-place-XXXXXX";
	pid_t child;

	place_init(&place);
	tap_ok(mkdtemp(dir) && chdir(dir) == 0 && getcwd(top, sizeof top), "a scratch folder");
	top_fd = open(".", O_PATH | O_CLOEXEC);
	make_tree();
	check_texts();
	check_against_kernel();
	check_names();
	check_links();
	check_unnamed();
	check_sticky();
	child = sleeper();
	wait_for_descriptor(child);
	check_self(child);
	check_outside(child);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	place_done(&place);
	clean_tree();
	return tap_done();
}
