/* trust: a project's policy counts as its user accepted it (law 8). */
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/effect.h"
#include "cmd/paths.h"
#include "cmd/trust.h"
#include "cmd/verbs.h"
#include "policy/check.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* A world that notes which files of the project a load reads. */
struct gather {
	const struct policy_world *inner;
	const char *project;
	struct trust_record *record;
};

static int gather_read(void *ctx, const char *from_file, const char *word, char **text,
                       size_t *len_bytes, char **path)
{
	struct gather *g = ctx;
	bool project = !from_file && strcmp(word, g->project) == 0;
	bool included = from_file && strchr(word, '/') && trust_text(g->record, from_file);
	int err = g->inner->read(g->inner->ctx, from_file, word, text, len_bytes, path);

	if (err || (!project && !included) || trust_text(g->record, *path))
		return err;
	err = trust_add(g->record, *path, *text, *len_bytes);
	if (err) {
		free(*text);
		free(*path);
	}
	return err;
}

/* The other functions of a world get its own context. */
static const struct policy_world *inner_of(void *ctx)
{
	return ((struct gather *)ctx)->inner;
}

static enum policy_kind gather_look(void *ctx, const char *path, char **target, uint64_t *dev,
                                    uint64_t *ino)
{
	return inner_of(ctx)->look(inner_of(ctx)->ctx, path, target, dev, ino);
}

static char *gather_list(void *ctx, const char *path, size_t max_names)
{
	return inner_of(ctx)->list(inner_of(ctx)->ctx, path, max_names);
}

static const char *gather_variable(void *ctx, const char *name)
{
	return inner_of(ctx)->variable(inner_of(ctx)->ctx, name);
}

static const char *gather_environment(void *ctx, const char *name)
{
	return inner_of(ctx)->environment(inner_of(ctx)->ctx, name);
}

static const char *const *gather_registry(void *ctx, const char *manager)
{
	return inner_of(ctx)->registry(inner_of(ctx)->ctx, manager);
}

static const char *const *gather_registry_files(void *ctx, const char *manager)
{
	return inner_of(ctx)->registry_files(inner_of(ctx)->ctx, manager);
}

static bool gather_user_is(void *ctx, const char *word)
{
	return inner_of(ctx)->user_is(inner_of(ctx)->ctx, word);
}

static struct policy_world gathering(struct gather *g)
{
	struct policy_world w = *g->inner;

	w.ctx = g;
	w.read = gather_read;
	w.links = NULL; /* nothing is run under what is only looked at */
	w.look = gather_look;
	w.list = gather_list;
	w.variable = gather_variable;
	w.environment = gather_environment;
	w.registry = gather_registry;
	w.registry_files = gather_registry_files;
	w.user_is = gather_user_is;
	return w;
}

/* Both policies, without and with the project's, and what it consists of. */
struct trial {
	struct policy *before, *after;
	struct policy_report *report;
	struct trust_record *record;
};

static void drop_trial(struct trial *x)
{
	policy_free(x->before);
	policy_free(x->after);
	policy_report_free(x->report);
	trust_free(x->record);
}
#define auto_trial __attribute__((cleanup(drop_trial))) struct trial

enum { WORDS_MAX = 8 };

/* The words of what is in force, the project's aside, and room for it. */
static int base_words(struct tool *t, const char *words[WORDS_MAX])
{
	struct world_want want = {.policy = NULL};
	const char *const *files;
	size_t n = 0;
	int err = world_files(t->world, &want, &files);

	for (; !err && *files && n + 2 < WORDS_MAX; files++)
		if (!text_starts(*files, "project:") && !text_starts(*files, "answers:"))
			words[n++] = *files;
	words[n] = NULL;
	return err;
}

static int try_out(struct tool *t, const char *path, struct trial *x)
{
	const char *words[WORDS_MAX] = {NULL};
	auto_free char *project = NULL;
	struct gather g = {world_policy(t->world), path, NULL};
	struct policy_world world;
	size_t n = 0;
	int err = base_words(t, words);

	x->record = g.record = calloc(1, sizeof *g.record);
	if (!x->record || asprintf(&project, "project:%s", path) < 0)
		return -ERR_NOMEM;
	err = err ? err : policy_load(g.inner, words, &x->before, &x->report);
	if (err)
		return err;
	while (words[n])
		n++;
	words[n] = project;
	/* As it is now, not as it was accepted before. */
	world_disk(t->world);
	world = gathering(&g);
	policy_report_free(x->report);
	x->report = NULL;
	return policy_check(&world, words, &x->after, &x->report);
}

static void day_of(uint64_t seconds, char day[16])
{
	time_t at = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&at, &tm) || !strftime(day, 16, "%Y-%m-%d", &tm))
		memcpy(day, "?", 2);
}

static void print_files(const struct trial *x)
{
	for (size_t i = 0; i < x->record->files_n; i++) {
		auto_free char *path = text_printable_str(x->record->files[i].path, 0);

		printf("%s %s\n", i ? "  includes" : "policy    ", path);
	}
	printf("owner      uid %u\nsha256     %s\n", x->record->owner, x->record->sha256);
}

static int print_trial(const struct tool *t, const struct trial *x)
{
	struct effects e;
	int err = effect_find(t, x->before, x->after, &e);

	if (err)
		return err;
	print_files(x);
	puts("looser than your policy by itself, by examples:");
	if (!effect_print(t, &e, true))
		puts("  nothing");
	puts("stricter than it:");
	if (!effect_print(t, &e, false))
		puts("  nothing");
	if (e.unweighed_n)
		puts("rules to read yourself, since no example says it all:");
	for (size_t i = 0; i < e.unweighed_n; i++)
		printf("  %s\n", e.unweighed[i]);
	effects_free(&e);
	return 0;
}

static bool ends_in(const char *path, const char *tail)
{
	size_t len = strlen(path);

	return len > strlen(tail) && strcmp(path + len - strlen(tail), tail) == 0;
}

/* Where a project's policy lies: FILE, or below the folder FILE. */
static int path_of(const char *word, char **path)
{
	auto_free char *canonical = NULL;
	struct stat st;
	int err = paths_canonical(word, &canonical);

	if (err)
		return err;
	if (stat(canonical, &st) == 0 && S_ISDIR(st.st_mode)) {
		*path = paths_join(canonical,
		                   ends_in(canonical, "/.wary") ? "policy.wary" : TRUST_FILE);
		return *path ? 0 : -ERR_NOMEM;
	}
	if (!ends_in(canonical, "/" TRUST_FILE))
		return -ERR_FORMAT;
	*path = ptr_take(canonical);
	return 0;
}

static int accept_policy(struct tool *t, const char *path)
{
	auto_trial x = {NULL, NULL, NULL, NULL};
	int err = try_out(t, path, &x);

	if (x.report)
		tool_print_report(t, stderr, x.report);
	if (err == -ERR_POLICY)
		return TOOL_ERRORS;
	err = err ? err : trust_seal(x.record);
	err = err ? err : print_trial(t, &x);
	if (err)
		return tool_failed(t, path, err);
	if (!tool_confirm(t, "accept it as it is?"))
		return TOOL_WARNED;
	err = trust_save(world_folders(t->world), x.record);
	return err ? tool_failed(t, path, err) : TOOL_CLEAN;
}

/* --- the accepted ones ------------------------------------------------ */

static void print_record(void *ctx, const struct trust_record *r)
{
	auto_free char *path = text_printable_str(r->path, 0);
	char day[16];

	(void)ctx;
	day_of(r->accepted_s, day);
	printf("%s  %.12s  %s  (%s)\n", day, r->sha256, path,
	       trust_state_text(trust_compare(r, r->path)));
}

static void add_record(void *ctx, const struct trust_record *r)
{
	json_array_append_new(ctx,
	                      json_pack("{s:o, s:s, s:I, s:I, s:s}", "path", tool_text(r->path),
	                                "sha256", r->sha256, "owner", (json_int_t)r->owner,
	                                "accepted", (json_int_t)r->accepted_s, "state",
	                                trust_state_text(trust_compare(r, r->path))));
}

static int list(struct tool *t)
{
	json_t *all = t->options & TOOL_JSON ? json_array() : NULL;
	int err = trust_each(world_folders(t->world), all ? add_record : print_record, all);

	if (err) {
		json_decref(all);
		return tool_failed(t, "the accepted policies", err);
	}
	return all ? tool_print_json(all) : TOOL_CLEAN;
}

int verb_trust(struct tool *t)
{
	auto_free char *path = NULL;
	int err;

	if (!t->args_n && !(t->options & TOOL_FORGET))
		return list(t);
	err = path_of(t->args_n ? t->args[0] : world_folders(t->world)->cwd, &path);
	if (err == -ERR_FORMAT) {
		log_error("policy trust: a project's policy is its " TRUST_FILE);
		return CMD_FAILED;
	}
	if (err)
		return tool_failed(t, t->args_n ? t->args[0] : "the project", err);
	if (!(t->options & TOOL_FORGET))
		return accept_policy(t, path);
	err = trust_forget(world_folders(t->world), path);
	return err ? tool_failed(t, path, err) : TOOL_CLEAN;
}
