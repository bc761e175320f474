/* answer/open_flags: what the kernel refuses before it looks at a name. Where
 * this kernel has openat2, it is asked the same. */
#include "answer/open_flags.h"
#include "tests/unit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	struct open_args args;
	int want;
	const char *what;
} rows[] = {
	{{O_RDONLY, 0, 0}, 0, "plain"},
	{{O_RDONLY, 0600, 0}, -EINVAL, "a mode without creation"},
	{{O_CREAT | O_RDWR, 0600, 0}, 0, "creation"},
	{{O_CREAT | O_RDWR, 010000, 0}, -EINVAL, "a mode beyond the bits"},
	{{O_CREAT | O_DIRECTORY, 0, 0}, -EINVAL, "creating a folder"},
	{{O_TMPFILE | O_RDWR, 0600, 0}, 0, "a file without a name"},
	{{O_TMPFILE, 0600, 0}, -EINVAL, "one that cannot be written"},
	{{OPEN_TMPFILE | O_RDWR, 0600, 0}, -EINVAL, "one not in a folder"},
	{{O_PATH | O_NOFOLLOW, 0, 0}, 0, "a name only"},
	{{O_PATH | O_APPEND, 0, 0}, -EINVAL, "a name only, to be appended to"},
	{{1ull << 40, 0, 0}, -EINVAL, "a flag of the upper half"},
	{{1u << 30, 0, 0}, -EINVAL, "a flag that does not exist"},
	{{O_RDONLY, 0, 1u << 10}, -EINVAL, "a way that does not exist"},
	{{O_RDONLY, 0, RESOLVE_BENEATH | RESOLVE_IN_ROOT}, -EINVAL, "two scopes"},
	{{O_RDWR | O_TRUNC, 0, RESOLVE_CACHED}, -EAGAIN, "from the cache, emptied"},
	{{O_DIRECTORY | O_RDONLY, 0, RESOLVE_NO_XDEV}, 0, "a folder on this mount"},
	{{3, 0, 0}, 0, "access mode 3"},
	{{O_SYNC | O_DIRECT | O_ASYNC | O_NOATIME | O_NOCTTY, 0, 0}, 0, "the others"},
};

#define ROWS_N (sizeof rows / sizeof rows[0])

/* The kernel's own answer for a name that does not exist. */
static int kernel_says(const struct open_args *a)
{
	struct open_how how = {.flags = a->flags, .mode = a->mode, .resolve = a->resolve};
	long fd = syscall(SYS_openat2, AT_FDCWD, "no-such-folder/x", &how, sizeof how);

	return fd < 0 ? -errno : 0;
}

static void check_rows(void)
{
	for (size_t i = 0; i < ROWS_N; i++) {
		int kernel = kernel_says(&rows[i].args);

		tap_is_int(open_flags_check(&rows[i].args), rows[i].want, "%s", rows[i].what);
		if (kernel == -ENOSYS)
			tap_skip("openat2 is not there");
		else
			tap_is_int(kernel == -ENOENT ? 0 : kernel, rows[i].want,
			           "%s: the kernel agrees", rows[i].what);
	}
}

static void check_old(void)
{
	struct open_args a = {O_PATH | O_RDWR | O_CREAT | O_NOFOLLOW | 1u << 30, 07777777, 5};

	open_flags_old(&a);
	tap_is_int((long long)a.flags, O_PATH | O_NOFOLLOW, "open: a name only beats the rest");
	tap_is_int((long long)a.mode, 0, "open: the mode is dropped where nothing is made");
	tap_is_int((long long)a.resolve, 0, "open: has no ways");
	a = (struct open_args){O_CREAT | O_WRONLY, 0177777, 0};
	open_flags_old(&a);
	tap_is_int((long long)a.mode, 07777, "open: the mode is cut to its bits");
	tap_is_int(open_flags_check(&a), 0, "open: what it does not know it ignores");
}

static void check_use(void)
{
	tap_ok(open_flags_reads(O_RDONLY) && !open_flags_writes(O_RDONLY), "reading reads");
	tap_ok(!open_flags_reads(O_WRONLY) && open_flags_writes(O_WRONLY), "writing writes");
	tap_ok(open_flags_reads(O_RDWR) && open_flags_writes(O_RDWR), "both do both");
	tap_ok(open_flags_writes(O_RDONLY | O_TRUNC), "emptying writes");
	tap_ok(open_flags_reads(3) && open_flags_writes(3), "mode 3 asks for both");
}

int main(void)
{
	check_rows();
	check_old();
	check_use();
	return tap_done();
}
