#include "audit/folder.h"

#include "base/own.h"

#include <string.h>
#include <sys/stat.h>

static int make_one(const char *path)
{
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	return errno == ENOSPC || errno == EDQUOT ? -ERR_FULL : -ERR_PERM;
}

int folder_make(const char *path)
{
	auto_free char *part = strdup(path);
	int err = 0;

	if (!part)
		return -ERR_NOMEM;
	if (access(path, F_OK) == 0)
		return 0;
	for (char *at = strchr(part + 1, '/'); at && !err; at = strchr(at + 1, '/')) {
		*at = '\0';
		err = access(part, F_OK) == 0 ? 0 : make_one(part);
		*at = '/';
	}
	return err ? err : make_one(part);
}

int folder_make_above(const char *path)
{
	auto_free char *above = strdup(path);
	char *slash = above ? strrchr(above, '/') : NULL;

	if (!above)
		return -ERR_NOMEM;
	if (!slash || slash == above)
		return 0;
	*slash = '\0';
	return folder_make(above);
}
