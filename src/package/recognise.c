#include "base/own.h"
#include "base/text.h"
#include "package/args.h"
#include "package/list.h"
#include "package/package.h"
#include "package/project.h"
#include "package/source.h"
#include "package/spec.h"
#include "package/tools.h"
#include "package/verb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FILES_MAX 32  /* requirements files, also those they include */
#define FOLDERS_UP 32 /* how far up a project is looked for */
#define PATH_BYTES 4096

/* One command on its way to a list. */
struct reading {
	struct package_list *list;
	const struct package_world *world;
	const struct package_program *program;
	const struct tool *tool;
	struct sources sources;
	const char *folder;    /* of the project, by an option; or NULL: here */
	const char *config[4]; /* further configuration files */
	size_t config_n;
	bool global;
	struct words words;
	const char *named[64]; /* packages that options name */
	size_t named_n;
	bool named_replace;           /* …in place of the first word */
	const char *files[FILES_MAX]; /* requirements that were read */
	size_t files_n;
};

/* ---- the world -------------------------------------------------------- */

static char *read_file(const struct reading *r, const char *path)
{
	size_t len;

	return r->world->read ? r->world->read(r->world->ctx, path, &len) : NULL;
}

static bool exists(const struct reading *r, const char *path)
{
	return r->world->exists && r->world->exists(r->world->ctx, path);
}

static const char *env(const struct reading *r, const char *name)
{
	size_t len = strlen(name);

	for (const char *const *e = r->world->envp; e && *e; e++)
		if (strncmp(*e, name, len) == 0 && (*e)[len] == '=')
			return *e + len + 1;
	return NULL;
}

static const char *joined(struct reading *r, const char *folder, const char *name)
{
	char path[PATH_BYTES];
	int n = snprintf(path, sizeof path, "%s/%s", folder, name);

	return n > 0 && (size_t)n < sizeof path ? list_str(r->list, path) : NULL;
}

/* ---- requirements files ----------------------------------------------- */

static void read_requirements(void *ctx, const char *path)
{
	struct reading *r = ctx;
	auto_free char *text = NULL;

	for (size_t i = 0; i < r->files_n; i++)
		if (strcmp(r->files[i], path) == 0)
			return;
	if (r->files_n == FILES_MAX) {
		r->list->incomplete = true;
		return;
	}
	r->files[r->files_n] = list_str(r->list, path);
	if (!r->files[r->files_n])
		return;
	r->files_n++;
	if (strstr(path, "://")) {
		spec_parse(r->list, SPEC_PYTHON, path);
		return;
	}
	text = read_file(r, path);
	if (!text)
		r->list->incomplete = true;
	else
		project_requirements(r->list, &r->sources, text, read_requirements, r);
}

/* ---- options and words ------------------------------------------------ */

static void add_named(struct reading *r, const char *text, bool replace)
{
	if (r->named_n == sizeof r->named / sizeof r->named[0]) {
		r->list->incomplete = true;
		return;
	}
	r->named[r->named_n++] = text;
	r->named_replace = r->named_replace || replace;
}

/* uv's --with and the like take several, parted by commas. */
static void add_listed(struct reading *r, const char *value, bool replace)
{
	if (r->tool->spec != SPEC_PYTHON) {
		add_named(r, value, replace);
		return;
	}
	while (*value) {
		size_t n = strcspn(value, ",");
		const char *one = list_text(r->list, value, n);

		if (one && *one)
			add_named(r, one, replace);
		value += n + (value[n] ? 1 : 0);
	}
}

static bool replaces_word(const struct arg *a)
{
	return arg_is(a, "p package from spec");
}

static void read_option(struct reading *r, const struct arg *a)
{
	const struct tool *t = r->tool;
	bool scope = a->name_len > 1 && a->name[0] == '@';

	if (arg_is(a, "g global location"))
		r->global = !a->value || strcmp(a->value, "global") == 0;
	if (arg_is(a, "no-index"))
		r->sources.no_index = true;
	if (!a->value)
		return;
	if (scope || arg_is(a, t->registry_options))
		source_set(&r->sources, a->name, a->name_len, a->value);
	if (arg_is(a, t->package_options))
		add_listed(r, a->value, replaces_word(a));
	if (arg_is(a, t->file_options))
		read_requirements(r, a->value);
	if (arg_is(a, t->folder_options))
		r->folder = a->value;
	if (arg_is(a, "userconfig globalconfig config config-file rc-file") && r->config_n < 4)
		r->config[r->config_n++] = a->value;
}

static void read_arguments(struct reading *r, const struct tool_call *call)
{
	bool runner = !call->tool->verbs[0].name && call->tool->other == VERB_RUN;
	struct args args;
	struct arg a;

	args_begin(&args, call);
	while (args_next(&args, &a)) {
		if (!a.is_word) {
			read_option(r, &a);
			continue;
		}
		if (r->words.n == WORDS_MAX) {
			r->list->incomplete = true;
			return;
		}
		r->words.items[r->words.n++] = (struct word){.text = a.text, .doubt = a.doubt};
		if (runner && !a.doubt)
			return; /* what follows is the started program's */
	}
}

/* ---- registries ------------------------------------------------------- */

/* npm's settings from the environment: any case, _ for -. */
static void read_npm_variable(struct reading *r, const char *entry)
{
	char name[128];
	size_t n = 0;
	const char *at = entry + sizeof "npm_config_" - 1;

	for (; *at && *at != '=' && n < sizeof name - 1; at++) {
		char c = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;

		name[n] = c == '_' && n ? '-' : c;
		n++;
	}
	if (*at != '=' || !at[1])
		return;
	name[n] = '\0';
	if (strcmp(name, "prefix") == 0 || strcmp(name, "local-prefix") == 0)
		return;
	if (strcmp(name, "package") == 0)
		add_named(r, at + 1, true);
	else if (strcmp(name, "userconfig") == 0 || strcmp(name, "globalconfig") == 0) {
		if (r->config_n < 4)
			r->config[r->config_n++] = at + 1;
	} else {
		source_set(&r->sources, name, n, at + 1);
	}
}

static void read_npm_environment(struct reading *r)
{
	static const char prefix[] = "npm_config_";

	for (const char *const *e = r->world->envp; e && *e; e++)
		if (strncasecmp(*e, prefix, sizeof prefix - 1) == 0)
			read_npm_variable(r, *e);
}

/* Of the managers of one kind: pip's say nothing of npm. */
static const struct {
	enum spec_kind spec;
	const char *variable, *option;
} variables[] = {
	{SPEC_PYTHON, "PIP_INDEX_URL", "index-url"},
	{SPEC_PYTHON, "PIP_EXTRA_INDEX_URL", "extra-index-url"},
	{SPEC_PYTHON, "PIP_PYPI_URL", "index-url"},
	{SPEC_PYTHON, "PIP_FIND_LINKS", "find-links"},
	{SPEC_PYTHON, "PIP_NO_INDEX", "no-index"},
	{SPEC_PYTHON, "UV_INDEX_URL", "index-url"},
	{SPEC_PYTHON, "UV_DEFAULT_INDEX", "index-url"},
	{SPEC_PYTHON, "UV_INDEX", "extra-index-url"},
	{SPEC_PYTHON, "UV_EXTRA_INDEX_URL", "extra-index-url"},
	{SPEC_PYTHON, "UV_FIND_LINKS", "find-links"},
	{SPEC_NPM, "YARN_REGISTRY", "registry"},
	{SPEC_NPM, "YARN_NPM_REGISTRY_SERVER", "registry"},
	{SPEC_NPM, "BUN_CONFIG_REGISTRY", "registry"},
	{SPEC_NPM, "NPM_REGISTRY", "registry"},
	{SPEC_PLAIN, "CONDA_CHANNELS", "channel"},
};

static void read_environment(struct reading *r)
{
	const char *files;

	if (r->tool->spec == SPEC_NPM)
		read_npm_environment(r);
	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
		const char *option = variables[i].option;
		const char *value = env(r, variables[i].variable);

		if (variables[i].spec == r->tool->spec && value && *value)
			source_set(&r->sources, option, strlen(option), value);
	}
	files = r->tool->spec == SPEC_PYTHON ? env(r, "PIP_REQUIREMENT") : NULL;
	for (; files && *files; files += strspn(files, " ")) {
		size_t n = strcspn(files, " ");
		const char *one = list_text(r->list, files, n);

		if (one && *one)
			read_requirements(r, one);
		files += n;
	}
}

static void read_config(struct reading *r, const char *path)
{
	auto_free char *text = path && *path ? read_file(r, path) : NULL;

	if (text)
		source_read(&r->sources, text);
}

static void read_below(struct reading *r, const char *folder, const char *const *names, size_t n)
{
	for (size_t i = 0; folder && i < n; i++)
		read_config(r, joined(r, folder, names[i]));
}

static void read_npm_config(struct reading *r, const char *folder)
{
	static const char *const names[] = {".npmrc", ".yarnrc", ".yarnrc.yml", "bunfig.toml",
	                                    ".bunfig.toml"};
	const size_t n = sizeof names / sizeof names[0];

	read_below(r, env(r, "HOME"), names, n);
	read_below(r, folder ? folder : ".", names, n);
}

static void read_python_config(struct reading *r)
{
	static const char *const home[] = {".config/pip/pip.conf", ".pip/pip.conf",
	                                   ".config/uv/uv.toml"};
	static const char *const here[] = {"uv.toml", "pyproject.toml"};
	static const char *const prefix[] = {"pip.conf"};
	static const char *const config[] = {"pip/pip.conf", "uv/uv.toml"};
	const char *slash = r->program->invoked ? strrchr(r->program->invoked, '/') : NULL;

	read_config(r, "/etc/pip.conf");
	read_below(r, env(r, "HOME"), home, 3);
	read_below(r, env(r, "XDG_CONFIG_HOME"), config, 2);
	read_below(r, env(r, "VIRTUAL_ENV"), prefix, 1);
	if (slash) { /* a virtual environment without its variable */
		const char *bin = list_text(r->list, r->program->invoked,
		                            (size_t)(slash - r->program->invoked));

		read_below(r, bin ? joined(r, bin, "..") : NULL, prefix, 1);
	}
	read_config(r, env(r, "PIP_CONFIG_FILE"));
	read_config(r, env(r, "UV_CONFIG_FILE"));
	if (strcmp(r->tool->manager, "pip") != 0)
		read_below(r, r->folder ? r->folder : ".", here, 2);
}

/* ---- projects --------------------------------------------------------- */

/* The folder above, by text; the room was made for FOLDERS_UP of them. */
static void up_one(char *path, size_t cap_bytes)
{
	size_t len = strlen(path);

	snprintf(path + len, cap_bytes - len, "/..");
}

/* The folder of the project: by an option, or the nearest with a package.json;
 * NULL if there is none. */
static const char *project_folder(struct reading *r)
{
	char path[3 * FOLDERS_UP + 16] = ".";
	const char *found;

	if (r->folder)
		return r->folder;
	for (unsigned i = 0; i < FOLDERS_UP; i++) {
		found = joined(r, path, "package.json");
		if (found && exists(r, found))
			return list_str(r->list, path);
		up_one(path, sizeof path);
	}
	return NULL;
}

/* There is more than can be told: the project as such is asked about. */
static void add_untold(struct reading *r)
{
	struct package *p = list_add(r->list);

	p->name = ".";
	p->path = true;
	p->unpinned = true;
}

static void read_npm_project(struct reading *r, const char *folder)
{
	auto_free char *manifest = folder ? read_file(r, joined(r, folder, "package.json")) : NULL;
	auto_free char *lock = NULL;

	if (!manifest || !project_manifest(r->list, manifest))
		r->list->incomplete = true;
	if (!folder || strcmp(r->tool->manager, "npm") != 0)
		return;
	lock = read_file(r, joined(r, folder, "npm-shrinkwrap.json"));
	if (!lock)
		lock = read_file(r, joined(r, folder, "package-lock.json"));
	if (lock && !project_lock(r->list, lock))
		r->list->incomplete = true;
}

static void read_project(struct reading *r, const char *folder)
{
	if (r->tool->spec == SPEC_NPM)
		read_npm_project(r, folder);
	else
		r->list->incomplete = true;
}

/* ---- what is asked for ------------------------------------------------ */

/* `npm init x` and the like fetch create-x. */
static const char *create_name(struct reading *r, const char *text)
{
	char out[PATH_BYTES];
	const char *version = text[0] ? strchr(text + 1, '@') : NULL;
	const char *slash = strchr(text, '/');
	size_t len = version ? (size_t)(version - text) : strlen(text);
	int n;

	if (strstr(text, ":") || text[0] == '.' || text[0] == '/')
		return text;
	if (text[0] == '@' && !slash)
		n = snprintf(out, sizeof out, "%.*s/create%s", (int)len, text,
		             version ? version : "");
	else if (text[0] == '@')
		n = snprintf(out, sizeof out, "%.*s/create-%s", (int)(slash - text), text,
		             slash + 1);
	else if (slash)
		return text;
	else
		n = snprintf(out, sizeof out, "create-%s", text);
	return n > 0 && (size_t)n < sizeof out ? list_str(r->list, out) : text;
}

/* Whether what is to be run is there already, so that nothing is fetched. */
static bool is_local(struct reading *r, const char *name)
{
	char up[3 * FOLDERS_UP + 16] = ".";
	bool has_version = name[0] && strchr(name + 1, '@');

	if (has_version || strpbrk(name, ":") || name[0] == '.' ||
	    (strcmp(r->tool->manager, "npm") != 0 && strcmp(r->tool->manager, "bun") != 0))
		return false;
	for (unsigned i = 0; i < FOLDERS_UP; i++) {
		char path[PATH_BYTES];
		int n = snprintf(path, sizeof path, "%s/node_modules/%s%s%s", up,
		                 name[0] == '@' ? "" : ".bin/", name,
		                 name[0] == '@' ? "/package.json" : "");

		if (n > 0 && (size_t)n < sizeof path && exists(r, path))
			return true;
		up_one(up, sizeof up);
	}
	return false;
}

static bool is_remote(const char *text)
{
	return strstr(text, "://") || text_starts(text, "npm:") || text_starts(text, "jsr:") ||
	       (text[0] && strchr(text + 1, '@'));
}

/* The words from @i on as packages; of those that run one, the first certain
 * one and what stands before it. */
static void add_words(struct reading *r, size_t i, enum verb_kind kind)
{
	for (; i < r->words.n; i++) {
		const struct word *w = &r->words.items[i];
		const char *text = kind == VERB_CREATE ? create_name(r, w->text) : w->text;
		bool one = kind == VERB_RUN || kind == VERB_CREATE || kind == VERB_REMOTE;
		bool skip = (kind == VERB_RUN && is_local(r, text)) ||
		            (kind == VERB_REMOTE && !is_remote(text));

		if (!skip)
			spec_parse(r->list, r->tool->spec, text);
		if (one && !w->doubt)
			return;
	}
}

static void add_asked(struct reading *r, enum verb_kind kind, size_t operand, const char *folder)
{
	bool none = operand >= r->words.n && !r->named_n && !r->list->n && !r->list->incomplete;
	bool project = kind == VERB_PROJECT || (kind == VERB_ADD && none) ||
	               (kind == VERB_ADD && r->tool->spec == SPEC_NPM);

	for (size_t i = 0; i < r->named_n; i++)
		spec_parse(r->list, r->tool->spec, r->named[i]);
	if (kind != VERB_PROJECT && kind != VERB_WITH && !(r->named_replace && kind == VERB_RUN))
		add_words(r, operand, kind);
	if (project && !(r->global && kind == VERB_ADD && !none))
		read_project(r, folder);
}

static void set_registries(struct reading *r)
{
	for (size_t i = 0; i < r->list->n; i++) {
		struct package *p = &r->list->items[i];

		if (!p->name)
			p->name = "?";
		if (!p->registry && !p->git && !p->url && !p->path)
			p->registry = source_of(&r->sources, r->list->manager, p->name);
	}
}

/* Configuration first, then environment, then options: the later replaces. */
static void read_all(struct reading *r, const struct tool_call *call)
{
	const char *folder = NULL;
	enum verb_kind kind;
	size_t operand;
	struct sources from_options;

	read_arguments(r, call);
	kind = verb_choose(r->tool, &r->words, 0, &operand);
	r->list->installs = verb_installs(kind);
	if (!r->list->installs) {
		r->list->n = 0;
		r->list->incomplete = false;
		return;
	}
	from_options = r->sources;
	r->sources = (struct sources){.list = r->list, .world = r->world};
	if (r->tool->spec == SPEC_NPM) {
		folder = project_folder(r);
		read_npm_config(r, folder);
	} else if (r->tool->spec == SPEC_PYTHON) {
		read_python_config(r);
	}
	read_environment(r);
	for (size_t i = 0; i < r->config_n; i++)
		read_config(r, r->config[i]);
	sources_over(&r->sources, &from_options);
	add_asked(r, kind, operand, folder);
	/* If that verb was an option's value, the next one is the verb. */
	while (operand > 0 && operand < r->words.n && r->words.items[operand - 1].doubt) {
		size_t before = operand;

		kind = verb_choose(r->tool, &r->words, before, &operand);
		if (!verb_installs(kind) || operand <= before)
			break;
		add_asked(r, kind, operand, folder);
	}
	if (r->list->incomplete)
		add_untold(r);
	r->list->installs = r->list->n > 0;
	set_registries(r);
}

int package_recognise(const struct package_program *p, const struct package_world *w,
                      struct package_list *out)
{
	struct tool_call call;
	struct reading *r;
	int err = list_begin(out);

	if (err || !tool_find(p, &call))
		return err;
	r = calloc(1, sizeof *r);
	if (!r)
		return -ERR_NOMEM;
	r->list = out;
	r->world = w;
	r->program = p;
	r->tool = call.tool;
	r->sources.list = out;
	r->sources.world = w;
	out->manager = call.tool->manager;
	read_all(r, &call);
	free(r);
	return list_failed(out) ? -ERR_NOMEM : 0;
}
