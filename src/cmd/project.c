#include "cmd/project.h"

#include "base/buf.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/folders.h"
#include "cmd/paths.h"
#include "policy/world.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

enum { SMALL_FILE_BYTES = 1 << 16 };

static const char *const version_marks[] = {".git", ".hg", ".jj", ".svn", ".wary", NULL};
static const char *const build_marks[] = {
	"package.json", "pyproject.toml", "setup.py",         "setup.cfg",    "requirements.txt",
	"Cargo.toml",   "go.mod",         "CMakeLists.txt",   "meson.build",  "configure.ac",
	"GNUmakefile",  "Makefile",       "makefile",         "pom.xml",      "build.gradle",
	"Gemfile",      "composer.json",  "build.gradle.kts", "mix.exs",      "dune-project",
	"stack.yaml",   "Pipfile",        "deno.json",        "MODULE.bazel", "WORKSPACE",
	"flake.nix",    "Rakefile",       "build.zig",        "pubspec.yaml", NULL,
};

/* Folders of the system: never a project themselves, some with all below. */
static const struct {
	const char *path;
	bool below;
	bool unmarked_below; /* below it only with a mark */
} system_folders[] = {
	{"/bin", true, true},        {"/boot", true, true},        {"/dev", true, true},
	{"/etc", true, true},        {"/lib", true, true},         {"/lib32", true, true},
	{"/lib64", true, true},      {"/libx32", true, true},      {"/proc", true, true},
	{"/run", true, true},        {"/sbin", true, true},        {"/sys", true, true},
	{"/usr/bin", true, true},    {"/usr/include", true, true}, {"/usr/lib", true, true},
	{"/usr/sbin", true, true},   {"/usr/share", true, true},   {"/usr/libexec", true, true},
	{"/usr", false, true},       {"/usr/local", false, true},  {"/usr/src", false, true},
	{"/opt", false, true},       {"/var", false, true},        {"/var/tmp", false, false},
	{"/var/lib", false, true},   {"/var/spool", false, true},  {"/var/cache", false, true},
	{"/home", false, false},     {"/media", false, false},     {"/mnt", false, false},
	{"/root", false, false},     {"/srv", false, false},       {"/tmp", false, false},
	{"/lost+found", true, true},
};

static bool is_home(const struct folders *f, const char *path)
{
	if (strcmp(path, f->home) == 0)
		return true;
	if (f->home_of_uid && strcmp(path, f->home_of_uid) == 0)
		return true;
	return text_starts(path, "/home/") && !strchr(path + 6, '/');
}

/* Whether a home lies in it: its keys would be the project's. */
static bool holds_home(const struct folders *f, const char *path)
{
	return paths_below(f->home, path) || (f->home_of_uid && paths_below(f->home_of_uid, path));
}

/* A hidden folder of the home, or below one: some tool keeps its own there. */
static bool is_hidden(const char *home, const char *path)
{
	return home && paths_below(path, home) && text_starts(path + strlen(home), "/.");
}

static bool may_be(const struct folders *f, const char *path, bool marked)
{
	if (strcmp(path, "/") == 0 || is_home(f, path) || holds_home(f, path))
		return false;
	if (!marked && (is_hidden(f->home, path) || is_hidden(f->home_of_uid, path)))
		return false;
	if (!marked && paths_below(path, "/var/tmp") && strcmp(path, "/var/tmp") != 0)
		return true;
	for (size_t i = 0; i < sizeof system_folders / sizeof system_folders[0]; i++) {
		bool below = marked ? system_folders[i].below : system_folders[i].unmarked_below;

		if (strcmp(path, system_folders[i].path) == 0 ||
		    (below && paths_below(path, system_folders[i].path)))
			return false;
	}
	return true;
}

static bool ours(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && st.st_uid == geteuid();
}

static bool has_mark(const char *folder, const char *const *marks)
{
	for (; *marks; marks++) {
		auto_free char *mark = paths_join(folder, *marks);

		if (mark && ours(mark))
			return true;
	}
	return false;
}

/* The nearest folder at or above @from with one of the marks, or NULL. */
static char *nearest(const struct folders *f, const char *from, const char *const *marks)
{
	auto_free char *at = strdup(from);

	if (!at)
		return NULL;
	while (at[1]) {
		char *slash;

		if (is_home(f, at))
			return NULL;
		if (may_be(f, at, true) && ours(at) && has_mark(at, marks))
			break;
		slash = strrchr(at, '/');
		slash[slash == at] = '\0';
	}
	return at[1] ? ptr_take(at) : NULL;
}

char *project_find(const struct folders *f)
{
	char *found = nearest(f, f->cwd, version_marks);

	if (!found)
		found = nearest(f, f->cwd, build_marks);
	if (found)
		return found;
	if (may_be(f, f->cwd, false) && ours(f->cwd))
		return strdup(f->cwd);
	return strdup(POLICY_NO_PROJECT);
}

/* The text of a small file of this user's own, without its last newlines. */
static char *line_of(const char *folder, const char *name)
{
	auto_free char *path = paths_join(folder, name);
	auto_buf text = BUF_INIT;

	if (!path || !ours(path) || paths_read(path, SMALL_FILE_BYTES, false, &text, NULL))
		return NULL;
	while (text.len_bytes > 0 && strchr("\r\n", text.data[text.len_bytes - 1]))
		text.data[--text.len_bytes] = '\0';
	return buf_take(&text);
}

/* @name, taken from @folder where it is relative, as a canonical path. */
static char *from_folder(const char *folder, const char *name)
{
	auto_free char *joined = *name == '/' ? strdup(name) : paths_join(folder, name);
	char *out = NULL;

	if (!joined || paths_canonical(joined, &out))
		return NULL;
	return out;
}

static bool is_repository(const char *folder)
{
	static const char *const parts[] = {"HEAD", "objects", "refs"};

	if (!ours(folder))
		return false;
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		auto_free char *path = paths_join(folder, parts[i]);

		if (!path || !ours(path))
			return false;
	}
	return true;
}

/* A linked worktree: its folder lies in the common repository and names the
 * project back.  Where it lies decides: the project's own .git file, and any
 * folder that it names, may have been written by an earlier tree. */
static char *worktree_common(const char *gitdir, const char *project)
{
	auto_free char *back = line_of(gitdir, "gitdir");
	auto_free char *common = line_of(gitdir, "commondir");
	auto_free char *mark = paths_join(project, ".git");
	auto_free char *named = back ? from_folder(gitdir, back) : NULL;
	auto_free char *found = common ? from_folder(gitdir, common) : NULL;
	auto_free char *worktrees = found ? paths_join(found, "worktrees") : NULL;

	if (!named || !mark || strcmp(named, mark) != 0 || !worktrees ||
	    !paths_below(gitdir, worktrees) || !is_repository(found))
		return NULL;
	return ptr_take(found);
}

/* A submodule: core.worktree of its repository names the project. */
static char *submodule(const char *gitdir, const char *project)
{
	auto_free char *config = line_of(gitdir, "config");
	char *at = config ? strstr(config, "\tworktree = ") : NULL;
	auto_free char *named = NULL;

	if (!at || !is_repository(gitdir))
		return NULL;
	at += strlen("\tworktree = ");
	at[strcspn(at, "\r\n")] = '\0';
	named = from_folder(gitdir, at);
	return named && strcmp(named, project) == 0 ? strdup(gitdir) : NULL;
}

char *project_gitdir(const char *project)
{
	auto_free char *mark = paths_join(project, ".git");
	auto_free char *line = NULL;
	auto_free char *gitdir = NULL;
	char *found = NULL;
	struct stat st;

	if (!mark || lstat(mark, &st) || st.st_uid != geteuid())
		return strdup(POLICY_NO_PROJECT);
	if (S_ISDIR(st.st_mode))
		return ptr_take(mark);
	line = line_of(project, ".git");
	if (line && text_starts(line, "gitdir: "))
		gitdir = from_folder(project, line + strlen("gitdir: "));
	if (gitdir)
		found = worktree_common(gitdir, project);
	if (gitdir && !found)
		found = submodule(gitdir, project);
	return found ? found : strdup(POLICY_NO_PROJECT);
}
