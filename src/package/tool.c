#include "package/tool.h"

#include "base/text.h"
#include "package/tools.h"

#include <string.h>

/* How an interpreter is told what to run. */
struct interpreter {
	const char *names;
	const char *values; /* letters of options that take a value */
	const char *long_values;
	char module;      /* the letter after which a module's name stands, or 0 */
	const char *code; /* letters after which code stands: no script follows */
};

static const struct interpreter interpreters[] = {
	{"node nodejs", "rC",
         "require import experimental-loader loader env-file conditions "
         "input-type icu-data-dir openssl-config redirect-warnings title "
         "test-reporter watch-path disable-warning",
         0, "ep"},
	{"python pypy", "WX", "check-hash-based-pycs", 'm', "c"},
	{"ruby", "IrCEF", "", 0, "e"},
	{"php", "dcz", "define php-ini", 0, "rBRE"},
	{"perl", "IMm", "", 0, "eE"},
	{"sh bash dash zsh ksh", "oO", "rcfile init-file", 0, "c"},
	{"bun deno", "", "", 0, ""},
};

/* Endings of programs of an interpreter. */
static const char *const endings[] = {".js", ".cjs", ".mjs", ".py", ".pyz", ".exe", ".sh", ".phar"};

size_t tool_base(const char *path, const char **base)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
		size_t n = strlen(endings[i]);

		if (len > n && strcmp(name + len - n, endings[i]) == 0) {
			len -= n;
			break;
		}
	}
	*base = name;
	return len;
}

/* Without a version at the end: pip3.11, python3, yarn-3.6.1, npm-cli. */
static size_t without_version(const char *name, size_t len)
{
	size_t n = len;

	while (n > 0 && ((name[n - 1] >= '0' && name[n - 1] <= '9') || name[n - 1] == '.'))
		n--;
	while (n > 0 && n < len && name[n - 1] == '-')
		n--;
	if (n > 4 && memcmp(name + n - 4, "-cli", 4) == 0)
		n -= 4;
	return n ? n : len;
}

static const struct tool *tool_of_path(const char *path)
{
	const char *base;
	size_t len = tool_base(path, &base);
	const struct tool *t = tools_named(base, len);

	return t ? t : tools_named(base, without_version(base, len));
}

static const struct interpreter *interpreter_of(const char *path)
{
	const char *base;
	size_t len = tool_base(path, &base);

	len = without_version(base, len);
	for (size_t i = 0; i < sizeof interpreters / sizeof interpreters[0]; i++)
		if (word_in(interpreters[i].names, base, len))
			return &interpreters[i];
	return NULL;
}

bool package_is_interpreter(const char *path)
{
	return interpreter_of(path) != NULL;
}

/* `python -m pip`, also pip.__main__ and pip._internal. */
static const struct tool *tool_of_module(const char *module)
{
	return tools_named(module, strcspn(module, "."));
}

/* `python /usr/lib/…/pip`, `…/pip/__main__.py`, a wheel of pip. */
static const struct tool *tool_of_script(const char *path)
{
	const struct tool *t = tool_of_path(path);
	const char *base;
	size_t len = tool_base(path, &base);
	const char *end = base > path ? base - 1 : NULL;
	const char *from = end;

	if (t || !end || len != 8 || memcmp(base, "__main__", 8) != 0)
		return t;
	while (from > path && from[-1] != '/')
		from--;
	return tools_named(from, (size_t)(end - from));
}

/* What an interpreter's cluster of letters (-Im) says; *value: what it takes
 * from the next argument on. */
enum cluster { CLUSTER_FLAGS, CLUSTER_VALUE, CLUSTER_MODULE, CLUSTER_CODE };

static enum cluster read_cluster(const struct interpreter *in, const char *letters,
                                 const char **joined)
{
	for (; *letters; letters++) {
		*joined = letters[1] ? letters + 1 : NULL;
		if (strchr(in->code, *letters))
			return CLUSTER_CODE;
		if (in->module && *letters == in->module)
			return CLUSTER_MODULE;
		if (strchr(in->values, *letters))
			return CLUSTER_VALUE;
	}
	return CLUSTER_FLAGS;
}

/* An interpreter's arguments: finds the module or script that it runs. */
static const struct tool *through_interpreter(const struct interpreter *in, const char *const *argv,
                                              size_t argc, size_t *next)
{
	for (size_t i = 1; i < argc; i++) {
		const char *a = argv[i];
		const char *joined = NULL;

		if (a[0] != '-' || !a[1]) {
			*next = i + 1;
			return a[0] == '-' ? NULL : tool_of_script(a);
		}
		if (a[1] == '-') {
			if (!a[2]) /* "--": the script follows */
				continue;
			if (!strchr(a, '=') && word_in(in->long_values, a + 2, strlen(a + 2)))
				i++;
			continue;
		}
		switch (read_cluster(in, a + 1, &joined)) {
		case CLUSTER_FLAGS:
			break;
		case CLUSTER_VALUE:
			i += joined ? 0 : 1;
			break;
		case CLUSTER_MODULE:
			if (!joined && i + 1 >= argc)
				return NULL;
			*next = joined ? i + 1 : i + 2;
			return tool_of_module(joined ? joined : argv[i + 1]);
		case CLUSTER_CODE:
			return NULL;
		}
	}
	return NULL;
}

/* `corepack pnpm@8 dlx x` is pnpm. */
static bool through_corepack(struct tool_call *c)
{
	while (c->n && c->args[0][0] == '-') {
		c->args++;
		c->n--;
	}
	if (!c->n)
		return false;
	c->tool = tools_named(c->args[0], strcspn(c->args[0], "@"));
	c->args++;
	c->n--;
	return c->tool != NULL;
}

static bool is_corepack(const char *path)
{
	const char *base;
	size_t len = tool_base(path, &base);

	return len == 8 && memcmp(base, "corepack", 8) == 0;
}

bool tool_find(const struct package_program *p, struct tool_call *out)
{
	const char *what = p->script ? p->script : p->image;
	const struct interpreter *in = interpreter_of(what);
	size_t next = 1;

	*out = (struct tool_call){.tool = tool_of_script(what)};
	if (!out->tool && is_corepack(what)) {
		out->args = p->argv + (p->argc ? 1 : 0);
		out->n = p->argc ? p->argc - 1 : 0;
		return through_corepack(out);
	}
	if (!out->tool && in) {
		out->tool = through_interpreter(in, p->argv, p->argc, &next);
		/* `node …/corepack.js pnpm dlx` */
		if (!out->tool && next > 1 && next <= p->argc && is_corepack(p->argv[next - 1])) {
			out->args = p->argv + next;
			out->n = p->argc - next;
			return through_corepack(out);
		}
	}
	if (!out->tool)
		return false;
	next = next < p->argc ? next : p->argc;
	out->args = p->argv + next;
	out->n = p->argc - next;
	return true;
}

const char *package_manager_of(const struct package_program *p)
{
	struct tool_call c;

	return tool_find(p, &c) ? c.tool->manager : NULL;
}
