/* Names made, moved and removed: prints what each call gives, so that a native
 * and a supervised run can be compared.  Runs in an empty folder of its own.
 * rows: unlink unlinkat rmdir mkdir mkdirat mknod mknodat symlink symlinkat
 * rows: rename renameat renameat2 link linkat readlink readlinkat */
#include "tests/lib/say.h"

#include <linux/fs.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

static int rename2(const char *from, const char *to, unsigned flags)
{
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}

static void folders(void)
{
	umask(027);
	say("mkdir", mkdir("d", 0777));
	say_what("d");
	say("mkdir again", mkdir("d", 0777));
	say("mkdir with bits", mkdir("bits", 06777));
	say_what("bits");
	say("mkdir with a slash", mkdir("slash/", 0777));
	say("mkdir ..", mkdir("d/..", 0777));
	say("mkdir .", mkdir(".", 0777));
	say("mkdir /", mkdir("/", 0777));
	say("mkdir below nothing", mkdir("none/d", 0777));
	say("mkdir of nothing", mkdir("", 0777));
	symlink("nowhere", "dangles");
	say("mkdir on a link", mkdir("dangles", 0777));
	say("mkdir on a link with a slash", mkdir("dangles/", 0777));
	say("rmdir .", rmdir("d/."));
	say("rmdir ..", rmdir("d/.."));
	say("rmdir /", rmdir("/"));
	say("rmdir with a slash", rmdir("slash/"));
	say("rmdir of a link", rmdir("dangles"));
	say("mkdir in it", mkdir("d/in", 0700));
	say("rmdir of what is not empty", rmdir("d"));
	say("rmdir of what is not there", rmdir("none"));
	make_file("f", 0644);
	say("rmdir of a file", rmdir("f"));
	umask(022);
}

static void removal(void)
{
	say("unlink of a folder", unlink("d"));
	say("unlink of a link with a slash", unlink("dangles/"));
	say("unlink of a file with a slash", unlink("f/"));
	say("unlink /", unlink("/"));
	say("unlink .", unlink("."));
	say("unlink of what is not there", unlink("none"));
	say("unlink below a file", unlink("f/x"));
	say("unlink of nothing", unlink(""));
	say("unlinkat of a folder", unlinkat(AT_FDCWD, "d/in", AT_REMOVEDIR));
	say("unlinkat of a file as a folder", unlinkat(AT_FDCWD, "f", AT_REMOVEDIR));
	say("unlinkat with an unknown flag", unlinkat(AT_FDCWD, "f", 0x10000));
	say("unlinkat by a file", unlinkat(0, "f", 0));
	say("unlink of a link", unlink("dangles"));
	say("unlink", unlink("f"));
	say("unlink of a bad address", (int)syscall(SYS_unlinkat, AT_FDCWD, 8, 0));
}

static void nodes(void)
{
	umask(0);
	say("mkfifo", mkfifo("fifo", 0622));
	say_what("fifo");
	say("mknod of a file", mknod("node", S_IFREG | 0640, 0));
	say_what("node");
	say("mknod without a type", mknod("node2", 0600, 0));
	say_what("node2");
	say("mknod of a socket", mknod("socket", S_IFSOCK | 0600, 0));
	say_what("socket");
	say("mknod of a folder", mknod("nodedir", S_IFDIR | 0700, 0));
	say("mknod of an unknown type", mknod("nodex", 0170000 | 0600, 0));
	say("mknod again", mknod("node", S_IFREG | 0640, 0));
	say("mknod with a slash", mknod("nodes/", S_IFREG | 0640, 0));
	say("mknod below nothing", mknod("none/x", S_IFREG | 0600, 0));
	umask(022);
	unlink("fifo");
	unlink("node2");
	unlink("socket");
}

static void symlinks(void)
{
	char text[5000];
	char back[5000] = "";

	say("symlink", symlink("any text at all", "s"));
	say_what("s");
	say("symlink again", symlink("x", "s"));
	say("symlink to nothing", symlink("", "s2"));
	say("symlink as nothing", symlink("x", ""));
	say("symlink with a slash", symlink("x", "s3/"));
	say("symlink on a folder", symlink("x", "d"));
	memset(text, 'x', sizeof text);
	text[4095] = '\0';
	say("symlink to the longest text", symlink(text, "long"));
	say_number("read back", readlink("long", back, sizeof back));
	text[4095] = 'x';
	text[4096] = '\0';
	say("symlink to one byte more", symlink(text, "longer"));
	say("symlink from a bad address", (int)syscall(SYS_symlinkat, 8, AT_FDCWD, "s4"));
	say_number("readlink", readlink("s", back, sizeof back));
	say_number("readlink into little", readlink("s", back, 3));
	say_number("readlink into nothing", readlink("s", back, 0));
	say_number("readlink of a file", readlink("node", back, sizeof back));
	say_number("readlink of nothing", readlink("", back, sizeof back));
	say_number("readlink into a bad address", readlink("s", bad_address(), 100));
	say_number("readlink into what is read-only", readlink("s", constant(), 4));
	unlink("s");
	unlink("long");
}

static void hard_links(void)
{
	make_text("one", "1");
	symlink("one", "sym");
	say("link", link("one", "two"));
	say_what("two");
	say("link again", link("one", "two"));
	say("link of a folder", link("d", "d2"));
	say("link of a link", link("sym", "sym2"));
	say_what("sym2");
	say("linkat that follows", linkat(AT_FDCWD, "sym", AT_FDCWD, "three", AT_SYMLINK_FOLLOW));
	say_what("three");
	say("link of what is not there", link("none", "x"));
	say("link into nowhere", link("one", "none/x"));
	say("link with a slash", link("one", "four/"));
	say("linkat with an unknown flag", linkat(AT_FDCWD, "one", AT_FDCWD, "x", 1));
	say("link to another file system", link("one", "/dev/shm/wary-test-link"));
	say("link of procfs", link("/proc/self/status", "x"));
	unlink("two");
	unlink("three");
	unlink("sym2");
}

static void renames(void)
{
	mkdir("r", 0755);
	mkdir("r/full", 0755);
	make_text("r/full/x", "x");
	mkdir("r/empty", 0755);
	make_text("r/a", "a");
	make_text("r/b", "bb");
	say("rename", rename("r/a", "r/c"));
	say("rename onto a file", rename("r/c", "r/b"));
	say_what("r/b");
	say("rename without replacing", rename2("r/b", "one", RENAME_NOREPLACE));
	say("rename exchanging", rename2("r/b", "one", RENAME_EXCHANGE));
	say_what("one");
	say("exchanging with nothing", rename2("r/b", "none", RENAME_EXCHANGE));
	say("both", rename2("r/b", "one", RENAME_EXCHANGE | RENAME_NOREPLACE));
	say("an unknown flag", rename2("r/b", "one", 64));
	say("a file onto a folder", rename("r/b", "r/empty"));
	say("a folder onto a file", rename("r/empty", "r/b"));
	say("a folder onto a full one", rename("r/empty", "r/full"));
	say("a full folder onto an empty one", rename("r/full", "r/empty"));
	say("a folder into itself", rename("r", "r/empty/x"));
	say("what is not there", rename("none", "x"));
	say("into nowhere", rename("r/b", "none/x"));
	say("a file with a slash", rename("r/b", "r/new/"));
	say("a folder with a slash", rename("r/empty/", "r/moved/"));
	say("onto itself", rename("r/b", "r/b"));
	say(".", rename(".", "x"));
	say("..", rename("r/..", "x"));
	say("to .", rename("r/b", "."));
	say("to another file system", rename("r/b", "/dev/shm/wary-test-rename"));
	say("nothing to another file system", rename("r/none", "/dev/shm/wary-test-rename"));
	say("a link itself", rename("sym", "sym3"));
	say_what("sym3");
	say("a link with a slash", rename("sym3/", "sym4"));
	say("from a bad address", (int)syscall(SYS_renameat2, AT_FDCWD, 8, AT_FDCWD, "x", 0));
}

static void by_descriptor(void)
{
	int d = open("r", O_RDONLY | O_DIRECTORY);

	make_text("r/in", "x");
	say("mkdirat", mkdirat(d, "m", 0755));
	say("renameat across", renameat(d, "m", AT_FDCWD, "mm"));
	say("symlinkat", symlinkat("q", d, "s"));
	say("linkat", linkat(d, "in", d, "in2", 0));
	say("linkat of the descriptor", linkat(d, "", d, "in3", AT_EMPTY_PATH));
	say("unlinkat", unlinkat(d, "in", 0));
	say("a moved folder's descriptor", rename("r", "r2"));
	say("unlinkat in it", unlinkat(d, "in2", 0));
	say("mkdirat by nothing", mkdirat(99, "m", 0755));
	say("mkdirat, absolute, by nothing", mkdirat(99, "/dev/shm", 0755));
	close(d);
}

/* What a watcher of the file itself has been told when the call has returned. */
static void watched(void)
{
	struct inotify_event e[16];
	int n = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	close(open("seen", O_CREAT | O_RDWR, 0644));
	inotify_add_watch(n, "seen", IN_DELETE_SELF);
	say("unlink of a watched file", unlink("seen"));
	say_number("told at once", read(n, e, sizeof e));
	mkdir("seen", 0755);
	inotify_add_watch(n, "seen", IN_DELETE_SELF);
	say("rmdir of a watched folder", rmdir("seen"));
	say_number("told at once", read(n, e, sizeof e));
	close(open("seen", O_CREAT | O_RDWR, 0644));
	close(open("over", O_CREAT | O_RDWR, 0644));
	inotify_add_watch(n, "seen", IN_DELETE_SELF);
	say("rename over a watched file", rename("over", "seen"));
	say_number("told at once", read(n, e, sizeof e));
	mkdir("watched", 0755);
	mkdir("beside", 0755);
	inotify_add_watch(n, "watched", IN_DELETE_SELF);
	say("rename over a watched folder", rename("beside", "watched"));
	say_number("told at once", read(n, e, sizeof e));
	close(n);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	folders();
	removal();
	nodes();
	symlinks();
	hard_links();
	renames();
	by_descriptor();
	watched();
	return 0;
}
