#include "cmd/sources.h"

#include "base/buf.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/paths.h"
#include "policy/world.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* Any of the shipped ones: tells a folder of policies from another. */
#define ANY_SHIPPED "system.wary"
enum { SUMMARY_BYTES = 200 };

static bool is_file(const char *folder, const char *name)
{
	auto_free char *path = paths_join(folder, name);

	return path && access(path, R_OK) == 0;
}

char *sources_shipped(void)
{
	const char *given = getenv("WARY_POLICY_DIR");
	auto_free char *exe = NULL;
	auto_free char *beside = NULL;
	char *slash;

	if (given && *given)
		return strdup(given);
	if (paths_canonical("/proc/self/exe", &exe) == 0) {
		slash = strrchr(exe, '/');
		slash[1] = '\0';
		beside = paths_join(exe, "policy");
	}
	if (beside && is_file(exe, "config.status") && is_file(beside, ANY_SHIPPED))
		return ptr_take(beside);
	return strdup(WARY_DATADIR "/policy");
}

static char *joined(const char *folder, const char *sub, const char *name)
{
	auto_free char *below = paths_join(folder, sub);

	return below ? paths_join(below, name) : NULL;
}

char *sources_user(const struct folders *f)
{
	return joined(f->config, "wary", "policy.wary");
}

static char *with_suffix(const char *name)
{
	auto_buf out = BUF_INIT;

	buf_str(&out, name);
	buf_str(&out, ".wary");
	return buf_take(&out);
}

char *sources_answers(const struct folders *f, const char *policy)
{
	auto_free char *file = with_suffix(policy);
	auto_free char *folder = joined(f->config, "wary", "answers");

	return file && folder ? paths_join(folder, file) : NULL;
}

/* The folder of @from_file with @word behind it. */
static char *beside(const char *from_file, const char *word)
{
	auto_free char *folder = strdup(from_file);
	char *slash = folder ? strrchr(folder, '/') : NULL;

	if (!slash)
		return NULL;
	slash[slash == folder] = '\0';
	return paths_join(folder, word);
}

static bool ends_in_wary(const char *word)
{
	size_t len = strlen(word);

	return len > 5 && strcmp(word + len - 5, ".wary") == 0;
}

static int read_path(const struct folders *f, const char *file, char **text, size_t *len_bytes,
                     char **path)
{
	auto_buf out = BUF_INIT;
	auto_free char *ours = paths_join(f->config, "wary");
	bool guarded;
	int err;

	if (!ours)
		return -ERR_NOMEM;
	guarded = paths_below(file, "/etc/wary") || paths_below(file, ours);
	err = paths_read(file, POLICY_TEXT_MAX_BYTES, guarded, &out, path);
	if (err)
		return err;
	*len_bytes = out.len_bytes;
	*text = out.data ? buf_take(&out) : strdup("");
	return *text ? 0 : -ERR_NOMEM;
}

/* A name: a shipped policy first, so that none can be passed off as one. */
static int read_name(const struct folders *f, const char *shipped, const char *word, char **text,
                     size_t *len_bytes, char **path)
{
	auto_free char *file = with_suffix(word);
	auto_free char *first = file ? paths_join(shipped, file) : NULL;
	auto_free char *second = file ? joined(f->config, "wary", file) : NULL;
	auto_free char *found = NULL;
	int err;

	if (!first || !second)
		return -ERR_NOMEM;
	err = read_path(f, first, text, len_bytes, &found);
	if (!err) {
		*path = ptr_take(file);
		return 0;
	}
	return err == -ERR_NOTFOUND ? read_path(f, second, text, len_bytes, path) : err;
}

static bool is_name(const char *from_file, const char *word)
{
	return !strchr(word, '/') && (from_file || !ends_in_wary(word) || access(word, F_OK) != 0);
}

char *sources_path(const struct folders *f, const char *from_file, const char *word)
{
	auto_free char *file = NULL;

	if (is_name(from_file, word)) {
		file = with_suffix(word);
		return file ? joined(f->config, "wary", file) : NULL;
	}
	return *word == '/' || !from_file ? strdup(word) : beside(from_file, word);
}

int sources_read(const struct folders *f, const char *shipped, const char *from_file,
                 const char *word, char **text, size_t *len_bytes, char **path)
{
	auto_free char *file = NULL;

	if (!*word)
		return -ERR_NOTFOUND;
	if (is_name(from_file, word))
		return read_name(f, shipped, word, text, len_bytes, path);
	file = sources_path(f, from_file, word);
	/* A shipped policy includes by name only: it has no folder to the user. */
	if (!file)
		return -ERR_NOTFOUND;
	return read_path(f, file, text, len_bytes, path);
}

/* The first sentence of the comment that follows the version line:
 * "NAME: what it is for." without the name. */
static char *summary_of(const char *file)
{
	auto_buf text = BUF_INIT;
	auto_buf out = BUF_INIT;
	const char *p;
	const char *colon;

	if (paths_read(file, POLICY_TEXT_MAX_BYTES, false, &text, NULL) || !text.data)
		return strdup("");
	p = strstr(text.data, "\n#");
	for (p = p ? p + 1 : ""; *p == '#' && out.len_bytes < SUMMARY_BYTES;) {
		size_t len = strcspn(p, "\n");

		buf_add(&out, p + 1, len - 1);
		p += len + (p[len] == '\n');
	}
	p = buf_text(&out);
	colon = p ? strstr(p, ": ") : NULL;
	p = colon ? colon + 2 : p;
	for (size_t i = 0; p && p[i]; i++)
		if (p[i] == '.' && (p[i + 1] == ' ' || !p[i + 1]))
			return strndup(p, i);
	return strdup("");
}

/* A part says so in the comment at its head. */
static bool is_part(const char *file)
{
	auto_buf text = BUF_INIT;

	return paths_read(file, POLICY_TEXT_MAX_BYTES, false, &text, NULL) == 0 && text.data &&
	       strstr(text.data, "not one to run under");
}

struct list {
	struct sources_item *items;
	size_t count;
};

static int add(struct list *l, enum sources_kind kind, const char *name, const char *file)
{
	struct sources_item *grown = reallocarray(l->items, l->count + 1, sizeof *grown);
	struct sources_item item = {.kind = kind};

	if (!grown)
		return -ERR_NOMEM;
	l->items = grown;
	item.name = strdup(name);
	item.path = strdup(file);
	item.summary = summary_of(file);
	if (kind == SOURCES_SHIPPED && is_part(file))
		item.kind = SOURCES_PART;
	l->items[l->count++] = item;
	return item.name && item.path && item.summary ? 0 : -ERR_NOMEM;
}

static int add_folder(struct list *l, enum sources_kind kind, const char *folder)
{
	struct dirent **names = NULL;
	int n = scandir(folder, &names, NULL, alphasort);
	int err = 0;

	for (int i = 0; i < n; i++) {
		char *name = names[i]->d_name;
		auto_free char *file = paths_join(folder, name);

		if (ends_in_wary(name) && file) {
			name[strlen(name) - 5] = '\0';
			err = err ? err : add(l, kind, name, file);
		}
		free(names[i]);
	}
	free(names);
	return err;
}

static int by_kind_and_name(const void *a, const void *b)
{
	const struct sources_item *x = a;
	const struct sources_item *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->name, y->name);
}

int sources_list(const struct folders *f, const char *shipped, struct sources_item **out,
                 size_t *count)
{
	struct list l = {NULL, 0};
	auto_free char *own = paths_join(f->config, "wary");
	int err = own ? 0 : -ERR_NOMEM;

	err = err ? err : add_folder(&l, SOURCES_SHIPPED, shipped);
	err = err ? err : add_folder(&l, SOURCES_USER, own);
	if (!err && access(SOURCES_MACHINE, R_OK) == 0)
		err = add(&l, SOURCES_MACHINE_FILE, "policy", SOURCES_MACHINE);
	if (err) {
		sources_list_free(l.items, l.count);
		return err;
	}
	if (l.count)
		qsort(l.items, l.count, sizeof *l.items, by_kind_and_name);
	*out = l.items;
	*count = l.count;
	return 0;
}

void sources_list_free(struct sources_item *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(items[i].name);
		free(items[i].path);
		free(items[i].summary);
	}
	free(items);
}
