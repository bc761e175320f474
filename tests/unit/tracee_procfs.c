/* tracee/procfs: fields behind a name that its process chose. */
#include "tracee/procfs.h"

#include "tests/unit/tap.h"

#include <stdlib.h>

/* A whole one but for its name. */
#define REST " T 1 2 3 4 5 6 7 8 9 10 111 122 0 0 20 0 1 0 4711 0\n"

static void fields(const char *stat, const char *what)
{
	static const struct {
		enum procfs_field n;
		long want;
	} numbers[] = {{PROCFS_USER, 111}, {PROCFS_SYSTEM, 122}, {PROCFS_START, 4711}};
	const char *at = procfs_field(stat, PROCFS_STATE);

	tap_ok(at && *at == 'T', "%s: the state", what);
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		at = procfs_field(stat, numbers[i].n);
		tap_is_int(at ? strtol(at, NULL, 10) : -1, numbers[i].want, "%s: field %d", what,
		           (int)numbers[i].n);
	}
}

int main(void)
{
	fields("42 (a)" REST, "a plain name");
	fields("42 (a) Z 9 (b) c)" REST, "one with brackets and blanks");
	tap_ok(!procfs_field("42 (a) T 1 2 3\n", PROCFS_USER), "a field that is not there");
	tap_ok(!procfs_field("", PROCFS_STATE) && !procfs_field("42 (a", PROCFS_STATE),
	       "nor where there is no name");
	return tap_done();
}
