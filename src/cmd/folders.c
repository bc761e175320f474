#include "cmd/folders.h"

#include "base/own.h"
#include "cmd/paths.h"
#include "cmd/project.h"
#include "policy/world.h"

#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Where a process without a home of its own is said to live. */
#define NO_HOME "/nonexistent"

static const struct {
	const char *name;
	size_t at; /* offset of the pointer in struct folders */
} names[] = {
	{"HOME", offsetof(struct folders, home)},
	{"HOME_OF_UID", offsetof(struct folders, home_of_uid)},
	{"PROJECT", offsetof(struct folders, project)},
	{"GITDIR", offsetof(struct folders, gitdir)},
	{"TMPDIR", offsetof(struct folders, tmpdir)},
	{"CACHE", offsetof(struct folders, cache)},
	{"CONFIG", offsetof(struct folders, config)},
	{"STATE", offsetof(struct folders, state)},
	{"RUNTIME", offsetof(struct folders, runtime)},
};

static char **field(struct folders *f, size_t i)
{
	return (char **)((char *)f + names[i].at);
}

const char *folders_get(const struct folders *f, const char *name)
{
	if (strcmp(name, "UID") == 0)
		return f->uid;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i].name, name) == 0)
			return *(char *const *)((const char *)f + names[i].at);
	return NULL;
}

void folders_free(struct folders *f)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		free(*field(f, i));
	free(f->cwd);
	*f = (struct folders){0};
}

/* The canonical form, or a copy where there is none. */
static char *settled(const char *path)
{
	char *out = NULL;

	if (paths_canonical(path, &out) == 0)
		return out;
	return strdup(path);
}

/* A folder that the environment names: absolute, and not the whole disk. */
static const char *given(const char *variable)
{
	const char *value = getenv(variable);

	return value && value[0] == '/' && value[strspn(value, "/")] ? value : NULL;
}

static char *below_home(const struct folders *f, const char *variable, const char *name)
{
	const char *value = given(variable);
	auto_free char *standard = paths_join(f->home, name);

	if (!value && !standard)
		return NULL;
	return settled(value ? value : standard);
}

static char *database_home(void)
{
	const struct passwd *pw = getpwuid(geteuid());

	if (!pw || !pw->pw_dir || pw->pw_dir[0] != '/' || !pw->pw_dir[strspn(pw->pw_dir, "/")])
		return NULL;
	return settled(pw->pw_dir);
}

static int find_home(struct folders *f)
{
	auto_free char *database = database_home();
	const char *value = given("HOME");

	f->home = value ? settled(value) : database ? strdup(database) : strdup(NO_HOME);
	if (!f->home)
		return -ERR_NOMEM;
	if (database && strcmp(database, f->home) != 0)
		f->home_of_uid = ptr_take(database);
	return 0;
}

static char *find_tmpdir(void)
{
	const char *value = given("TMPDIR");
	struct stat st;

	if (value && stat(value, &st) == 0 && S_ISDIR(st.st_mode))
		return settled(value);
	return settled("/tmp");
}

static char *find_runtime(void)
{
	const char *value = given("XDG_RUNTIME_DIR");
	char standard[40];

	snprintf(standard, sizeof standard, "/run/user/%u", geteuid());
	return settled(value ? value : standard);
}

int folders_find(struct folders *out)
{
	*out = (struct folders){0};
	snprintf(out->uid, sizeof out->uid, "%u", geteuid());
	if (find_home(out))
		return -ERR_NOMEM;
	out->cwd = getcwd(NULL, 0);
	if (out->cwd && out->cwd[0] != '/') { /* "(unreachable)/…" */
		free(out->cwd);
		out->cwd = NULL;
	}
	if (!out->cwd)
		out->cwd = strdup("/");
	out->tmpdir = find_tmpdir();
	out->cache = below_home(out, "XDG_CACHE_HOME", ".cache");
	out->config = below_home(out, "XDG_CONFIG_HOME", ".config");
	out->state = below_home(out, "XDG_STATE_HOME", ".local/state");
	out->runtime = find_runtime();
	if (!out->cwd || !out->tmpdir || !out->cache || !out->config || !out->state ||
	    !out->runtime)
		return -ERR_NOMEM;
	out->project = project_find(out);
	out->gitdir = out->project ? project_gitdir(out->project) : NULL;
	return out->project && out->gitdir ? 0 : -ERR_NOMEM;
}
