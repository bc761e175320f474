#include "cmd/opener.h"

#include "base/uses.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

USES(getcwd, getuid, uname);

struct audit_session opener_session(struct opener *o)
{
	const struct passwd *user = getpwuid(getuid());

	*o = (struct opener){.cwd = getcwd(NULL, 0)};
	uname(&o->machine);
	return (struct audit_session){
		.cwd = o->cwd ? o->cwd : "(unreachable)",
		.user = user ? user->pw_name : "?",
		.host = o->machine.nodename,
		.kernel = o->machine.release,
		.version = PACKAGE_VERSION,
		.uid = getuid(),
	};
}

void opener_free(struct opener *o)
{
	free(o->cwd);
	o->cwd = NULL;
}
