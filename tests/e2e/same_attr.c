/* Attributes, lengths, times, extended attributes and the calls that only tell:
 * prints what each gives, so that a native and a supervised run can be
 * compared.  Runs in an empty folder of its own.
 * rows: chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat truncate
 * rows: utime utimes futimesat utimensat setxattr lsetxattr fsetxattr
 * rows: removexattr lremovexattr fremovexattr getxattr lgetxattr listxattr
 * rows: llistxattr stat lstat newfstatat statx access faccessat faccessat2
 * rows: statfs inotify_add_watch */
#include "tests/lib/say.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static int chmod2(int folder, const char *name, mode_t mode, int flags)
{
	return (int)syscall(SYS_fchmodat2, folder, name, mode, flags);
}

static void modes(int fd, int path)
{
	say("chmod", chmod("f", 0604));
	say("chmod of a link's file", chmod("to-f", 04711));
	say_what("f");
	say("chmod of nothing there", chmod("none", 0600));
	say("chmod of a dangling link", chmod("dangles", 0600));
	say("fchmod", fchmod(fd, 0640));
	say("fchmod of O_PATH", fchmod(path, 0600));
	say("fchmod of nothing", fchmod(99, 0600));
	say("fchmodat2", chmod2(AT_FDCWD, "f", 0644, 0));
	say("fchmodat2 of a link itself", chmod2(AT_FDCWD, "to-f", 0600, AT_SYMLINK_NOFOLLOW));
	say("fchmodat2 of a file, not following", chmod2(AT_FDCWD, "f", 0600, AT_SYMLINK_NOFOLLOW));
	say("fchmodat2 of a descriptor", chmod2(path, "", 0644, AT_EMPTY_PATH));
	say("fchmodat2 of the folder", chmod2(AT_FDCWD, "", 0755, AT_EMPTY_PATH));
	say("fchmodat2 with an unknown flag", chmod2(AT_FDCWD, "f", 0600, 1));
	say("fchmodat2 of an empty name", chmod2(AT_FDCWD, "", 0600, 0));
	say_what("f");
}

static void owners(int fd, int path)
{
	uid_t uid = getuid();
	gid_t gid = getgid();

	say("chown", chown("f", uid, gid));
	say("lchown of a link", lchown("to-f", uid, gid));
	say("chown that changes nothing", chown("f", (uid_t)-1, (gid_t)-1));
	say("chown of nothing there", chown("none", uid, gid));
	say("fchown", fchown(fd, uid, gid));
	say("fchown of O_PATH", fchown(path, uid, gid));
	say("fchownat of a descriptor", fchownat(path, "", uid, gid, AT_EMPTY_PATH));
	say("fchownat of a link", fchownat(AT_FDCWD, "to-f", uid, gid, AT_SYMLINK_NOFOLLOW));
	say("fchownat with an unknown flag", fchownat(AT_FDCWD, "f", uid, gid, 1));
	chmod("f", 06755);
	say("chown takes the set-id bits", chown("f", uid, gid));
	say_what("f");
	chmod("f", 0644);
}

static void lengths(void)
{
	say("truncate", truncate("f", 100));
	say_what("f");
	say("truncate of a link's file", truncate("to-f", 10));
	say("truncate of a folder", truncate(".", 1));
	say("truncate below zero", truncate("f", -1));
	say("truncate of nothing there", truncate("none", 0));
	say("truncate of a fifo", truncate("fifo", 0));
	say("truncate of a bad address", truncate(bad_address(), 0));
	say_what("f");
}

static void say_times(const char *name)
{
	struct stat st = {0};

	lstat(name, &st);
	printf("%-48s read %lld.%09ld changed %lld.%09ld\n", name, (long long)st.st_atim.tv_sec,
	       st.st_atim.tv_nsec, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

static void times(int fd, int path)
{
	const struct timespec both[2] = {{1, 2}, {3, 4}};
	const struct timespec one[2] = {{.tv_nsec = UTIME_OMIT}, {5, 6}};
	const struct timespec none[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_OMIT}};
	const struct timespec bad[2] = {{1, 2000000000}, {3, 4}};
	const struct timeval old[2] = {{7, 8}, {9, 10}};
	const struct timeval old_bad[2] = {{7, 1000000}, {9, 10}};

	say("utimensat", utimensat(AT_FDCWD, "f", both, 0));
	say_times("f");
	say("one of them", utimensat(AT_FDCWD, "f", one, 0));
	say_times("f");
	say("none of them", utimensat(AT_FDCWD, "none", none, 0));
	say("a bad time", utimensat(AT_FDCWD, "f", bad, 0));
	say("a link's own", utimensat(AT_FDCWD, "dangles", both, AT_SYMLINK_NOFOLLOW));
	say_times("dangles");
	say("a dangling link's file", utimensat(AT_FDCWD, "dangles", both, 0));
	say("an unknown flag", utimensat(AT_FDCWD, "f", both, 1));
	say("futimens", futimens(fd, both));
	say("futimens of O_PATH", futimens(path, both));
	say("futimens of nothing", futimens(99, both));
	say("by a descriptor", utimensat(path, "", one, AT_EMPTY_PATH));
	say("from a bad address", utimensat(AT_FDCWD, "f", bad_address(), 0));
	say("utimes", utimes("f", old));
	say_times("f");
	say("utimes with a bad time", utimes("f", old_bad));
	say("futimesat", futimesat(AT_FDCWD, "f", old));
	say("utime", utime("f", &(struct utimbuf){11, 12}));
	say_times("f");
	say("utime to the present", utime("f", NULL));
	say("utimes of nothing there", utimes("none", old));
}

static void attributes(int fd, int path)
{
	char out[64] = "";

	say("setxattr", setxattr("f", "user.k", "value", 5, 0));
	say("setxattr again, new only", setxattr("f", "user.k", "v", 1, XATTR_CREATE));
	say("setxattr of what is not there", setxattr("f", "user.n", "v", 1, XATTR_REPLACE));
	say("setxattr with an unknown flag", setxattr("f", "user.k", "v", 1, 8));
	say("setxattr without a name", setxattr("f", "", "v", 1, 0));
	say("setxattr of another kind", setxattr("f", "nonsense", "v", 1, 0));
	say("setxattr, far too large", setxattr("f", "user.k", constant(), 1 << 20, 0));
	say("setxattr from a bad address", setxattr("f", "user.k", bad_address(), 4, 0));
	say("lsetxattr of a link", lsetxattr("to-f", "user.k", "v", 1, 0));
	say("fsetxattr", fsetxattr(fd, "user.f", "x", 1, 0));
	say("fsetxattr of O_PATH", fsetxattr(path, "user.f", "x", 1, 0));
	say_number("getxattr", getxattr("f", "user.k", out, sizeof out));
	printf("%-48s %.5s\n", "its value", out);
	say_number("getxattr, its size", getxattr("f", "user.k", NULL, 0));
	say_number("getxattr into little", getxattr("f", "user.k", out, 2));
	say_number("getxattr of what is not there", getxattr("f", "user.n", out, sizeof out));
	say_number("getxattr through a link", getxattr("to-f", "user.k", out, sizeof out));
	say_number("lgetxattr of a link", lgetxattr("to-f", "user.k", out, sizeof out));
	say_number("getxattr into a bad address", getxattr("f", "user.k", bad_address(), 64));
	say_number("getxattr into what is read-only", getxattr("f", "user.k", constant(), 5));
	say_number("listxattr", listxattr("f", out, sizeof out));
	say_number("listxattr, its size", listxattr("f", NULL, 0));
	say_number("listxattr of a link", llistxattr("to-f", out, sizeof out));
	say_number("listxattr into little", listxattr("f", out, 1));
	say("removexattr", removexattr("f", "user.k"));
	say("removexattr again", removexattr("f", "user.k"));
	say("fremovexattr", fremovexattr(fd, "user.f"));
	say("lremovexattr of a link", lremovexattr("to-f", "user.k"));
}

static void nameless(void)
{
	int memory = memfd_create("m", 0);
	int ends[2];

	if (pipe(ends) != 0)
		return;
	say("fchmod of a memfd", fchmod(memory, 0600));
	say("fchmod of a pipe", fchmod(ends[0], 0600));
	say("futimens of a pipe", futimens(ends[1], NULL));
	say("fchown of a memfd", fchown(memory, getuid(), getgid()));
	say("fsetxattr of a memfd", fsetxattr(memory, "user.x", "1", 1, 0));
	close(memory);
	close(ends[0]);
	close(ends[1]);
}

static void told(int path)
{
	struct stat st;
	struct statx sx;
	struct statfs fs;

	say("stat", stat("f", &st));
	say("stat of nothing there", stat("none", &st));
	say("stat of a dangling link", stat("dangles", &st));
	say("lstat of it", lstat("dangles", &st));
	say("stat with a slash", stat("f/", &st));
	say("stat into what is read-only", stat("f", constant()));
	say("stat into a bad address", stat("f", bad_address()));
	say("stat of a descriptor", fstatat(path, "", &st, AT_EMPTY_PATH));
	say("stat of an empty name", stat("", &st));
	say("stat with an unknown flag", fstatat(AT_FDCWD, "f", &st, 1));
	say("statx", statx(AT_FDCWD, "f", 0, STATX_BASIC_STATS, &sx));
	printf("%-48s %o %llu\n", "what it says", sx.stx_mode, (unsigned long long)sx.stx_size);
	say("statx of a descriptor", statx(path, "", AT_EMPTY_PATH, STATX_MODE, &sx));
	say("statx with a reserved bit", statx(AT_FDCWD, "f", 0, STATX__RESERVED, &sx));
	say("access for reading", access("f", R_OK));
	say("access of nothing there", access("none", F_OK));
	say("access with unknown bits", access("f", 8));
	say("access for running a file", access("f", X_OK));
	say("faccessat by effective ids", faccessat(AT_FDCWD, "f", W_OK, AT_EACCESS));
	say("access of a folder", access(".", W_OK | X_OK));
	say("statfs", statfs(".", &fs));
	say("statfs of nothing there", statfs("none", &fs));
	say("statfs into what is read-only", statfs(".", constant()));
	say("statx of a bad address", statx(AT_FDCWD, bad_address(), 0, STATX_MODE, &sx));
}

static void watches(void)
{
	int in = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char event[512];

	say_number("watch", inotify_add_watch(in, ".", IN_CREATE));
	make_file("new", 0600);
	say("an event came", read(in, event, sizeof event) > 0 ? 0 : -1);
	say_number("watch the same again", inotify_add_watch(in, ".", IN_DELETE));
	say_number("watch a file", inotify_add_watch(in, "f", IN_MODIFY));
	say_number("a file as a folder", inotify_add_watch(in, "f", IN_MODIFY | IN_ONLYDIR));
	say_number("a link itself", inotify_add_watch(in, "to-f", IN_ATTRIB | IN_DONT_FOLLOW));
	say_number("nothing there", inotify_add_watch(in, "none", IN_MODIFY));
	say_number("without a mask", inotify_add_watch(in, ".", 0));
	say_number("with what is no inotify", inotify_add_watch(0, ".", IN_CREATE));
	say_number("with nothing", inotify_add_watch(99, ".", IN_CREATE));
	close(in);
}

int main(void)
{
	int fd;
	int path;

	setvbuf(stdout, NULL, _IOLBF, 0);
	make_text("f", "some text");
	symlink("f", "to-f");
	symlink("none", "dangles");
	mkfifo("fifo", 0600);
	fd = open("f", O_RDONLY);
	path = open("f", O_PATH);
	modes(fd, path);
	owners(fd, path);
	lengths();
	times(fd, path);
	attributes(fd, path);
	nameless();
	told(path);
	watches();
	return 0;
}
