#include "cmd/where.h"

#include "base/own.h"
#include "cmd/paths.h"

#include <stdlib.h>

int where_store(const char *given, const struct folders *f, char **out)
{
	const char *env = getenv("WARY_DB");
	auto_free char *file = NULL;

	if (!given && env && *env)
		given = env;
	if (!given) {
		file = paths_join(f->state, "wary/wary.db");
		if (!file)
			return -ERR_NOMEM;
		given = file;
	}
	return paths_canonical(given, out);
}
