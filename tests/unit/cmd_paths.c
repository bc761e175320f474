/* cmd/paths: the links on the way to a path, one by one, and no others. */
#include "cmd/paths.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int put(void *ctx, const char *link)
{
	struct buf *out = ctx;
	const char *name = strrchr(link, '/');

	buf_str(out, name + 1);
	buf_chr(out, ' ');
	return 0;
}

/* The last names of the links on the way to @path below the working folder. */
static void check(const char *path, const char *want, const char *what)
{
	auto_buf found = BUF_INIT;
	int err = paths_links(path, put, &found);
	const char *got = buf_text(&found);

	tap_ok(err == 0 && got && strcmp(got, want) == 0, "%s: \"%s\" (%d)", what, got ? got : "",
	       err);
}

static int stop(void *ctx, const char *link)
{
	(void)link;
	++*(int *)ctx;
	return -ERR_BOUND;
}

int main(void)
{
	char folder[] = "paths.XXXXXX";
	struct buf passed = BUF_INIT;
	char *there = NULL;
	char path[PATH_MAX + 16];
	int count = 0;

	if (!mkdtemp(folder) || chdir(folder) != 0 || !(there = getcwd(NULL, 0)) ||
	    mkdir("a", 0700) != 0 || mkdir("a/b", 0700) != 0 || symlink("a", "to_a") != 0 ||
	    symlink("../to_a", "a/up") != 0 || symlink("nothing", "a/b/none") != 0 ||
	    symlink("round", "round") != 0) {
		perror("scratch");
		return 1;
	}
	check("a/b", "", "a folder");
	check("a/b/missing/x", "", "a name that is not there");
	check("to_a", "to_a ", "a link");
	check("to_a/b", "to_a ", "a link on the way");
	check("to_a/missing", "to_a ", "a link before a name that is not there");
	check("a/b/none", "none ", "a link to nothing");
	check("a/b/none/x", "none ", "and below it");
	check("a/up/up/b", "up to_a up to_a ", "links by links");
	check("missing/../to_a", "to_a ", "a link behind a way up");
	check("to_a/../to_a", "to_a to_a ", "a way up behind a link");
	check("/proc/self/exe", "", "links of /proc");
	snprintf(path, sizeof path, "%s/to_a", there);
	check(path, "to_a ", "an absolute path");
	tap_is_int(paths_links("round", put, &passed), -ERR_TOOLONG, "a circle");
	buf_free(&passed);
	tap_is_int(paths_links("to_a/b", stop, &count), -ERR_BOUND, "what the caller says ends it");
	tap_is_int(count, 1, "at the first");
	if (chdir("..") != 0 || scratch_remove(folder) != 0)
		tap_note("%s is left", folder);
	free(there);
	return tap_done();
}
