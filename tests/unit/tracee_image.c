/* tracee/image and tracee/ldso: #! lines as the kernel takes them (checked
 * against the kernel itself), ELF images, loaders as programs. */
#include "base/buf.h"
#include "base/own.h"
#include "tests/unit/tap.h"
#include "tracee/image.h"
#include "tracee/ldso.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- against the kernel ----------------------------------------------- */

/* A program that shows its arguments, in <>: this one, under another name. */
static int show_arguments(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		printf("<%s>", argv[i]);
	return 0;
}

/* What the kernel starts for a script of these bytes, as arguments; "" if it
 * does not start it. */
static void run_script(const char *path, const void *bytes, size_t len, char *out, size_t cap)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	int pipes[2];
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	out[0] = '\0';
	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || pipe(pipes) != 0)
		return;
	close(fd);
	pid = fork();
	if (pid == 0) {
		char *const argv[] = {(char *)"zero", (char *)"one", NULL};
		char *const envp[] = {(char *)"SHOW_ARGUMENTS=1", NULL};

		dup2(pipes[1], 1);
		execve(path, argv, envp);
		_exit(9);
	}
	close(pipes[1]);
	while (n < cap - 1 && (got = read(pipes[0], out + n, cap - 1 - n)) > 0)
		n += (size_t)got;
	out[n] = '\0';
	close(pipes[0]);
	waitpid(pid, NULL, 0);
}

/* The same by wary's reading. */
static void read_script(const char *path, const void *bytes, size_t len, struct buf *out)
{
	struct image image = {0};

	if (!image_parse_script(bytes, len, &image) || strcmp(image.interp, "./i") != 0)
		return;
	buf_fmt(out, "<%s>", image.interp);
	if (image.has_arg)
		buf_fmt(out, "<%s>", image.arg);
	buf_fmt(out, "<%s><one>", path);
}

static void compare(const char *bytes, const char *what)
{
	char kernel[1024];
	auto_buf wary = BUF_INIT;
	const char *path = "./script";

	run_script(path, bytes, strlen(bytes), kernel, sizeof kernel);
	read_script(path, bytes, strlen(bytes), &wary);
	tap_is_str(buf_text(&wary), kernel, "as the kernel has it: %s", what);
}

static void test_scripts(void)
{
	char long_arg[600];

	compare("#!./i\n", "plain");
	compare("#!./i", "no newline");
	compare("#! \t ./i\n", "blanks before");
	compare("#!./i \t \n", "blanks after");
	compare("#!./i a\n", "an argument");
	compare("#!./i a b  c \t\n", "an argument with blanks in it");
	compare("#!./i  a", "an argument, no newline");
	compare("#!./i \t", "blanks after, no newline");
	compare("#!./i a\r\n", "a carriage return");
	compare("#!./i\r\n", "a carriage return in the name");
	compare(" #!./i\n", "not at the beginning");
	compare("#!\n./i\n", "an empty line");
	compare("#! \n./i\n", "a blank line");
	memset(long_arg, 'x', sizeof long_arg);
	memcpy(long_arg, "#!./i ", 6);
	long_arg[sizeof long_arg - 1] = '\0';
	compare(long_arg, "an argument that is cut");
	memcpy(long_arg, "#!./ix", 6);
	compare(long_arg, "a name that is cut");
}

/* ---- images ----------------------------------------------------------- */

static ssize_t read_fd(void *ctx, void *out, size_t len_bytes, uint64_t at)
{
	return pread(*(int *)ctx, out, len_bytes, (off_t)at);
}

static bool read_image(const char *path, struct image *out)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct image_source from = {.read_at = read_fd, .ctx = &fd};

	return fd >= 0 && image_parse(&from, out) == 0;
}

static void test_images(const char *self)
{
	struct image image;

	tap_ok(read_image(self, &image), "this program can be read");
	tap_is_int(image.kind, IMAGE_ELF, "it is an image");
	if (image.interp[0]) {
		char loader[PATH_MAX];

		snprintf(loader, sizeof loader, "%s", image.interp);
		tap_ok(!image.is_loader, "it is no loader");
		tap_ok(read_image(loader, &image) && image.kind == IMAGE_ELF && image.is_loader &&
		               !image.interp[0],
		       "its loader is one: %s", loader);
	}
	tap_ok(read_image("/etc/passwd", &image) && image.kind == IMAGE_UNKNOWN,
	       "a text is neither");
}

/* ---- loaders as programs ---------------------------------------------- */

static void check_ldso(const char *line, int want)
{
	char text[256];
	const char *argv[16];
	size_t argc = 0;
	char *save = NULL;
	size_t at = 99;
	int err;

	snprintf(text, sizeof text, "%s", line);
	for (char *w = strtok_r(text, " ", &save); w && argc < 16; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	err = ldso_target(argv, argc, &at);
	tap_is_int(err ? -1 : (int)at, want, "%s", line);
}

static void test_ldso(void)
{
	check_ldso("ld.so /bin/x", 1);
	check_ldso("ld.so --library-path /l:/m /bin/x a", 3);
	check_ldso("ld.so --preload e.so --argv0 y --inhibit-cache /bin/x", 6);
	check_ldso("ld.so --list /bin/x", 2);
	check_ldso("ld.so --library-path=/l /bin/x", 2);
	check_ldso("ld.so -- /bin/x", 2);
	check_ldso("ld.so --help", 0);
	check_ldso("ld.so --version /bin/x", 0);
	check_ldso("ld.so", 0);
	check_ldso("ld.so --argv0", 0);
	check_ldso("ld.so --new-option /bin/x", -1);
}

int main(int argc, char **argv)
{
	char self[PATH_MAX];
	ssize_t n;

	if (getenv("SHOW_ARGUMENTS"))
		return show_arguments(argc, argv);
	n = readlinkat(AT_FDCWD, "/proc/self/exe", self, sizeof self - 1);
	self[n > 0 ? n : 0] = '\0';
	/* A name that is short enough for a #! line. */
	if (symlink(self, "./i") == 0 || errno == EEXIST)
		test_scripts();
	(void)unlink("./script");
	(void)unlink("./i");
	test_images(self);
	test_ldso();
	return tap_done();
}
