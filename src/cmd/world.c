#include "cmd/world.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/paths.h"
#include "cmd/resolvers.h"
#include "cmd/sources.h"
#include "cmd/trust.h"
#include "net/registry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	FLOOR_MAX = 64,
	FILES_MAX = 6,
	RESOLV_CONF_BYTES = 1 << 16,
	GROUPS_MAX = 1 << 16,
};

/* Paths that are owned, with the NULL that ends them. */
struct paths {
	char *v[FLOOR_MAX + 1];
	size_t n;
};

struct world {
	struct policy_world policy;
	struct folders folders;
	char *shipped;
	struct registry *registry; /* net/registry.h */
	char **resolvers;
	char *resolvers_files[2];
	struct paths floor, read_only;
	/* Of the last world_files: */
	struct trust_record *project;
	struct paths files;
	char *name;
	char *notice;
	char *overlay_word; /* of world_overlay, or NULL */
	struct trust_file overlay;
};

/* --- policy_world ----------------------------------------------------- */

static int give(const struct trust_file *file, char **text, size_t *len_bytes, char **path)
{
	char *copy = calloc(1, file->len_bytes + 1);

	*path = copy ? strdup(file->path) : NULL;
	if (!*path) {
		free(copy);
		return -ERR_NOMEM;
	}
	memcpy(copy, file->text, file->len_bytes);
	*text = copy;
	*len_bytes = file->len_bytes;
	return 0;
}

/* A file of the project's policy as it was accepted; NULL: not one of them. */
static const struct trust_file *accepted(const struct world *w, const char *from_file,
                                         const char *word)
{
	auto_free char *folder = NULL;
	auto_free char *joined = NULL;
	auto_free char *canonical = NULL;
	char *slash;

	if (!w->project)
		return NULL;
	if (!from_file)
		return strcmp(word, w->project->path) == 0 ? trust_text(w->project, word) : NULL;
	if (!trust_text(w->project, from_file))
		return NULL;
	folder = strdup(from_file);
	slash = folder ? strrchr(folder, '/') : NULL;
	if (!slash)
		return NULL;
	*slash = '\0';
	joined = *word == '/' ? strdup(word) : paths_join(folder, word);
	if (!joined || paths_canonical(joined, &canonical))
		return NULL;
	return trust_text(w->project, canonical);
}

static int world_read(void *ctx, const char *from_file, const char *word, char **text,
                      size_t *len_bytes, char **path)
{
	struct world *w = ctx;
	const struct trust_file *file = accepted(w, from_file, word);
	bool of_project = from_file && w->project && trust_text(w->project, from_file);

	if (!from_file && w->overlay_word && strcmp(word, w->overlay_word) == 0)
		return give(&w->overlay, text, len_bytes, path);
	if (file)
		return give(file, text, len_bytes, path);
	/* What an accepted policy includes was accepted with it, or does not
	 * count; shipped policies are wary's own. */
	if (of_project && strchr(word, '/'))
		return -ERR_NOTFOUND;
	return sources_read(&w->folders, w->shipped, from_file, word, text, len_bytes, path);
}

/* The floor of every session has these folders, with the links that lead there; a link in
 * them leads out of it. */
static bool world_lasting(void *ctx, const char *path)
{
	const struct world *w = ctx;
	auto_free char *own = paths_join(w->folders.config, "wary");
	const char *const folders[] = {own, "/etc/wary"};

	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		auto_free char *canonical = NULL;

		if (folders[i] && paths_canonical(folders[i], &canonical) == 0 &&
		    paths_below(path, canonical))
			return true;
	}
	return false;
}

static char *link_target(const char *path)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(AT_FDCWD, path, target, sizeof target);

	return len > 0 && (size_t)len < sizeof target ? strndup(target, (size_t)len) : NULL;
}

static int put_link(void *ctx, const char *link)
{
	buf_add(ctx, link, strlen(link) + 1);
	return 0;
}

static char *world_links(void *ctx, const char *from_file, const char *word)
{
	const struct world *w = ctx;
	auto_buf out = BUF_INIT;
	auto_free char *file = sources_path(&w->folders, from_file, word);

	if (!file || paths_links(file, put_link, &out) != 0)
		return NULL;
	buf_add(&out, "", 1);
	return buf_take(&out);
}

static enum policy_kind world_look(void *ctx, const char *path, char **target, uint64_t *dev,
                                   uint64_t *ino)
{
	struct stat st;

	(void)ctx;
	if (lstat(path, &st))
		return POLICY_ABSENT;
	*dev = st.st_dev;
	*ino = st.st_ino;
	if (S_ISLNK(st.st_mode)) {
		*target = link_target(path);
		return *target ? POLICY_LINK : POLICY_ABSENT;
	}
	return S_ISDIR(st.st_mode) ? POLICY_FOLDER : POLICY_OTHER;
}

static char kind_letter(const struct dirent *entry, int folder_fd)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_LNK ? 'l' : entry->d_type == DT_DIR ? 'd' : 'o';
	if (fstatat(folder_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
		return 'o';
	return S_ISLNK(st.st_mode) ? 'l' : S_ISDIR(st.st_mode) ? 'd' : 'o';
}

static void close_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static char *world_list(void *ctx, const char *path, size_t max_names)
{
	__attribute__((cleanup(close_dir))) DIR *dir = opendir(path);
	const struct dirent *entry;
	auto_buf out = BUF_INIT;
	size_t n = 0;

	(void)ctx;
	if (!dir)
		return NULL;
	for (errno = 0; (entry = readdir(dir)); errno = 0) {
		if (n++ > max_names)
			return NULL;
		buf_chr(&out, kind_letter(entry, dirfd(dir)));
		buf_add(&out, entry->d_name, strlen(entry->d_name) + 1);
	}
	if (errno)
		return NULL;
	buf_chr(&out, '\0');
	return buf_take(&out);
}

static const char *world_variable(void *ctx, const char *name)
{
	const struct world *w = ctx;

	return folders_get(&w->folders, name);
}

static const char *environment(const char *name)
{
	return getenv(name);
}

static const char *world_environment(void *ctx, const char *name)
{
	(void)ctx;
	return environment(name);
}

static const char *const *world_registry(void *ctx, const char *manager)
{
	const struct world *w = ctx;

	if (strcmp(manager, "dns") == 0)
		return (const char *const *)w->resolvers;
	return registry_hosts(w->registry, manager);
}

static const char *const *world_registry_files(void *ctx, const char *manager)
{
	struct world *w = ctx;

	if (strcmp(manager, "dns") == 0)
		return (const char *const *)w->resolvers_files;
	return registry_files(w->registry, manager);
}

static bool in_group(const char *name)
{
	const struct group *group = getgrnam(name);
	gid_t *groups;
	bool found = false;
	int n = getgroups(0, NULL);

	if (!group || n < 0 || n > GROUPS_MAX)
		return false;
	if (group->gr_gid == getegid())
		return true;
	groups = calloc((size_t)n + 1, sizeof *groups);
	n = groups ? getgroups(n, groups) : 0;
	for (int i = 0; i < n; i++)
		found |= groups[i] == group->gr_gid;
	free(groups);
	return found;
}

/* "ana", "@group", "2001", "2001-2099". */
static bool world_user_is(void *ctx, const char *word)
{
	unsigned long long low;
	unsigned long long high;
	const char *dash = strchr(word, '-');
	auto_free char *first = strndup(word, dash ? (size_t)(dash - word) : strlen(word));
	const struct passwd *pw;

	(void)ctx;
	if (*word == '@')
		return in_group(word + 1);
	if (first && text_number(first, UINT32_MAX, &low) == 0 &&
	    text_number(dash ? dash + 1 : first, UINT32_MAX, &high) == 0)
		return geteuid() >= low && geteuid() <= high;
	pw = getpwuid(geteuid());
	return pw && strcmp(pw->pw_name, word) == 0;
}

/* --- making it -------------------------------------------------------- */

static int paths_take(struct paths *p, char *path)
{
	if (!path)
		return -ERR_NOMEM;
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->v[i], path) == 0) {
			free(path);
			return 0;
		}
	if (p->n == FLOOR_MAX) {
		free(path);
		return -ERR_BOUND;
	}
	p->v[p->n++] = path;
	return 0;
}

static void paths_drop(struct paths *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->v[i]);
	*p = (struct paths){.n = 0};
}

static int add_link(void *ctx, const char *link)
{
	struct world *w = ctx;

	return paths_take(&w->read_only, strdup(link));
}

int world_links_add(struct world *w, const char *path)
{
	return paths_links(path, add_link, w);
}

/* With the links that lead there: who replaces one has the next session look
 * elsewhere. */
static int add_canonical(struct world *w, struct paths *p, const char *path)
{
	char *canonical = NULL;
	int err = paths_canonical(path, &canonical);

	err = err ? err : paths_take(p, canonical);
	return err ? err : world_links_add(w, path);
}

static int add_below(struct world *w, struct paths *p, const char *folder, const char *name)
{
	auto_free char *path = paths_join(folder, name);

	return path ? add_canonical(w, p, path) : -ERR_NOMEM;
}

int world_floor_add(struct world *w, const char *path)
{
	return add_canonical(w, &w->floor, path);
}

/* The standard places too where the environment names others: another
 * session, or one of root's, may keep its record there. */
static int find_floor(struct world *w)
{
	const struct folders *f = &w->folders;
	int err = add_below(w, &w->floor, f->state, "wary");

	err = err ? err : add_below(w, &w->floor, f->home, ".local/state/wary");
	err = err ? err : add_below(w, &w->floor, f->runtime, "wary");
	err = err ? err : add_below(w, &w->read_only, f->config, "wary");
	err = err ? err : add_below(w, &w->read_only, f->home, ".config/wary");
	err = err ? err : add_canonical(w, &w->read_only, "/etc/wary");
	return err ? err : add_canonical(w, &w->read_only, w->shipped);
}

static int find_resolvers(struct world *w)
{
	auto_buf text = BUF_INIT;
	const char *said;

	if (paths_read("/etc/resolv.conf", RESOLV_CONF_BYTES, false, &text, NULL))
		buf_reset(&text);
	said = buf_text(&text);
	w->resolvers = resolvers_parse(said ? said : "");
	w->resolvers_files[0] = strdup("/etc/resolv.conf");
	return w->resolvers && w->resolvers_files[0] ? 0 : -ERR_NOMEM;
}

int world_new(struct world **out)
{
	struct world *w = calloc(1, sizeof *w);
	int err = w ? folders_find(&w->folders) : -ERR_NOMEM;

	if (w) {
		w->policy = (struct policy_world){
			.ctx = w,
			.read = world_read,
			.links = world_links,
			.lasting = world_lasting,
			.look = world_look,
			.list = world_list,
			.variable = world_variable,
			.environment = world_environment,
			.registry = world_registry,
			.registry_files = world_registry_files,
			.user_is = world_user_is,
			.floor_paths = (const char *const *)w->floor.v,
			.floor_read_only = (const char *const *)w->read_only.v,
			.now_s = clock_wall_ns() / 1000000000u,
		};
		w->shipped = sources_shipped();
	}
	if (!err && !w->shipped)
		err = -ERR_NOMEM;
	err = err ? err : find_floor(w);
	err = err ? err : find_resolvers(w);
	err = err ? err
	          : registry_new(w->folders.home, w->folders.config, environment, &w->registry);
	if (err) {
		world_free(w);
		return err;
	}
	*out = w;
	return 0;
}

static void drop_overlay(struct world *w)
{
	free(w->overlay_word);
	free(w->overlay.path);
	free(w->overlay.text);
	w->overlay_word = NULL;
	w->overlay = (struct trust_file){0};
}

int world_overlay(struct world *w, const char *word, const char *path, const char *text,
                  size_t len_bytes)
{
	drop_overlay(w);
	if (!word)
		return 0;
	w->overlay_word = strdup(word);
	w->overlay.path = strdup(path);
	w->overlay.text = strndup(text, len_bytes);
	w->overlay.len_bytes = len_bytes;
	return w->overlay_word && w->overlay.path && w->overlay.text ? 0 : -ERR_NOMEM;
}

static void forget_files(struct world *w)
{
	trust_free(w->project);
	paths_drop(&w->files);
	free(w->name);
	free(w->notice);
	w->project = NULL;
	w->name = NULL;
	w->notice = NULL;
}

void world_free(struct world *w)
{
	if (!w)
		return;
	forget_files(w);
	drop_overlay(w);
	folders_free(&w->folders);
	resolvers_free(w->resolvers);
	registry_free(w->registry);
	free(w->resolvers_files[0]);
	paths_drop(&w->floor);
	paths_drop(&w->read_only);
	free(w->shipped);
	free(w);
}

const struct folders *world_folders(const struct world *w)
{
	return &w->folders;
}

const char *world_shipped(const struct world *w)
{
	return w->shipped;
}

struct policy_world *world_policy(struct world *w)
{
	return &w->policy;
}

const char *world_name(const struct world *w)
{
	return w->name;
}

const char *world_notice(const struct world *w)
{
	return w->notice;
}

/* --- which policies --------------------------------------------------- */

void world_disk(struct world *w)
{
	trust_free(w->project);
	w->project = NULL;
}

static int add_word(struct world *w, const char *prefix, const char *word)
{
	auto_buf out = BUF_INIT;

	buf_str(&out, prefix);
	buf_str(&out, word);
	return paths_take(&w->files, buf_take(&out));
}

/* "team" of "/x/team.wary" and of "team". */
static char *name_of(const char *word)
{
	const char *slash = strrchr(word, '/');
	const char *base = slash ? slash + 1 : word;
	size_t len = strlen(base);

	if (len > 5 && strcmp(base + len - 5, ".wary") == 0)
		len -= 5;
	return strndup(base, len);
}

static int notice_of(struct world *w, const char *path, enum trust_state state)
{
	auto_free char *shown = text_printable_str(path, 0);
	auto_buf out = BUF_INIT;

	if (state == TRUST_CURRENT)
		return 0;
	buf_fmt(&out, "%s is %s", shown, trust_state_text(state));
	buf_fmt(&out, state == TRUST_NEW ? " and does not count" : ": it counts as it was");
	if (state != TRUST_GONE)
		buf_fmt(&out, "; to accept it: wary policy trust %s", shown);
	else
		buf_fmt(&out, "; to forget it: wary policy trust --forget %s", shown);
	w->notice = buf_take(&out);
	return w->notice ? 0 : -ERR_NOMEM;
}

/* The project's policy, as its user accepted it. */
static int add_project(struct world *w)
{
	auto_free char *path = NULL;
	int err = trust_find(&w->folders, &path, &w->project);

	if (err)
		return err == -ERR_NOTFOUND ? 0 : err;
	err = notice_of(w, path, trust_compare(w->project, path));
	if (err || !w->project)
		return err;
	return add_word(w, "project:", path);
}

static int add_user(struct world *w, const char *policy)
{
	auto_free char *own = sources_user(&w->folders);
	int err;

	if (policy) {
		w->name = name_of(policy);
		return w->name ? add_word(w, "", policy) : -ERR_NOMEM;
	}
	if (!own)
		return -ERR_NOMEM;
	if (access(own, F_OK) == 0) {
		w->name = strdup("policy");
		err = add_word(w, "", own);
	} else {
		w->name = strdup("default");
		err = add_word(w, "", "default");
	}
	return w->name ? err : -ERR_NOMEM;
}

static int add_answers(struct world *w)
{
	auto_free char *answers = sources_answers(&w->folders, w->name);

	if (!answers)
		return -ERR_NOMEM;
	return access(answers, F_OK) == 0 ? add_word(w, "answers:", answers) : 0;
}

int world_files(struct world *w, const struct world_want *want, const char *const **files)
{
	int err = 0;

	forget_files(w);
	if (!want->alone && access(SOURCES_MACHINE, F_OK) == 0)
		err = add_word(w, "machine:", SOURCES_MACHINE);
	err = err ? err : add_user(w, want->policy);
	if (!err && !want->policy)
		err = add_project(w);
	if (!err && want->rules)
		err = add_word(w, "rules:", want->rules);
	if (!err && !want->alone)
		err = add_answers(w);
	if (!err)
		*files = (const char *const *)w->files.v;
	return err;
}
