/* The open family: prints what each call gives, so that a native and a
 * supervised run can be compared.  Runs in an empty folder of its own.
 * rows: open openat openat2 creat */
#include "tests/lib/say.h"

#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define NAMES_BYTES 5000

static void made(void)
{
	umask(027);
	say_open("creat", creat("a", 0666));
	say_open("creat with odd bits", creat("odd", 07777));
	say_open("O_CREAT|O_TRUNC on what exists", open("a", O_CREAT | O_TRUNC | O_WRONLY, 0600));
	say_open("O_EXCL on what exists", open("a", O_CREAT | O_EXCL | O_RDWR, 0666));
	say_open("O_EXCL, new, append, cloexec",
	         open("b", O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_APPEND, 0640));
	say_open("O_CREAT for reading", open("c", O_CREAT | O_RDONLY, 0444));
	say_open("created without any right", open("d0", O_CREAT | O_RDWR, 0));
	say_open("O_CREAT with a slash", open("new/", O_CREAT | O_RDWR, 0666));
	say_open("O_CREAT of a folder", open(".", O_CREAT | O_RDONLY, 0666));
	say_open("O_CREAT|O_EXCL of a folder", open(".", O_CREAT | O_EXCL | O_RDWR, 0666));
	say_open("O_CREAT of the root", open("/", O_CREAT | O_RDWR, 0666));
	say_open("O_CREAT of ..", open("..", O_CREAT | O_RDWR, 0666));
	say_open("O_CREAT below a file", open("a/x", O_CREAT | O_RDWR, 0666));
	say_open("O_CREAT below nothing", open("none/x", O_CREAT | O_RDWR, 0666));
	say_open("O_CREAT|O_DIRECTORY", open("dir", O_CREAT | O_DIRECTORY, 0777));
	say_open("creat of a folder", creat(".", 0666));
	umask(022);
}

static void emptied(void)
{
	struct stat st = {0};
	int fd;

	make_text("t", "hello");
	say_open("O_RDONLY|O_TRUNC", open("t", O_RDONLY | O_TRUNC));
	make_text("t", "hello");
	say_open("O_APPEND", open("t", O_WRONLY | O_APPEND));
	say_open("O_RDWR|O_TRUNC", open("t", O_RDWR | O_TRUNC));
	say_open("O_TRUNC of a folder", open(".", O_RDONLY | O_TRUNC));
	say_open("O_TRUNC of a device", open("/dev/null", O_RDONLY | O_TRUNC));
	make_text("t", "hello");
	fd = open("t", O_RDWR);
	say_number("offset after opening", lseek(fd, 0, SEEK_CUR));
	say_number("written", write(fd, "HE", 2));
	stat("t", &st);
	say_number("size", st.st_size);
	close(fd);
	say_open("a text that shows its size", open("t", O_RDONLY));
}

static void links(void)
{
	say("symlink", symlink("nowhere", "dangles"));
	say_open("O_CREAT through a link", open("dangles", O_CREAT | O_WRONLY, 0666));
	say("what it points to was made", access("nowhere", F_OK));
	symlink("none/x", "far");
	say_open("O_CREAT through a link to nowhere", open("far", O_CREAT | O_WRONLY, 0666));
	say_open("O_CREAT|O_EXCL of a link", open("dangles", O_CREAT | O_EXCL | O_WRONLY, 0666));
	say_open("O_CREAT|O_NOFOLLOW of a link",
	         open("dangles", O_CREAT | O_NOFOLLOW | O_WRONLY, 0666));
	symlink("loop", "loop");
	say_open("a loop", open("loop", O_RDONLY));
	say_open("O_CREAT of a loop", open("loop", O_RDWR | O_CREAT, 0666));
	say_open("O_NOFOLLOW of a link", open("dangles", O_RDONLY | O_NOFOLLOW));
	say_open("O_NOFOLLOW|O_DIRECTORY of a link",
	         open("dangles", O_RDONLY | O_NOFOLLOW | O_DIRECTORY));
	say_open("O_NOFOLLOW of a file", open("t", O_RDONLY | O_NOFOLLOW));
	say_open("O_NOFOLLOW of a file, for writing", open("t", O_RDWR | O_NOFOLLOW));
	say_open("O_NOFOLLOW of a folder", open(".", O_RDONLY | O_NOFOLLOW | O_DIRECTORY));
	say_open("O_NOFOLLOW of ..", open("..", O_PATH | O_NOFOLLOW | O_DIRECTORY));
	mkdir("folder", 0755);
	symlink("folder", "to-folder");
	say_open("a link to a folder", open("to-folder", O_RDONLY));
	say_open("with a slash and O_NOFOLLOW", open("to-folder/", O_RDONLY | O_NOFOLLOW));
	say_open("O_CREAT of a link to a folder", open("to-folder", O_CREAT | O_RDWR, 0666));
	symlink("dangles2", "chain1");
	symlink("made-far", "dangles2");
	say_open("O_CREAT through a chain", open("chain1", O_CREAT | O_RDWR, 0600));
	say_what("made-far");
}

static void kinds(void)
{
	say_open("a folder", open(".", O_RDONLY));
	say_open("a folder for writing", open(".", O_WRONLY));
	say_open("O_DIRECTORY of a file", open("t", O_DIRECTORY));
	say_open("a file with a slash", open("t/", O_RDONLY));
	say_open("below a file", open("t/b", O_RDONLY));
	say_open("nothing", open("", O_RDONLY));
	say_open("what is not there", open("none", O_RDWR));
	say_open("access mode 3", open("t", 3));
	say_open("O_EXCL without O_CREAT", open("t", O_EXCL));
	say_open("O_SYNC", open("t", O_RDWR | O_SYNC));
	say_open("O_DSYNC", open("t", O_RDWR | O_DSYNC));
	say_open("O_NONBLOCK", open("t", O_RDONLY | O_NONBLOCK));
	say_open("O_NONBLOCK for writing", open("t", O_WRONLY | O_NONBLOCK));
	say_open("O_ASYNC", open("t", O_RDONLY | O_ASYNC));
	say_open("O_NOATIME of one's own", open("t", O_RDONLY | O_NOATIME));
	say_open("O_NOCTTY", open("t", O_RDONLY | O_NOCTTY));
	say_open("bits that do not exist", open("t", O_RDONLY | 1 << 30));
	say_open("the bit of large files", (int)syscall(SYS_openat, AT_FDCWD, "t", 0100000, 0));
	say_open("/dev/null", open("/dev/null", O_RDWR | O_CLOEXEC));
	say_open("/dev/zero", open("/dev/zero", O_RDONLY));
	say_open("/dev/full", open("/dev/full", O_WRONLY));
}

static void unnamed(void)
{
	char path[64];
	int fd;
	int memory;

	umask(0);
	say_open("O_TMPFILE", open(".", O_TMPFILE | O_RDWR, 0666));
	say_open("O_TMPFILE|O_EXCL", open(".", O_TMPFILE | O_WRONLY | O_EXCL, 0600));
	say_open("O_TMPFILE for reading", open(".", O_TMPFILE | O_RDONLY, 0600));
	say_open("O_TMPFILE in a file", open("t", O_TMPFILE | O_RDWR, 0600));
	fd = open(".", O_TMPFILE | O_RDWR, 0644);
	say_number("written", write(fd, "tmp", 3));
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	say("linked by its number", linkat(AT_FDCWD, path, AT_FDCWD, "tmp1", AT_SYMLINK_FOLLOW));
	say_what("tmp1");
	say_open("opened again by its number", open(path, O_RDONLY));
	close(fd);
	fd = open(".", O_TMPFILE | O_RDWR | O_EXCL, 0644);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	say("one that must not be linked",
	    linkat(AT_FDCWD, path, AT_FDCWD, "tmp2", AT_SYMLINK_FOLLOW));
	close(fd);
	memory = memfd_create("m", MFD_ALLOW_SEALING);
	say_number("written", write(memory, "12345", 5));
	snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
	say_open("a memfd again", open(path, O_RDWR));
	fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK);
	say_open("a sealed one, emptied", open(path, O_RDWR | O_TRUNC));
	close(memory);
	memory = memfd_create("m", MFD_ALLOW_SEALING);
	say_number("written", write(memory, "12345", 5));
	snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
	fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE);
	say_open("one that may shrink, emptied", open(path, O_RDWR | O_TRUNC));
	close(memory);
	umask(022);
}

static void by_descriptor(void)
{
	int folder = open(".", O_PATH | O_DIRECTORY);
	int file = open("t", O_RDONLY);
	int path = open("t", O_PATH);

	say_open("by an O_PATH folder", openat(folder, "t", O_RDONLY));
	say_open("by a file", openat(file, "t", O_RDONLY));
	say_open("by an O_PATH file", openat(path, "t", O_RDONLY));
	say_open("by nothing", openat(99, "t", O_RDONLY));
	say_open("by a negative number", openat(-5, "t", O_RDONLY));
	say_open("an empty name by nothing", openat(99, "", O_RDONLY));
	say_open("an absolute name by nothing", openat(99, "/etc/passwd", O_RDONLY));
	say_open("created by a folder", openat(folder, "made-at", O_CREAT | O_RDWR, 0600));
	say_open("O_PATH", openat(folder, "t", O_PATH | O_CLOEXEC));
	say_open("O_PATH of a link", open("dangles", O_PATH | O_NOFOLLOW));
	say_open("O_PATH|O_NOFOLLOW|O_DIRECTORY", open("t", O_PATH | O_NOFOLLOW | O_DIRECTORY));
	say_open("O_PATH and more", open("t", O_PATH | O_RDWR | O_APPEND));
	say_open("O_PATH of nothing", open("none", O_PATH));
	close(folder);
	close(file);
	close(path);
}

/* A structure larger than open_how, as a later kernel might have. */
struct larger {
	struct open_how how;
	uint64_t more;
};

static int open2(int folder, const char *name, uint64_t flags, uint64_t mode, uint64_t resolve)
{
	struct open_how how = {flags, mode, resolve};

	return (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
}

static void second_version(void)
{
	int folder = open(".", O_PATH | O_DIRECTORY);
	struct larger how = {0};

	say_open("openat2", open2(folder, "t", O_RDONLY, 0, 0));
	say_open("openat2 creates", open2(folder, "o2", O_CREAT | O_RDWR, 0640, 0));
	say_open("beneath", open2(folder, "t", O_RDONLY, 0, RESOLVE_BENEATH));
	say_open("beneath, upwards", open2(folder, "../x", O_RDONLY, 0, RESOLVE_BENEATH));
	say_open("beneath, absolute", open2(folder, "/etc", O_RDONLY, 0, RESOLVE_BENEATH));
	say_open("beneath, inside and back",
	         open2(folder, "folder/../t", O_RDONLY, 0, RESOLVE_BENEATH));
	say_open("beneath, created", open2(folder, "ob", O_CREAT | O_RDWR, 0600, RESOLVE_BENEATH));
	say_open("no links", open2(folder, "dangles", O_RDONLY, 0, RESOLVE_NO_SYMLINKS));
	say_open("no links, none there", open2(folder, "t", O_RDONLY, 0, RESOLVE_NO_SYMLINKS));
	say_open("in a root", open2(folder, "/t", O_RDONLY, 0, RESOLVE_IN_ROOT));
	say_open("in a root, upwards", open2(folder, "/../../t", O_RDONLY, 0, RESOLVE_IN_ROOT));
	say_open("in a root, created",
	         open2(folder, "/or", O_CREAT | O_RDWR, 0600, RESOLVE_IN_ROOT));
	say_open("no other mount", open2(folder, "/proc/stat", O_RDONLY, 0, RESOLVE_NO_XDEV));
	say_open("no magic link",
	         open2(folder, "/proc/self/cwd/t", O_RDONLY, 0, RESOLVE_NO_MAGICLINKS));
	say_open("two scopes", open2(folder, "t", O_RDONLY, 0, RESOLVE_BENEATH | RESOLVE_IN_ROOT));
	say_open("a mode without creation", open2(folder, "t", O_RDONLY, 0600, 0));
	say_open("a bit of the upper half", open2(folder, "t", 1ull << 40, 0, 0));
	say_open("an unknown way", open2(folder, "t", O_RDONLY, 0, 1 << 20));
	say_open("too small", (int)syscall(SYS_openat2, folder, "t", &how, 8));
	say_open("larger, zero", (int)syscall(SYS_openat2, folder, "t", &how, sizeof how));
	how.more = 1;
	say_open("larger, not zero", (int)syscall(SYS_openat2, folder, "t", &how, sizeof how));
	say_open("far too large", (int)syscall(SYS_openat2, folder, "t", &how, 1 << 20));
	say_open("from nowhere", (int)syscall(SYS_openat2, folder, "t", NULL, sizeof how.how));
	close(folder);
}

static void memory(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *m = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char names[NAMES_BYTES];

	munmap(m + page, page);
	memset(m + page - 6, 'x', 6);
	say_open("a name that runs off its page", open(m + page - 6, O_RDONLY));
	memcpy(m + page - 2, "t", 2);
	say_open("a name that ends there", open(m + page - 2, O_RDONLY));
	say_open("a bad address", (int)syscall(SYS_openat, AT_FDCWD, 8, O_RDONLY, 0));
	say_open("a null address", (int)syscall(SYS_openat, AT_FDCWD, NULL, O_RDONLY, 0));
	memset(names, 'y', sizeof names - 1);
	names[sizeof names - 1] = '\0';
	say_open("a name beyond PATH_MAX", open(names, O_RDONLY));
	names[300] = '\0';
	say_open("a name beyond NAME_MAX", open(names, O_RDONLY));
	say_open("creating it", open(names, O_CREAT | O_RDWR, 0666));
	names[255] = '\0';
	say_open("the longest name", open(names, O_CREAT | O_RDWR, 0666));
	say_open("bytes that are no text", open("\xff\xfe\x01\n\t\x80", O_CREAT | O_RDWR, 0600));
	for (size_t i = 0; i + 2 < PATH_MAX; i += 2)
		memcpy(names + i, "./", 2);
	memcpy(names + PATH_MAX - 2, "t", 2);
	say_open("the longest way", open(names, O_RDONLY));
	memmove(names + 1, names, PATH_MAX);
	names[0] = '.';
	names[1] = '/';
	say_open("one byte more", open(names, O_RDONLY));
}

static void without_numbers(void)
{
	struct rlimit old;
	struct rlimit new;
	int next = dup(0);

	close(next);
	make_text("full", "content");
	getrlimit(RLIMIT_NOFILE, &old);
	new = old;
	new.rlim_cur = (rlim_t)next;
	setrlimit(RLIMIT_NOFILE, &new);
	say_open("no number left, creating", open("never", O_CREAT | O_RDWR, 0666));
	say_open("no number left, emptying", open("full", O_TRUNC | O_RDWR));
	say_open("no number left, reading", open("full", O_RDONLY));
	setrlimit(RLIMIT_NOFILE, &old);
	say("nothing was made", access("never", F_OK));
	say_what("full");
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	made();
	emptied();
	links();
	kinds();
	unnamed();
	by_descriptor();
	second_version();
	memory();
	without_numbers();
	return 0;
}
