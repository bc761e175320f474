#include "answer/script.h"

#include "answer/install.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define FOLDER "/node_modules/"

/* Moments at which a manager runs what a package brings (npm-scripts). */
static bool is_install_event(const char *event)
{
	static const char *const events[] = {
		"preinstall", "install", "postinstall", "prepublish",
		"preprepare", "prepare", "postprepare", "dependencies",
	};

	for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
		if (strcmp(event, events[i]) == 0)
			return true;
	return false;
}

/* The manager that the caller is, if it runs scripts of packages. */
static const char *manager_of(const struct lineage_entry *caller)
{
	static const char *const managers[] = {"npm", "pnpm", "yarn", "bun"};
	struct package_program p;
	const char *manager;

	if (!caller || !caller->program.path || caller->program.argc == 0)
		return NULL;
	p = (struct package_program){
		.image = caller->program.path,
		.script = caller->program.script,
		.argv = caller->program.argv,
		.argc = caller->program.argc,
	};
	manager = package_manager_of(&p);
	for (size_t i = 0; manager && i < sizeof managers / sizeof managers[0]; i++)
		if (strcmp(manager, managers[i]) == 0)
			return managers[i];
	return NULL;
}

/* The name under which a package is installed: the folder of its package.json
 * below the last node_modules; false for the project itself. */
static bool installed_name(const char *manifest, char *out, size_t cap_bytes)
{
	const char *name = NULL;
	size_t len;

	for (const char *at = manifest; (at = strstr(at, FOLDER)); at += sizeof FOLDER - 1)
		name = at + sizeof FOLDER - 1;
	if (!name)
		return false;
	len = strlen(name);
	if (len <= sizeof "/package.json" - 1 ||
	    strcmp(name + len - (sizeof "/package.json" - 1), "/package.json") != 0)
		return false;
	len -= sizeof "/package.json" - 1;
	if (len >= cap_bytes)
		return false;
	memcpy(out, name, len);
	out[len] = '\0';
	return true;
}

static int ask(struct request *r, struct execution *x, unsigned i, const char *manager,
               const char *name)
{
	char *object = x->script_object[i];
	struct facts *f;

	snprintf(object, sizeof x->script_object[i], "%s:%s", manager, name);
	f = request_add_fact(r, CLASS_SCRIPT, object);
	if (!f)
		return -ERR_NOMEM;
	f->package = (struct facts_package){
		.manager = manager,
		.name = object + strlen(manager) + 1,
		.version = argv_find(&x->envp, "npm_package_version"),
		.unpinned = FACT_UNKNOWN,
		.is_new = FACT_UNKNOWN,
		.git = FACT_UNKNOWN,
		.url = FACT_UNKNOWN,
		.path = FACT_UNKNOWN,
		.script = FACT_YES,
		.lookalike = FACT_UNKNOWN,
	};
	return 0;
}

int script_prepare(struct request *r, struct execution *x)
{
	const char *manager = manager_of(r->caller.program);
	const char *event;
	const char *manifest;
	const char *said;
	char name[128];
	int err;

	if (!manager || x->mark[0])
		return 0;
	err = install_fetch_environment(r, x);
	if (!err)
		err = mem_valid(&r->mem);
	if (err)
		return err;
	event = argv_find(&x->envp, "npm_lifecycle_event");
	manifest = argv_find(&x->envp, "npm_package_json");
	if (!event || !is_install_event(event) || !manifest ||
	    !installed_name(manifest, name, sizeof name))
		return 0;
	snprintf(x->mark, sizeof x->mark, "script:%s", name);
	err = ask(r, x, 0, manager, name);
	/* A package that calls itself otherwise than it is installed: both. */
	said = argv_find(&x->envp, "npm_package_name");
	if (!err && said && strcmp(said, name) != 0)
		err = ask(r, x, 1, manager, said);
	return err;
}
