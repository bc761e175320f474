#include "answer/fixed.h"

#include "base/text.h"
#include "base/uses.h"
#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

USES(faccessat, geteuid, readlinkat);

/* Whether wary's user, which is the tree's, could change a file or what is in
 * a folder; in doubt it could. */
static bool user_may_change(const char *path)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return true;
	if (st.st_uid == geteuid())
		return true; /* chmod would make it so */
	return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 ||
	       (errno != EACCES && errno != EROFS && errno != EPERM);
}

/* From the root down, so that each name was looked up in a folder that could
 * not be changed. */
static bool user_may_change_way(const char *canon)
{
	char path[PLACE_CANON_MAX];
	size_t len = strlen(canon);

	if (len >= sizeof path || canon[0] != '/')
		return true;
	memcpy(path, canon, len + 1);
	if (user_may_change("/"))
		return true;
	for (size_t i = 1; i <= len; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		path[i] = '\0';
		if (user_may_change(path))
			return true;
		path[i] = canon[i];
	}
	return false;
}

bool fixed_path(const struct supervisor *s, const char *canon)
{
	if (canon[0] != '/')
		return false;
	if (!policy_may_write(s->policy, canon))
		return true;
	return !s->as_root && !user_may_change_way(canon);
}

bool fixed_file(const struct supervisor *s, const struct place *p)
{
	return !p->unnamed && p->proc_pid == 0 && p->st.st_nlink > 0 && fixed_path(s, p->canon);
}

/* Whether ".." occurs after a name: then a folder is passed that shows neither
 * in the links nor in the result. */
static bool turns_back(const char *text)
{
	bool named = false;

	while (*text) {
		size_t n = strcspn(text, "/");

		if (n == 2 && text[0] == '.' && text[1] == '.') {
			if (named)
				return true;
		} else if (n > 0 && !(n == 1 && text[0] == '.')) {
			named = true;
		}
		text += n;
		text += strspn(text, "/");
	}
	return false;
}

static bool fixed_link(const struct supervisor *s, const char *canon)
{
	char target[PATH_MAX];
	ssize_t n;

	if (!fixed_path(s, canon))
		return false;
	n = readlinkat(AT_FDCWD, canon, target, sizeof target - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	return !turns_back(target);
}

bool fixed_way(const struct supervisor *s, const struct place *p)
{
	/* A beginning of ".." starts from a folder that is not in the result. */
	if (turns_back(p->text) || text_starts(p->text, ".."))
		return false;
	for (unsigned i = 0; i < p->links_n; i++)
		if (!fixed_link(s, p->links[i]))
			return false;
	return fixed_file(s, p);
}
