#include "secret/hijack.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

enum reads {
	READS_PATHS,   /* names of files or folders, parted by : ; or blanks */
	READS_CODE,    /* code, or a name that is looked up elsewhere */
	READS_OPTIONS, /* options, some of which load files */
};

static const struct {
	const char *name; /* ends in * for a beginning */
	enum reads reads;
	const char *of; /* programs that read it, blank-separated; NULL: any */
} variables[] = {
	/* glibc and musl */
	{"LD_LIBRARY_PATH", READS_PATHS, NULL},
	{"LD_PRELOAD", READS_PATHS, NULL},
	{"LD_AUDIT", READS_PATHS, NULL},
	{"LD_DEBUG_OUTPUT", READS_PATHS, NULL},
	{"LD_PROFILE_OUTPUT", READS_PATHS, NULL},
	{"LD_*", READS_OPTIONS, NULL},
	{"GCONV_PATH", READS_PATHS, NULL},
	{"LOCPATH", READS_PATHS, NULL},
	{"NLSPATH", READS_PATHS, NULL},
	{"MALLOC_TRACE", READS_PATHS, NULL},
	{"GLIBC_TUNABLES", READS_OPTIONS, NULL},
	{"MUSL_LOCPATH", READS_PATHS, NULL},
	{"HOSTALIASES", READS_PATHS, NULL},
	{"RESOLV_HOST_CONF", READS_PATHS, NULL},
	/* libraries that load modules, or write keys */
	{"OPENSSL_CONF", READS_PATHS, NULL},
	{"OPENSSL_ENGINES", READS_PATHS, NULL},
	{"OPENSSL_MODULES", READS_PATHS, NULL},
	{"SSLKEYLOGFILE", READS_PATHS, NULL},
	{"SASL_PATH", READS_PATHS, NULL},
	{"KRB5_CONFIG", READS_PATHS, NULL},
	{"GIO_EXTRA_MODULES", READS_PATHS, NULL},
	{"GTK_MODULES", READS_CODE, NULL},
	{"GTK_PATH", READS_PATHS, NULL},
	{"QT_PLUGIN_PATH", READS_PATHS, NULL},
	{"PKCS11_PROVIDER_PATH", READS_PATHS, NULL},
	/* interpreters */
	{"PYTHONPATH", READS_PATHS, "python pypy"},
	{"PYTHONHOME", READS_PATHS, "python pypy"},
	{"PYTHONSTARTUP", READS_PATHS, "python pypy"},
	{"PYTHONUSERBASE", READS_PATHS, "python pypy"},
	{"PYTHONPYCACHEPREFIX", READS_PATHS, "python pypy"},
	{"PYTHONEXECUTABLE", READS_PATHS, "python pypy"},
	{"PYTHONPLATLIBDIR", READS_CODE, "python pypy"},
	{"PYTHONINSPECT", READS_CODE, "python pypy"},
	{"PYTHONBREAKPOINT", READS_CODE, "python pypy"},
	{"PYTHONWARNINGS", READS_OPTIONS, "python pypy"},
	{"NODE_OPTIONS", READS_OPTIONS, "node nodejs electron bun deno"},
	{"NODE_PATH", READS_PATHS, "node nodejs electron bun deno"},
	{"NODE_REPL_EXTERNAL_MODULE", READS_PATHS, "node nodejs electron bun deno"},
	{"PERL5LIB", READS_PATHS, "perl"},
	{"PERLLIB", READS_PATHS, "perl"},
	{"PERL5OPT", READS_CODE, "perl"},
	{"PERL5DB", READS_CODE, "perl"},
	{"RUBYLIB", READS_PATHS, "ruby"},
	{"RUBYOPT", READS_CODE, "ruby"},
	{"GEM_HOME", READS_PATHS, "ruby"},
	{"GEM_PATH", READS_PATHS, "ruby"},
	{"BASH_ENV", READS_CODE, "sh bash dash"},
	{"ENV", READS_CODE, "sh bash dash ksh"},
	{"SHELLOPTS", READS_CODE, "sh bash"},
	{"BASHOPTS", READS_CODE, "sh bash dash"},
	{"BASH_FUNC_*", READS_CODE, "sh bash dash"},
	{"PS4", READS_CODE, "sh bash dash zsh ksh"},
	{"PROMPT_COMMAND", READS_CODE, "sh bash"},
	{"ZDOTDIR", READS_PATHS, "zsh"},
	{"LUA_INIT*", READS_CODE, "lua luajit"},
	{"LUA_PATH*", READS_CODE, "lua luajit"},
	{"LUA_CPATH*", READS_CODE, "lua luajit"},
	{"PHPRC", READS_PATHS, "php"},
	{"PHP_INI_SCAN_DIR", READS_PATHS, "php"},
	{"CLASSPATH", READS_PATHS, "java"},
	{"JAVA_TOOL_OPTIONS", READS_OPTIONS, "java"},
	{"JDK_JAVA_OPTIONS", READS_OPTIONS, "java"},
	{"_JAVA_OPTIONS", READS_OPTIONS, "java"},
	{"DOTNET_STARTUP_HOOKS", READS_PATHS, "dotnet"},
	{"CORECLR_PROFILER*", READS_CODE, "dotnet"},
	/* tools that start what these name, with what they were given */
	{"GIT_*", READS_CODE, ""},
	{"npm_config_script_shell", READS_PATHS, "node nodejs"},
	{"npm_config_node_options", READS_OPTIONS, "node nodejs"},
};

static int find(const char *entry)
{
	size_t len = strcspn(entry, "=");

	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
		const char *name = variables[i].name;
		size_t n;

		if (name[0] != entry[0]) /* of most: each exec asks for each of its variables */
			continue;
		n = strlen(name);
		if (name[n - 1] == '*' ? len >= n - 1 && strncmp(entry, name, n - 1) == 0
		                       : len == n && strncmp(entry, name, n) == 0)
			return (int)i;
	}
	return -1;
}

bool hijack_variable(const char *entry)
{
	return find(entry) >= 0;
}

static bool paths_fixed(const char *value, bool (*fixed)(const void *ctx, const char *path),
                        const void *ctx)
{
	while (*value) {
		char path[PATH_MAX];
		size_t n = strcspn(value, ":; ");

		if (n >= sizeof path)
			return false;
		memcpy(path, value, n);
		path[n] = '\0';
		/* An empty part is the folder that the program is in. */
		if (path[0] != '/' || strstr(path, "/..") || strchr(path, '$') || !fixed(ctx, path))
			return false;
		value += n;
		if (*value && !*++value)
			return false;
	}
	return true;
}

static bool options_harmless(const char *value)
{
	static const char *const loading[] = {"/",  "require", "import", "loader",
	                                      "-r", "agent",   "data:",  "env-file"};

	for (size_t i = 0; i < sizeof loading / sizeof loading[0]; i++)
		if (strstr(value, loading[i]))
			return false;
	return true;
}

/* Whether the image is one of the programs: by the beginning of its name, since
 * versions follow (python3.11). */
static bool is_read_by(const char *of, const char *image)
{
	const char *slash = strrchr(image, '/');
	const char *name = slash ? slash + 1 : image;

	if (!of)
		return true;
	while (*of) {
		size_t n = strcspn(of, " ");

		if (strncmp(name, of, n) == 0)
			return true;
		of += n;
		of += strspn(of, " ");
	}
	return false;
}

bool hijack_takes_over(const char *entry, const char *image,
                       bool (*fixed)(const void *ctx, const char *path), const void *ctx)
{
	int i = find(entry);
	const char *value = strchr(entry, '=');

	if (i < 0 || !value || !value[1] || !is_read_by(variables[i].of, image))
		return false;
	if (variables[i].reads == READS_PATHS)
		return !paths_fixed(value + 1, fixed, ctx);
	return variables[i].reads == READS_CODE || !options_harmless(value + 1);
}
