#include "cmd/audit_own.h"

#include "audit/life.h"
#include "base/log.h"
#include "base/own.h"
#include "cmd/opener.h"

#include <string.h>

static struct audit *failed(struct audit *a, const char *why)
{
	log_error("nothing was done, since it cannot be recorded: %s", why);
	if (a)
		audit_abandon(a);
	return NULL;
}

struct audit *audit_own_open(const char *db, int argc, char **argv)
{
	size_t n = (size_t)argc;
	auto_free const char **words = calloc(n + 3, sizeof *words);
	struct opener opener;
	struct audit_session info;
	struct audit *a = NULL;
	const char *why = NULL;
	int err;

	if (!words || audit_open_begin(db, &a) != 0)
		return failed(NULL, "out of memory");
	words[0] = "wary";
	words[1] = "audit";
	for (size_t i = 0; i < n; i++)
		words[2 + i] = argv[i];
	info = opener_session(&opener);
	info.argv = words;
	info.argc = n + 2;
	audit_set_sync(a);
	err = audit_open_finish(a, &info, &why);
	opener_free(&opener);
	return err ? failed(a, why ? why : err_text(err)) : a;
}

struct audit_event audit_own_event(const char *what, const char *whom)
{
	struct audit_event e = life_event(what, whom);

	e.by_human = true;
	return e;
}

int audit_own_close(struct audit *a, int status)
{
	int err = audit_close(a, status << 8, "exited");

	if (err)
		log_error("the record cannot be written to its end: %s", err_text(err));
	return err;
}
