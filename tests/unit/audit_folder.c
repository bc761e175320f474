/* audit/folder: whether a store has journals, and that doubt counts as one. */
#include "audit/folder.h"
#include "base/own.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOURNAL "00112233445566778899aabbccddeeff"

static char scratch[PATH_MAX], db[PATH_MAX + 32], folder[PATH_MAX + 32];
static char seen[64];

static bool place(const char *name)
{
	char path[PATH_MAX + 128];
	auto_fd fd = -1;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	return fd >= 0;
}

static bool no(int folder_fd, const char *name)
{
	snprintf(seen, sizeof seen, "%s", name);
	return faccessat(folder_fd, name, F_OK, 0) != 0;
}

static bool yes(int folder_fd, const char *name)
{
	return !no(folder_fd, name);
}

static void test_names(void)
{
	tap_ok(!folder_any_journal(db, NULL), "no folder: no journal");
	tap_ok(mkdir(folder, 0700) == 0 && !folder_any_journal(db, NULL), "nor in an empty one");
	tap_ok(place("notes") && place("00112233445566778899aabbccddeef") &&
	               place(JOURNAL ".damaged") && !folder_any_journal(db, NULL),
	       "files of other names are none");
	tap_ok(place(JOURNAL) && folder_any_journal(db, NULL), "one that is named so");
	tap_ok(folder_any_journal(db, yes), "of which something is true");
	tap_is_str(seen, JOURNAL, "is the one that is asked about");
	tap_ok(!folder_any_journal(db, no), "or not");
}

static void test_doubt(void)
{
	struct rlimit old;
	struct rlimit none = {0};
	bool any;

	tap_ok(getrlimit(RLIMIT_NOFILE, &old) == 0, "a limit");
	none.rlim_max = old.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &none) != 0) {
		tap_ok(false, "no descriptors");
		return;
	}
	any = folder_any_journal(db, no);
	tap_ok(setrlimit(RLIMIT_NOFILE, &old) == 0 && any, "no descriptor is left: it may be");
	tap_ok(scratch_remove(folder) == 0 && symlink(folder, folder) == 0 &&
	               folder_any_journal(db, no),
	       "a folder that cannot be opened: it may be");
}

int main(void)
{
	snprintf(scratch, sizeof scratch, "%s/wary-unit.XXXXXX",
	         getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(scratch))
		return 1;
	snprintf(db, sizeof db, "%s/s.db", scratch);
	snprintf(folder, sizeof folder, "%s/.s.db.live", scratch);
	test_names();
	test_doubt();
	tap_ok(scratch_remove(scratch) == 0, "nothing is left");
	return tap_done();
}
