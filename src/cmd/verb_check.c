/* check, test and fmt: what a policy says about itself. */
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/paths.h"
#include "cmd/sources.h"
#include "cmd/verbs.h"
#include "policy/check.h"
#include "policy/explain.h"

#include <string.h>

static int worst(int a, int b)
{
	return a > b ? a : b;
}

static int check_one(struct tool *t, const char *name, json_t *list)
{
	auto_policy policy = NULL;
	auto_report report = NULL;
	int status = tool_load(t, name, true, true, &policy, &report);
	size_t errors;
	size_t warnings;

	if (status == CMD_FAILED)
		return status;
	errors = policy_report_errors(report);
	warnings = policy_report_warnings(report);
	if (!list)
		tool_print_report(t, stdout, report);
	else if (json_array_append_new(list,
	                               json_pack("{s:o, s:I, s:I, s:o}", "policy", tool_text(name),
	                                         "errors", (json_int_t)errors, "warnings",
	                                         (json_int_t)warnings, "messages",
	                                         tool_report_json(report))))
		return tool_failed(t, name, -ERR_NOMEM);
	return errors ? TOOL_ERRORS : warnings ? TOOL_WARNED : TOOL_CLEAN;
}

int verb_check(struct tool *t)
{
	auto_json list = t->options & TOOL_JSON ? json_array() : NULL;
	int status = TOOL_CLEAN;

	if (!t->args_n)
		status = check_one(t, NULL, list);
	for (size_t i = 0; i < t->args_n; i++)
		status = worst(status, check_one(t, t->args[i], list));
	if (!list)
		return status;
	return worst(status, tool_print_json(json_incref(list)));
}

/* --- test ------------------------------------------------------------- */

static void print_failure(const struct tool *t, const struct policy_expect_result *r)
{
	auto_free char *where = tool_where(&r->got);
	const char *want = policy_answer_name(r->want);
	const char *got = policy_answer_name(r->got.answer);

	printf("%s%s:%u:%s expected %s%s%s, got %s%s%s by %s", tool_paint(t, "bold"), r->file,
	       r->line, tool_paint(t, NULL), tool_paint(t, want), want, tool_paint(t, NULL),
	       tool_paint(t, got), got, tool_paint(t, NULL), where ? where : "");
	if (r->got.text && !r->got.is_default)
		printf("  %s", r->got.text);
	printf("\n%5u | %s\n", r->line, r->text);
}

static json_t *result_json(const struct policy_expect_result *r)
{
	auto_free char *where = tool_where(&r->got);

	return json_pack("{s:o, s:i, s:o, s:s, s:s, s:o, s:b}", "file", tool_text(r->file), "line",
	                 (int)r->line, "text", tool_text(r->text), "want",
	                 policy_answer_name(r->want), "got", policy_answer_name(r->got.answer),
	                 "by", tool_text(where), "passed", r->passed);
}

/* The file that was named: the expect lines of what it includes speak of that
 * by itself. */
static const char *main_file(const struct policy *p, const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;

	for (size_t i = 0; i < policy_source_count(p); i++) {
		const char *source = policy_source_at(p, i)->name;
		size_t len = strlen(base);

		if (strcmp(source, base) == 0 ||
		    (strncmp(source, base, len) == 0 && strcmp(source + len, ".wary") == 0))
			return source;
	}
	return NULL;
}

static int test_one(struct tool *t, const char *name, json_t *list)
{
	auto_policy policy = NULL;
	int status = tool_load(t, name, true, false, &policy, NULL);
	const char *file = status ? NULL : main_file(policy, name);
	size_t passed = 0;
	size_t n = 0;

	if (status)
		return status;
	for (size_t i = 0; i < policy_expect_count(policy); i++) {
		struct policy_expect_result r;

		policy_expect_run(policy, i, &r);
		if (file && strcmp(r.file, file) != 0)
			continue;
		n++;
		passed += r.passed;
		if (list && json_array_append_new(list, result_json(&r)))
			return tool_failed(t, name, -ERR_NOMEM);
		if (!list && !r.passed)
			print_failure(t, &r);
	}
	if (!list)
		printf("%s: %zu of %zu as expected\n", file ? file : name, passed, n);
	return passed == n ? TOOL_CLEAN : TOOL_WARNED;
}

int verb_test(struct tool *t)
{
	auto_json list = t->options & TOOL_JSON ? json_array() : NULL;
	auto_free char *own = sources_user(world_folders(t->world));
	int status = TOOL_CLEAN;

	if (!t->args_n)
		status = test_one(t, own && access(own, F_OK) == 0 ? own : "default", list);
	for (size_t i = 0; i < t->args_n; i++)
		status = worst(status, test_one(t, t->args[i], list));
	if (!list)
		return status;
	return worst(status, tool_print_json(json_incref(list)));
}

/* --- fmt -------------------------------------------------------------- */

static int fmt_one(struct tool *t, const char *file)
{
	auto_buf text = BUF_INIT;
	auto_buf out = BUF_INIT;
	auto_report report = NULL;
	auto_free char *shown = text_printable_str(file, 0);
	bool same;
	int err = paths_read(file, POLICY_TEXT_MAX_BYTES, false, &text, NULL);

	if (err)
		return tool_failed(t, file, err);
	err = policy_fmt(shown, text.data ? text.data : "", text.len_bytes, &out, &report);
	if (err == -ERR_POLICY) {
		tool_print_report(t, stderr, report);
		return TOOL_ERRORS;
	}
	if (err || out.failed)
		return tool_failed(t, file, err ? err : -ERR_NOMEM);
	same = out.len_bytes == text.len_bytes &&
	       (!text.data || memcmp(out.data, text.data, out.len_bytes) == 0);
	if (t->options & TOOL_CHECK) {
		if (!same)
			printf("%s: would change\n", shown);
		return same ? TOOL_CLEAN : TOOL_WARNED;
	}
	if (!(t->options & TOOL_WRITE)) {
		fwrite(out.data ? out.data : "", 1, out.len_bytes, stdout);
		return TOOL_CLEAN;
	}
	err = same ? 0 : paths_write(file, out.data, out.len_bytes, 0644);
	return err ? tool_failed(t, file, err) : TOOL_CLEAN;
}

int verb_fmt(struct tool *t)
{
	int status = TOOL_CLEAN;

	for (size_t i = 0; i < t->args_n; i++)
		status = worst(status, fmt_one(t, t->args[i]));
	return status;
}
