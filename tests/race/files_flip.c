/* Calls on names whose arguments another thread changes while they are decided.
 *
 *   files_flip MODE ROUNDS SECONDS
 *
 * Runs in a folder with aye/ (allowed), nay/ (may be looked at, not read or
 * changed), rdo/ (not changed) and hid/ (not even looked at).  One thread flips
 * an argument between an allowed and a refused value at full speed, another
 * makes the call.  Prints the rounds made, those that succeeded as allowed, and
 * whether the refused effect was seen: "hit" or "clean".  Natively every mode
 * hits, which shows that the flipping works.
 * rows: open openat openat2 mkdir mknod symlink unlink rename link chmod
 * rows: fchmod truncate utimensat setxattr stat newfstatat readlink chdir
 * rows: fchdir */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define FLIPPED_FD 50
#define CHECK_EVERY 256

/* A name whose first four bytes are stored at once: "aye/" or "nay/". */
static union {
	_Atomic uint32_t head;
	char text[32];
} name;

static uint32_t heads[2];
static int descriptors[2];
static volatile struct open_how how;
static uint64_t how_flags[2];
static atomic_bool stop;

static uint32_t head_of(const char *folder)
{
	uint32_t head;

	memcpy(&head, folder, sizeof head);
	return head;
}

static const char *flipped(const char *tail)
{
	memcpy(name.text + 4, tail, strlen(tail) + 1);
	return name.text;
}

/* ---- what is flipped --------------------------------------------------- */

static void flip_name(unsigned i)
{
	atomic_store_explicit(&name.head, heads[i & 1], memory_order_relaxed);
}

static void flip_link(unsigned i)
{
	unlink("link.new");
	if (symlink(i & 1 ? "aye/f" : "nay/f", "link.new") == 0)
		rename("link.new", "link");
}

static void flip_folder_link(unsigned i)
{
	unlink("folder.new");
	if (symlink(i & 1 ? "aye" : "nay", "folder.new") == 0)
		rename("folder.new", "folder");
}

static void flip_descriptor(unsigned i)
{
	dup2(descriptors[i & 1], FLIPPED_FD);
}

static void flip_cwd(unsigned i)
{
	(void)!fchdir(descriptors[i & 1]);
}

static void flip_how(unsigned i)
{
	how.flags = how_flags[i & 1];
}

static void *flip(void *arg)
{
	void (*const what)(unsigned) = *(void (*const *)(unsigned))arg;

	for (unsigned i = 0; !atomic_load_explicit(&stop, memory_order_relaxed); i++)
		what(i);
	return NULL;
}

/* ---- what is tried ----------------------------------------------------- */

enum seen { FAILED, ALLOWED, HIT };

/* A file that was opened: its first letter says where it came from. */
static enum seen seen_in(int fd)
{
	char c = 0;
	ssize_t n;

	if (fd < 0)
		return FAILED;
	n = pread(fd, &c, 1, 0);
	close(fd);
	return n == 1 && c == 'n' ? HIT : ALLOWED;
}

static enum seen done(long result)
{
	return result == 0 ? ALLOWED : FAILED;
}

static enum seen open_name(void)
{
	return seen_in(open(flipped("f"), O_RDONLY));
}

static enum seen open_link(void)
{
	return seen_in(open("link", O_RDONLY));
}

static enum seen open_folder(void)
{
	return seen_in(open("folder/f", O_RDONLY));
}

static enum seen open_relative(void)
{
	return seen_in(openat(FLIPPED_FD, "f", O_RDONLY));
}

static enum seen open_here(void)
{
	return seen_in(open("f", O_RDONLY));
}

static enum seen open_magic(void)
{
	return seen_in(open("/proc/self/fd/50/f", O_RDONLY));
}

static enum seen open_how(void)
{
	long fd = syscall(SYS_openat2, AT_FDCWD, "rdo/f", (void *)(uintptr_t)&how, sizeof how);

	if (fd < 0)
		return FAILED;
	close((int)fd);
	return ALLOWED;
}

static enum seen open_emptied(void)
{
	return seen_in(open(flipped("t"), O_WRONLY | O_TRUNC));
}

static enum seen create(void)
{
	int fd = open(flipped("new"), O_CREAT | O_EXCL | O_WRONLY, 0600);

	unlink("aye/new");
	return seen_in(fd);
}

static enum seen create_here(void)
{
	int fd = open("new", O_CREAT | O_WRONLY, 0600);

	unlinkat(descriptors[0], "new", 0);
	return seen_in(fd);
}

static enum seen make_folder(void)
{
	long n = mkdir(flipped("dir"), 0700);

	rmdir("aye/dir");
	return done(n);
}

static enum seen make_node(void)
{
	long n = mknod(flipped("node"), S_IFREG | 0600, 0);

	unlink("aye/node");
	return done(n);
}

static enum seen make_link(void)
{
	long n = symlink("x", flipped("sym"));

	unlink("aye/sym");
	return done(n);
}

static void again(const char *file)
{
	int fd = open(file, O_CREAT | O_WRONLY, 0600);

	if (fd >= 0)
		close(fd);
}

static enum seen remove_name(void)
{
	again("aye/v");
	return done(unlink(flipped("v")));
}

static enum seen rename_from(void)
{
	again("aye/m");
	return done(rename(flipped("m"), "aye/moved"));
}

static enum seen rename_to(void)
{
	again("aye/o");
	return done(rename("aye/o", flipped("onto")));
}

static enum seen link_from(void)
{
	unlink("aye/second");
	return done(link(flipped("f"), "aye/second"));
}

static enum seen link_to(void)
{
	long n = link("aye/f", flipped("linked"));

	unlink("aye/linked");
	return done(n);
}

static enum seen change_mode(void)
{
	return done(chmod(flipped("f"), 0700));
}

static enum seen change_length(void)
{
	return done(truncate(flipped("t"), 0));
}

static enum seen change_times(void)
{
	const struct timespec then[2] = {{1, 0}, {1, 0}};

	return done(utimensat(AT_FDCWD, flipped("f"), then, 0));
}

static enum seen change_attribute(void)
{
	return done(setxattr(flipped("f"), "user.hit", "1", 1, 0));
}

static enum seen change_mode_by_number(void)
{
	return done(fchmod(FLIPPED_FD, 0700));
}

static enum seen tell(void)
{
	struct stat st;

	if (stat(flipped("f"), &st) != 0)
		return FAILED;
	return st.st_size == 7 ? HIT : ALLOWED; /* "nothing" */
}

static enum seen tell_link(void)
{
	char text[16] = "";

	if (readlink(flipped("l"), text, sizeof text - 1) < 0)
		return FAILED;
	return strcmp(text, "hidden") == 0 ? HIT : ALLOWED;
}

/* ---- what is left ------------------------------------------------------ */

static bool is_there(const char *file)
{
	return access(file, F_OK) == 0;
}

static bool nothing_left(void)
{
	return false;
}

static bool was_emptied(void)
{
	struct stat st;

	return stat("nay/t", &st) == 0 && st.st_size == 0;
}

static bool was_written(void)
{
	struct stat st;

	return stat("rdo/f", &st) == 0 && st.st_size == 0;
}

static bool was_made(void)
{
	return is_there("nay/new") || is_there("nay/dir") || is_there("nay/node") ||
	       readlinkat(AT_FDCWD, "nay/sym", (char[2]){0}, 2) >= 0;
}

static bool was_made_here(void)
{
	return faccessat(descriptors[1], "new", F_OK, 0) == 0;
}

static bool was_removed(void)
{
	return !is_there("nay/v") || !is_there("nay/m");
}

static bool was_renamed_to(void)
{
	return is_there("nay/onto") || is_there("nay/linked");
}

static bool was_linked(void)
{
	return seen_in(open("aye/second", O_RDONLY)) == HIT;
}

static bool was_changed(void)
{
	char names[512];
	ssize_t n = listxattr("nay/f", names, sizeof names);
	struct stat st;

	if (n > 0 && memmem(names, (size_t)n, "user.hit", 8))
		return true;
	return stat("nay/f", &st) == 0 && ((st.st_mode & 0777) == 0700 || st.st_mtime == 1);
}

static bool was_changed_by_number(void)
{
	struct stat st;

	return stat("rdo/f", &st) == 0 && (st.st_mode & 0777) == 0700;
}

/* ---- the modes --------------------------------------------------------- */

static const struct mode {
	const char *name;
	void (*flip)(unsigned i);
	enum seen (*attempt)(void);
	bool (*left)(void);
	const char *other;    /* the refused folder of a flipped name */
	const char *files[2]; /* what the flipped descriptors are, or NULL */
} modes[] = {
	{"open_name", flip_name, open_name, nothing_left, "nay/", {NULL, NULL}},
	{"open_link", flip_link, open_link, nothing_left, "nay/", {NULL, NULL}},
	{"open_folder", flip_folder_link, open_folder, nothing_left, "nay/", {NULL, NULL}},
	{"open_dirfd", flip_descriptor, open_relative, nothing_left, "nay/", {"aye", "nay"}},
	{"open_cwd", flip_cwd, open_here, nothing_left, "nay/", {"aye", "nay"}},
	{"open_magic", flip_descriptor, open_magic, nothing_left, "nay/", {"aye", "nay"}},
	{"open_how", flip_how, open_how, was_written, "nay/", {NULL, NULL}},
	{"open_emptied", flip_name, open_emptied, was_emptied, "nay/", {NULL, NULL}},
	{"create", flip_name, create, was_made, "nay/", {NULL, NULL}},
	{"create_cwd", flip_cwd, create_here, was_made_here, "nay/", {"aye", "nay"}},
	{"mkdir", flip_name, make_folder, was_made, "nay/", {NULL, NULL}},
	{"mknod", flip_name, make_node, was_made, "nay/", {NULL, NULL}},
	{"symlink", flip_name, make_link, was_made, "nay/", {NULL, NULL}},
	{"unlink", flip_name, remove_name, was_removed, "nay/", {NULL, NULL}},
	{"rename_from", flip_name, rename_from, was_removed, "nay/", {NULL, NULL}},
	{"rename_to", flip_name, rename_to, was_renamed_to, "nay/", {NULL, NULL}},
	{"link_from", flip_name, link_from, was_linked, "nay/", {NULL, NULL}},
	{"link_to", flip_name, link_to, was_renamed_to, "nay/", {NULL, NULL}},
	{"chmod", flip_name, change_mode, was_changed, "nay/", {NULL, NULL}},
	{"truncate", flip_name, change_length, was_emptied, "nay/", {NULL, NULL}},
	{"utimensat", flip_name, change_times, was_changed, "nay/", {NULL, NULL}},
	{"setxattr", flip_name, change_attribute, was_changed, "nay/", {NULL, NULL}},
	{"fchmod",
         flip_descriptor,
         change_mode_by_number,
         was_changed_by_number,
         "nay/",
         {"aye/f", "rdo/f"}},
	{"stat", flip_name, tell, nothing_left, "hid/", {NULL, NULL}},
	{"readlink", flip_name, tell_link, nothing_left, "hid/", {NULL, NULL}},
};

static const struct mode *find(const char *word)
{
	for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
		if (strcmp(modes[i].name, word) == 0)
			return &modes[i];
	return NULL;
}

static bool prepare(const struct mode *m)
{
	int flags = strcmp(m->name, "fchmod") == 0 ? O_RDONLY : O_PATH;

	heads[0] = head_of("aye/");
	heads[1] = head_of(m->other);
	how_flags[0] = O_RDONLY;
	how_flags[1] = O_WRONLY | O_TRUNC;
	for (int i = 0; i < 2 && m->files[i]; i++) {
		descriptors[i] = open(m->files[i], flags | O_CLOEXEC);
		if (descriptors[i] < 0)
			return false;
	}
	if (m->files[0] && dup2(descriptors[0], FLIPPED_FD) < 0)
		return false;
	flip_name(0);
	flip_link(1);
	flip_folder_link(1);
	return true;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const struct mode *m = argc == 4 ? find(argv[1]) : NULL;
	int home = open(".", O_PATH | O_CLOEXEC);
	unsigned long rounds = m ? strtoul(argv[2], NULL, 10) : 0;
	double end = m ? now() + strtod(argv[3], NULL) : 0;
	unsigned long allowed = 0;
	unsigned long made = 0;
	bool hit = false;
	pthread_t t;

	if (!m || !prepare(m) || pthread_create(&t, NULL, flip, (void *)(uintptr_t)&m->flip) != 0)
		return 2;
	while (made < rounds && !hit && (made % CHECK_EVERY != 0 || now() < end)) {
		enum seen s = m->attempt();

		made++;
		allowed += s == ALLOWED;
		hit = s == HIT || (made % CHECK_EVERY == 0 && m->left());
	}
	atomic_store(&stop, true);
	pthread_join(t, NULL);
	if (fchdir(home) != 0)
		return 2;
	hit = hit || m->left();
	printf("%s %lu rounds %lu allowed %s\n", m->name, made, allowed, hit ? "hit" : "clean");
	return 0;
}
