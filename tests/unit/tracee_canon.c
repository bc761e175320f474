/* tracee/canon: the names of objects, also of those that have none. */
#include "base/own.h"
#include "tests/unit/tap.h"
#include "tracee/canon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAME_BYTES 8192

static int self_dir;
static char top[PATH_MAX];

static void check_join(void)
{
	char out[32] = "/a";

	tap_is_int(canon_join(out, sizeof out, "b//./c/"), 0, "joined");
	tap_is_str(out, "/a/b/c", "without what says nothing");
	memcpy(out, "/", 2);
	tap_is_int(canon_join(out, sizeof out, "x"), 0, "joined to the root");
	tap_is_str(out, "/x", "with one slash");
	tap_is_int(canon_join(out, sizeof out, "y/../z"), -EINVAL, "a way up is not joined");
	tap_is_str(out, "/x/y", "what stands before it is");
	tap_is_int(canon_join(out, 8, "abcdefgh"), -ENAMETOOLONG, "the bound holds");
	memcpy(out, "/", 2);
	tap_is_int(canon_join(out, sizeof out, "./"), 0, "nothing joined to the root");
	tap_is_str(out, "/", "is the root");
}

static void check_pid(void)
{
	const char *below = NULL;

	tap_is_int(canon_proc_pid("/proc/12/fd", &below), 12, "a process's folder");
	tap_is_str(below, "/fd", "what is below it");
	tap_is_int(canon_proc_pid("/proc/12", &below), 12, "the folder itself");
	tap_is_int(canon_proc_pid("/proc/12x", &below), 0, "no number");
	tap_is_int(canon_proc_pid("/proc/012", &below), 0, "no number of the kernel's");
	tap_is_int(canon_proc_pid("/proc/99999999999", &below), 0, "too great a number");
	tap_is_int(canon_proc_pid("/procs/1", &below), 0, "another folder");
	tap_is_int(canon_proc_pid("/proc/self", &below), 0, "a link");
}

static const char *name_of(int fd, bool *unnamed)
{
	static char out[NAME_BYTES];
	struct stat st;
	int err = fstat(fd, &st) == 0 ? canon_of_fd(self_dir, fd, &st, out, sizeof out, unnamed)
	                              : -errno;

	if (err != 0)
		snprintf(out, sizeof out, "error %d", err);
	return out;
}

static void is_named(int fd, const char *want, const char *what)
{
	char full[PATH_MAX + 32];
	bool unnamed = true;
	const char *got = name_of(fd, &unnamed);

	snprintf(full, sizeof full, "%s/%s", top, want);
	tap_is_str(got, full, "%s", what);
	tap_ok(!unnamed, "%s has a name", what);
}

static int make(const char *name)
{
	return open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
}

static void check_deleted(void)
{
	auto_fd gone = make("gone");
	auto_fd real = make("real (deleted)");
	auto_fd folder = -1;

	is_named(gone, "gone", "a file");
	unlink("gone");
	is_named(gone, "gone", "a deleted file keeps the name it had");
	close(make("gone (deleted)"));
	is_named(gone, "gone", "also where another is called like the kernel's text for it");
	is_named(real, "real (deleted)", "a file that is really called so");
	mkdir("dir", 0700);
	folder = open("dir", O_PATH | O_CLOEXEC);
	rmdir("dir");
	is_named(folder, "dir", "a deleted folder");
	unlink("gone (deleted)");
	unlink("real (deleted)");
}

static void check_unnamed(void)
{
	auto_fd memory = memfd_create("x", MFD_CLOEXEC);
	int ends[2];
	bool unnamed = false;

	tap_is_int(pipe2(ends, O_CLOEXEC), 0, "a pipe");
	tap_ok(strncmp(name_of(ends[0], &unnamed), "pipe:[", 6) == 0 && unnamed,
	       "a pipe has no name");
	(void)name_of(memory, &unnamed);
	tap_ok(unnamed, "a memfd has no name");
	close(ends[0]);
	close(ends[1]);
}

/* Deeper than the kernel can print. */
static void check_deep(void)
{
	char name[201];
	char want[NAME_BYTES];
	auto_fd here = open(".", O_PATH | O_CLOEXEC);
	bool unnamed = true;
	size_t len;

	memset(name, 'd', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	len = (size_t)snprintf(want, sizeof want, "%s", top);
	for (int i = 0; i < 30; i++) {
		int next;

		mkdirat(here, name, 0700);
		next = openat(here, name, O_PATH | O_CLOEXEC);
		fd_drop(&here);
		here = next;
		len += (size_t)snprintf(want + len, sizeof want - len, "/%s", name);
	}
	tap_is_str(name_of(here, &unnamed), want, "a folder deeper than a page of text");
	for (int i = 0; i < 30; i++) {
		int up = openat(here, "..", O_PATH | O_CLOEXEC);

		unlinkat(up, name, AT_REMOVEDIR);
		fd_drop(&here);
		here = up;
	}
}

int main(void)
{
	char dir[] = "/tmp/wary-canon-XXXXXX";

	self_dir = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	check_join();
	check_pid();
	tap_ok(mkdtemp(dir) && chdir(dir) == 0 && getcwd(top, sizeof top), "a scratch folder");
	check_deleted();
	check_unnamed();
	check_deep();
	tap_is_int(rmdir(dir), 0, "nothing is left");
	return tap_done();
}
