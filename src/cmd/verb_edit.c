/* allow and deny: one rule more in the user's policy. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/effect.h"
#include "cmd/paths.h"
#include "cmd/sources.h"
#include "cmd/verbs.h"
#include "policy/check.h"

#include <string.h>
#include <time.h>

static const char first_text[] = "wary 1\n"
				 "# My own policy: default, and what follows.\n"
				 "\n"
				 "include \"default\"\n"
				 "\n";

/* The user's policy as it is, or the text that a first one begins with. */
struct own_policy {
	char *path;
	struct buf text;
	bool present;
};

static void drop_own(struct own_policy *o)
{
	free(o->path);
	buf_free(&o->text);
}
#define auto_own __attribute__((cleanup(drop_own))) struct own_policy

static int read_own(struct tool *t, struct own_policy *o)
{
	int err;

	o->path = sources_user(world_folders(t->world));
	if (!o->path)
		return -ERR_NOMEM;
	err = paths_read(o->path, POLICY_TEXT_MAX_BYTES, true, &o->text, NULL);
	o->present = err != -ERR_NOTFOUND;
	if (o->present)
		return err;
	buf_reset(&o->text);
	buf_str(&o->text, first_text);
	return 0;
}

/* A rule is one line, and what stands in it is seen before it is added. */
static bool is_one_line(const char *text)
{
	return *text && !strpbrk(text, "\r\n") && *text != '#' && !strstr(text, " #");
}

/* The words of the command line as one rule of @verdict. */
static int rule_of(const struct tool *t, const char *verdict, struct buf *out)
{
	const char *whole = t->args[0];
	size_t len = strlen(verdict);
	/* `wary policy allow allow read /x` means the same. */
	size_t first = t->args_n > 1 && strcmp(whole, verdict) == 0;

	buf_str(out, verdict);
	if (t->args_n == 1 && text_starts(whole, verdict) && whole[len] == ' ')
		whole += len + 1;
	for (size_t i = first; i < t->args_n; i++) {
		const char *word = i == 0 ? whole : t->args[i];

		if (!is_one_line(word)) {
			log_error("policy %s: a rule is one line, without a comment", verdict);
			return -ERR_SYNTAX;
		}
		buf_chr(out, ' ');
		if (t->args_n == 1)
			buf_str(out, word);
		else
			tool_quote(out, word);
	}
	return out->failed ? -ERR_NOMEM : 0;
}

static void today(char day[16])
{
	time_t now = (time_t)(clock_wall_ns() / 1000000000u);
	struct tm tm;

	if (!gmtime_r(&now, &tm) || !strftime(day, 16, "%Y-%m-%d", &tm))
		memcpy(day, "?", 2);
}

static void append(const struct own_policy *o, const char *rule, struct buf *out)
{
	char day[16];

	today(day);
	buf_add(out, o->text.data, o->text.len_bytes);
	if (o->text.len_bytes && o->text.data[o->text.len_bytes - 1] != '\n')
		buf_chr(out, '\n');
	buf_fmt(out, "%s  # added %s\n", rule, day);
}

/* Loads what would be in force with @text as the user's policy (NULL: what is
 * there now). */
static int load_with(struct tool *t, const struct own_policy *o, struct buf *text,
                     struct policy **out, struct policy_report **report)
{
	struct world_want want = {.policy = o->path};
	const char *const *files;
	int err;

	err = world_overlay(t->world, text || !o->present ? o->path : NULL, o->path,
	                    text ? buf_text(text) : first_text,
	                    text ? text->len_bytes : strlen(first_text));
	err = err ? err : world_files(t->world, &want, &files);
	return err ? err : policy_check(world_policy(t->world), files, out, report);
}

/* Messages about the new line only: the others were there before. */
static unsigned print_new(const struct tool *t, const struct policy_report *before,
                          const struct policy_report *after)
{
	size_t had = before ? policy_report_count(before) : 0;

	if (policy_report_count(after) <= had)
		return 0;
	tool_print_report(t, stderr, after);
	return (unsigned)(policy_report_count(after) - had);
}

static bool show_effect(const struct tool *t, const struct policy *before,
                        const struct policy *after, int *err)
{
	struct effects e;
	size_t n;

	*err = effect_find(t, before, after, &e);
	if (*err)
		return false;
	puts("what changes, by examples:");
	n = effect_print(t, &e, true) + effect_print(t, &e, false);
	for (size_t i = 0; i < e.unweighed_n; i++)
		printf("  %s\n", e.unweighed[i]);
	if (!n && !e.unweighed_n)
		puts("  nothing: it is decided so already, or by what stands above your policy");
	n += e.unweighed_n;
	effects_free(&e);
	return n > 0;
}

static int add_rule(struct tool *t, const char *verdict)
{
	auto_own own = {NULL, BUF_INIT, false};
	auto_buf rule = BUF_INIT;
	auto_buf text = BUF_INIT;
	auto_policy before = NULL;
	auto_policy after = NULL;
	auto_report had = NULL;
	auto_report has = NULL;
	int err = read_own(t, &own);

	if (err)
		return tool_failed(t, own.path ? own.path : "your policy", err);
	if (rule_of(t, verdict, &rule))
		return TOOL_ERRORS;
	append(&own, buf_text(&rule), &text);
	err = load_with(t, &own, NULL, &before, &had);
	if (!err)
		err = load_with(t, &own, &text, &after, &has);
	if (err == -ERR_POLICY) {
		tool_print_report(t, stderr, has ? has : had);
		return TOOL_ERRORS;
	}
	if (err)
		return tool_failed(t, own.path, err);
	printf("%s gets:\n  %s\n", own.path, buf_text(&rule));
	print_new(t, had, has);
	if (!show_effect(t, before, after, &err))
		return err ? tool_failed(t, own.path, err) : TOOL_WARNED;
	if (!tool_confirm(t, "add it?"))
		return TOOL_WARNED;
	err = paths_write(own.path, text.data, text.len_bytes, 0600);
	return err ? tool_failed(t, own.path, err) : TOOL_CLEAN;
}

int verb_allow(struct tool *t)
{
	return add_rule(t, "allow");
}

int verb_deny(struct tool *t)
{
	return add_rule(t, "deny");
}
