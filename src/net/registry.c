#include "net/registry.h"

#include "base/buf.h"
#include "base/own.h"
#include "net/config.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILES_MAX 64
#define TEXT_MAX_BYTES ((size_t)4 << 20)

/* What is known of one manager. */
struct manager {
	bool looked;
	bool failed;               /* without memory, or more than fits: nothing is known */
	struct config_hosts hosts; /* what counts in the end */
	char *files[FILES_MAX + 1];
	size_t files_n;
};

enum { NPM, PIP, APT, MANAGERS };
static const char *const names[MANAGERS] = {"npm", "pip", "apt"};

struct registry {
	char *home;
	char *config;
	const char *(*getenv)(const char *name);
	struct manager managers[MANAGERS];
};

int registry_new(const char *home, const char *config, const char *(*getenv_)(const char *name),
                 struct registry **out)
{
	struct registry *r = calloc(1, sizeof *r);

	if (!r)
		return -ERR_NOMEM;
	r->home = strdup(home);
	r->config = strdup(config);
	r->getenv = getenv_;
	if (!r->home || !r->config) {
		registry_free(r);
		return -ERR_NOMEM;
	}
	*out = r;
	return 0;
}

void registry_free(struct registry *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < MANAGERS; i++) {
		config_hosts_free(&r->managers[i].hosts);
		for (size_t j = 0; j < r->managers[i].files_n; j++)
			free(r->managers[i].files[j]);
	}
	free(r->home);
	free(r->config);
	free(r);
}

/* ---- files ------------------------------------------------------------ */

static void note_file(struct manager *m, const char *path)
{
	char *copy = strdup(path);

	if (!copy || m->files_n == FILES_MAX) {
		m->failed = true;
		free(copy);
		return;
	}
	m->files[m->files_n++] = copy;
	m->files[m->files_n] = NULL;
}

/* The text of a regular file, or NULL. */
static char *text_of(const char *path)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	auto_buf text = BUF_INIT;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return NULL;
	buf_init(&text, TEXT_MAX_BYTES);
	return buf_read_file(&text, fd) == 0 ? buf_take(&text) : NULL;
}

/* A file that counts: noted as such, also while it is absent where @always. */
static char *read_noted(struct manager *m, const char *path, bool always)
{
	char *text = path && path[0] == '/' ? text_of(path) : NULL;

	if (path && path[0] == '/' && (text || always))
		note_file(m, path);
	return text;
}

__attribute__((format(printf, 2, 3))) static char *path_of(struct manager *m, const char *fmt, ...)
{
	char *path = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&path, fmt, ap) < 0) {
		m->failed = true;
		path = NULL;
	}
	va_end(ap);
	return path;
}

/* The real name of what @path leads to, or NULL. */
static char *real_of(const char *path)
{
	char link[32];
	char name[PATH_MAX];
	ssize_t n;
	auto_fd fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlinkat(AT_FDCWD, link, name, sizeof name - 1);
	return n > 0 ? strndup(name, (size_t)n) : NULL;
}

/* The real name of a program in PATH, or NULL. */
static char *program(const struct registry *r, const char *name)
{
	const char *path = r->getenv("PATH");

	while (path && *path) {
		size_t len = strcspn(path, ":");
		char full[PATH_MAX];
		int n = snprintf(full, sizeof full, "%.*s/%s", (int)len, path, name);

		if (len > 0 && path[0] == '/' && n > 0 && (size_t)n < sizeof full &&
		    access(full, X_OK) == 0)
			return real_of(full);
		path += len + (path[len] == ':');
	}
	return NULL;
}

/* Cuts the last @n components off. Returns whether there were so many. */
static bool cut(char *path, unsigned n)
{
	while (n-- > 0) {
		char *slash = strrchr(path, '/');

		if (!slash || slash == path)
			return false;
		*slash = '\0';
	}
	return true;
}

/* ---- npm -------------------------------------------------------------- */

static const char *env_of(void *ctx, const char *name)
{
	const struct registry *r = ctx;

	return r->getenv(name);
}

static void npmrc(struct registry *r, const char *path, bool always, struct config_hosts *scopes)
{
	struct manager *m = &r->managers[NPM];
	const struct config_env env = {.get = env_of, .ctx = r};
	auto_free char *text = read_noted(m, path, always);

	if (text)
		config_npmrc(text, &env, &m->hosts, scopes);
}

/* The default registry, from the definitions of the npm that would run. */
static void npm_default(struct registry *r, const char *npm)
{
	static const char *const below[] = {
		"node_modules/@npmcli/config/lib/definitions/definitions.js",
		"../@npmcli/config/lib/definitions/definitions.js",
		"lib/utils/config/definitions.js",
	};
	struct manager *m = &r->managers[NPM];

	for (size_t i = 0; m->hosts.n == 0 && i < sizeof below / sizeof below[0]; i++) {
		auto_free char *path = path_of(m, "%s/%s", npm, below[i]);
		auto_free char *real = path ? real_of(path) : NULL;
		auto_free char *text = read_noted(m, real, false);

		if (text)
			config_npm_default(text, &m->hosts);
	}
}

/* The folder of the npm that would run, or of one in a usual place. */
static char *npm_folder(struct registry *r)
{
	static const char *const usual[] = {"/usr/lib/node_modules/npm", "/usr/share/nodejs/npm",
	                                    "/usr/local/lib/node_modules/npm"};
	auto_free char *npm = program(r, "npm");
	size_t len = npm ? strlen(npm) : 0;

	if (len > 15 && strcmp(npm + len - 15, "/bin/npm-cli.js") == 0 && cut(npm, 2))
		return ptr_take(npm);
	for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
		if (access(usual[i], F_OK) == 0)
			return strdup(usual[i]);
	return NULL;
}

static void npm_own_files(struct registry *r, struct config_hosts *scopes)
{
	struct manager *m = &r->managers[NPM];
	auto_free char *folder = npm_folder(r);
	auto_free char *built_in = folder ? path_of(m, "%s/npmrc", folder) : NULL;
	auto_free char *node = program(r, "node");
	auto_free char *global = NULL;
	const char *said = r->getenv("NPM_CONFIG_GLOBALCONFIG");

	if (folder)
		npm_default(r, folder);
	npmrc(r, built_in, false, scopes);
	if (node && cut(node, 2))
		global = path_of(m, "%s/etc/npmrc", node);
	npmrc(r, said ? said : global, false, scopes);
}

static void look_npm(struct registry *r)
{
	static const char *const variables[] = {"npm_config_registry", "NPM_CONFIG_REGISTRY"};
	struct manager *m = &r->managers[NPM];
	struct config_hosts scopes = {.n = 0};
	auto_free char *user = path_of(m, "%s/.npmrc", r->home);
	const char *said = r->getenv("NPM_CONFIG_USERCONFIG");

	npm_own_files(r, &scopes);
	npmrc(r, said ? said : user, true, &scopes);
	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
		const char *url = r->getenv(variables[i]);
		struct config_hosts one = {.n = 0};

		if (!url || !config_add_url(&one, url, strlen(url)))
			continue;
		config_hosts_free(&m->hosts);
		m->hosts = one;
	}
	config_hosts_join(&m->hosts, &scopes);
	config_hosts_free(&scopes);
}

/* ---- pip -------------------------------------------------------------- */

static void pip_default_in(struct registry *r, const char *pattern)
{
	struct manager *m = &r->managers[PIP];
	glob_t found;

	if (m->hosts.n > 0 || glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; m->hosts.n == 0 && i < found.gl_pathc; i++) {
		auto_free char *real = real_of(found.gl_pathv[i]);
		auto_free char *text = read_noted(m, real, false);

		if (text)
			config_pip_default(text, &m->hosts);
	}
	globfree(&found);
}

/* Index and file store, from the modules of the pip that would run.  A shim
 * (pyenv, asdf) is a script beside the versions that it chooses from. */
static void pip_default(struct registry *r)
{
	static const char *const programs[] = {"pip3", "pip", "python3", "python"};
	static const char *const below[] = {
		"lib/python3*/site-packages", "lib/python3*/dist-packages",
		"versions/*/lib/python3*/site-packages", "lib/python3/dist-packages"};
	struct manager *m = &r->managers[PIP];

	for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
		auto_free char *prefix = program(r, programs[i]);

		if (!prefix || !cut(prefix, 2))
			continue;
		for (size_t j = 0; j < sizeof below / sizeof below[0]; j++) {
			auto_free char *pattern =
				path_of(m, "%s/%s/pip/_internal/models/index.py", prefix, below[j]);

			if (pattern)
				pip_default_in(r, pattern);
		}
	}
}

static void pip_conf(struct registry *r, const char *path, bool always, struct config_hosts *extra)
{
	struct manager *m = &r->managers[PIP];
	auto_free char *text = read_noted(m, path, always);

	if (text)
		config_pip(text, &m->hosts, extra);
}

static void pip_variables(struct registry *r, struct config_hosts *extra)
{
	static const char *const more[] = {"PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"};
	struct manager *m = &r->managers[PIP];
	const char *index = r->getenv("PIP_INDEX_URL");
	struct config_hosts one = {.n = 0};

	if (index)
		config_pip_words(index, &one);
	if (one.n > 0) {
		config_hosts_free(&m->hosts);
		m->hosts = one;
	}
	for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
		if (r->getenv(more[i]))
			config_pip_words(r->getenv(more[i]), extra);
}

static void look_pip(struct registry *r)
{
	struct manager *m = &r->managers[PIP];
	struct config_hosts extra = {.n = 0};
	auto_free char *old = path_of(m, "%s/.pip/pip.conf", r->home);
	auto_free char *user = path_of(m, "%s/pip/pip.conf", r->config);

	pip_default(r);
	pip_conf(r, "/etc/xdg/pip/pip.conf", false, &extra);
	pip_conf(r, "/etc/pip.conf", false, &extra);
	pip_conf(r, old, true, &extra);
	pip_conf(r, user, true, &extra);
	pip_conf(r, r->getenv("PIP_CONFIG_FILE"), true, &extra);
	pip_variables(r, &extra);
	config_hosts_join(&m->hosts, &extra);
	config_hosts_free(&extra);
}

/* ---- apt -------------------------------------------------------------- */

static void apt_files(struct registry *r, const char *pattern,
                      void (*read)(const char *text, struct config_hosts *out))
{
	struct manager *m = &r->managers[APT];
	glob_t found;

	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		auto_free char *text = read_noted(m, found.gl_pathv[i], false);

		if (text)
			read(text, &m->hosts);
	}
	globfree(&found);
}

static void look_apt(struct registry *r)
{
	apt_files(r, "/etc/apt/sources.list", config_apt_list);
	apt_files(r, "/etc/apt/sources.list.d/*.list", config_apt_list);
	apt_files(r, "/etc/apt/sources.list.d/*.sources", config_apt_sources);
}

/* ---- answers ---------------------------------------------------------- */

static struct manager *manager_of(struct registry *r, const char *name)
{
	static void (*const look[MANAGERS])(struct registry * r) = {look_npm, look_pip, look_apt};

	for (size_t i = 0; i < MANAGERS; i++) {
		struct manager *m = &r->managers[i];

		if (strcmp(name, names[i]) != 0)
			continue;
		if (!m->looked)
			look[i](r);
		m->looked = true;
		return m->failed || m->hosts.overflow ? NULL : m;
	}
	return NULL;
}

const char *const *registry_hosts(struct registry *r, const char *manager)
{
	struct manager *m = manager_of(r, manager);

	return m && m->hosts.n > 0 ? (const char *const *)m->hosts.words : NULL;
}

const char *const *registry_files(struct registry *r, const char *manager)
{
	struct manager *m = manager_of(r, manager);

	return m && m->files_n > 0 ? (const char *const *)m->files : NULL;
}
