#include "tracee/ldso.h"

#include "base/text.h"

#include <stdbool.h>
#include <string.h>

enum takes { NOTHING, A_VALUE, NO_PROGRAM };

static const struct option {
	const char *name;
	enum takes takes;
} options[] = {
	{"--list", NOTHING},
	{"--verify", NOTHING},
	{"--inhibit-cache", NOTHING},
	{"--library-path", A_VALUE},
	{"--glibc-hwcaps-prepend", A_VALUE},
	{"--glibc-hwcaps-mask", A_VALUE},
	{"--inhibit-rpath", A_VALUE},
	{"--audit", A_VALUE},
	{"--preload", A_VALUE},
	{"--argv0", A_VALUE},
	{"--list-tunables", NO_PROGRAM},
	{"--list-diagnostics", NO_PROGRAM},
	{"--help", NO_PROGRAM},
	{"--version", NO_PROGRAM},
};

/* The option that an argument is: "--name", or "--name=value" (musl). */
static const struct option *find(const char *arg, bool *has_value)
{
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		const struct option *o = &options[i];
		size_t len = strlen(o->name);

		if (!text_starts(arg, o->name))
			continue;
		*has_value = arg[len] == '=' && o->takes == A_VALUE;
		if (arg[len] == '\0' || *has_value)
			return o;
	}
	return NULL;
}

int ldso_target(const char *const *argv, size_t argc, size_t *at)
{
	for (size_t i = 1; i < argc; i++) {
		const struct option *o;
		bool has_value;

		if (strcmp(argv[i], "--") == 0)
			i++;
		else if (text_starts(argv[i], "--")) {
			o = find(argv[i], &has_value);
			if (!o)
				return -ERR_SYNTAX;
			if (o->takes == NO_PROGRAM)
				break;
			if (o->takes == A_VALUE && !has_value)
				i++;
			continue;
		}
		if (i >= argc)
			break;
		*at = i;
		return 0;
	}
	*at = 0;
	return 0;
}
