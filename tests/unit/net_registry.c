/* net/registry: what the user's own files and variables name, read from a home
 * of the test's own. */
#include "net/registry.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const *variables;

static const char *lookup(const char *name)
{
	size_t len = strlen(name);

	for (const char *const *v = variables; *v; v++)
		if (strncmp(*v, name, len) == 0 && (*v)[len] == '=')
			return *v + len + 1;
	return NULL;
}

static void put(const char *path, const char *text, mode_t mode)
{
	char copy[512];
	int fd;

	snprintf(copy, sizeof copy, "%s", path);
	for (char *s = strchr(copy + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = '\0';
		mkdir(copy, 0755);
		*s = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		tap_ok(false, "cannot write %s", path);
	close(fd);
}

static void put_in(const char *home, const char *name, const char *text, mode_t mode)
{
	char path[512];

	snprintf(path, sizeof path, "%s/%s", home, name);
	put(path, text, mode);
}

static bool has(const char *const *words, const char *word)
{
	for (; words && *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

static bool has_file(const char *const *files, const char *tail)
{
	for (; files && *files; files++)
		if (strlen(*files) >= strlen(tail) &&
		    strcmp(*files + strlen(*files) - strlen(tail), tail) == 0)
			return true;
	return false;
}

static struct registry *made(const char *home)
{
	struct registry *r = NULL;
	char config[512];

	snprintf(config, sizeof config, "%s/.config", home);
	tap_is_int(registry_new(home, config, lookup, &r), 0, "a registry");
	return r;
}

static void defaults(const char *home, const char *path)
{
	const char *const env[] = {path, NULL};
	struct registry *r;

	variables = env;
	r = made(home);
	tap_ok(has(registry_hosts(r, "npm"), "npm.example.org:443"),
	       "npm's default, from the npm that PATH finds through a link");
	tap_ok(has_file(registry_files(r, "npm"), "definitions.js"), "its file is named");
	tap_ok(has_file(registry_files(r, "npm"), "/.npmrc"),
	       "and the user's, which is not there yet");
	tap_ok(has(registry_hosts(r, "pip"), "pip.example.org:443") &&
	               has(registry_hosts(r, "pip"), "files.example.org:443"),
	       "pip's index and file store");
	tap_ok(!registry_hosts(r, "cargo") && !registry_files(r, "cargo"), "an unknown manager");
	registry_free(r);
}

static void files(const char *home, const char *path)
{
	const char *const env[] = {path, NULL};
	struct registry *r;

	put_in(home, ".npmrc",
	       "registry=https://mine.example.org:4873/\n@a:registry=http://a.example.org\n", 0600);
	put_in(home, ".config/pip/pip.conf", "[global]\nindex-url=https://own.example.org/simple\n",
	       0600);
	variables = env;
	r = made(home);
	tap_ok(has(registry_hosts(r, "npm"), "mine.example.org:4873") &&
	               has(registry_hosts(r, "npm"), "a.example.org:80") &&
	               !has(registry_hosts(r, "npm"), "npm.example.org:443"),
	       "~/.npmrc takes the default's place and adds scopes");
	tap_ok(has(registry_hosts(r, "pip"), "own.example.org:443") &&
	               !has(registry_hosts(r, "pip"), "pip.example.org:443"),
	       "pip.conf likewise");
	registry_free(r);
}

static void environment(const char *home, const char *path)
{
	const char *const env[] = {path, "npm_config_registry=https://env.example.org",
	                           "PIP_INDEX_URL=https://penv.example.org/simple",
	                           "PIP_FIND_LINKS=/srv/wheels http://links.example.org:81/", NULL};
	struct registry *r;

	variables = env;
	r = made(home);
	tap_ok(has(registry_hosts(r, "npm"), "env.example.org:443") &&
	               !has(registry_hosts(r, "npm"), "mine.example.org:4873"),
	       "the environment is above ~/.npmrc");
	tap_ok(has(registry_hosts(r, "pip"), "penv.example.org:443") &&
	               has(registry_hosts(r, "pip"), "links.example.org:81"),
	       "and above pip.conf");
	registry_free(r);
}

int main(void)
{
	char home[] = "net_registry.XXXXXX";
	char full[512];
	char path[1024];
	char cwd[256];

	if (!mkdtemp(home) || !getcwd(cwd, sizeof cwd))
		return 1;
	snprintf(full, sizeof full, "%s/%s", cwd, home);
	put_in(full, "n/lib/node_modules/npm/bin/npm-cli.js", "#!/usr/bin/env node\n", 0755);
	put_in(full,
	       "n/lib/node_modules/npm/node_modules/@npmcli/config/lib/definitions/definitions.js",
	       "  registry: new Definition('registry', {\n default: 'https://npm.example.org/',",
	       0644);
	put_in(full, "n/bin/pip3", "#!/bin/sh\n", 0755);
	put_in(full, "n/lib/python3.11/site-packages/pip/_internal/models/index.py",
	       "\nPyPI = PackageIndex(\"https://pip.example.org/\", "
	       "file_storage_domain=\"files.example.org\")\n",
	       0644);
	snprintf(path, sizeof path, "%s/n/bin/npm", full);
	tap_is_int(symlink("../lib/node_modules/npm/bin/npm-cli.js", path), 0, "a link to npm");
	snprintf(path, sizeof path, "PATH=/nonexistent:relative:%s/n/bin", full);
	defaults(full, path);
	files(full, path);
	environment(full, path);
	scratch_remove(full);
	return tap_done();
}
