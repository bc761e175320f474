#include "cmd/where.h"

#include "base/own.h"
#include "cmd/paths.h"

#include <stdlib.h>
#include <string.h>

int where_written(const char *given, const struct folders *f, char **out)
{
	const char *env = getenv("WARY_DB");

	if (!given && env && *env)
		given = env;
	*out = given ? strdup(given) : paths_join(f->state, "wary/wary.db");
	return *out ? 0 : -ERR_NOMEM;
}

int where_store(const char *given, const struct folders *f, char **out)
{
	auto_free char *file = NULL;
	int err = where_written(given, f, &file);

	return err ? err : paths_canonical(file, out);
}
