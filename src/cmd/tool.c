#include "cmd/tool.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/trust.h"
#include "policy/check.h"

#include <string.h>

void tool_drop_json(json_t **j)
{
	json_decref(*j);
}

void tool_drop_policy(struct policy **p)
{
	policy_free(*p);
}

void tool_drop_report(struct policy_report **r)
{
	policy_report_free(*r);
}

const char *tool_paint(const struct tool *t, const char *word)
{
	static const struct {
		const char *word;
		const char *colour;
	} colours[] = {
		{"allow", "\033[32m"}, {"ask", "\033[33m"},       {"deny", "\033[31m"},
		{"kill", "\033[31m"},  {"error", "\033[1;31m"},   {"warning", "\033[1;33m"},
		{"bold", "\033[1m"},   {"underline", "\033[32m"}, {"dim", "\033[2m"},
	};

	if (!t->colour)
		return "";
	for (size_t i = 0; word && i < sizeof colours / sizeof colours[0]; i++)
		if (strcmp(colours[i].word, word) == 0)
			return colours[i].colour;
	return "\033[0m";
}

/* The line below the source: blanks (tabs where the source has them, so that
 * both lines stay aligned), then carets, then the hint. */
static void underline(const struct tool *t, FILE *out, const struct policy_message *m)
{
	const unsigned char *s = (const unsigned char *)m->source;
	size_t left = strlen(m->source);
	unsigned code;

	fputs("      | ", out);
	for (unsigned column = 1; column < m->column; column++) {
		size_t len = left ? text_utf8_next(s, left, &code) : 0;

		fputc(left && *s == '\t' ? '\t' : ' ', out);
		len = len || !left ? len : 1;
		s += len;
		left -= len;
	}
	fputs(tool_paint(t, "underline"), out);
	for (unsigned i = 0; i < m->len_columns; i++)
		fputc('^', out);
	fputs(tool_paint(t, NULL), out);
	if (m->hint)
		fprintf(out, "   %s", m->hint);
	fputc('\n', out);
}

static const char *kind_of(const struct policy_message *m)
{
	static const char *const kinds[] = {
		[POLICY_ERROR] = "error",
		[POLICY_WARNING] = "warning",
		[POLICY_NOTE] = "note",
	};

	return kinds[m->kind];
}

static void print_message(const struct tool *t, FILE *out, const struct policy_message *m)
{
	const char *kind = kind_of(m);

	fprintf(out, "%s%s:", tool_paint(t, "bold"), m->file);
	if (m->line)
		fprintf(out, "%u:", m->line);
	if (m->line && m->column)
		fprintf(out, "%u:", m->column);
	fprintf(out, "%s %s%s:%s %s\n", tool_paint(t, NULL), tool_paint(t, kind), kind,
	        tool_paint(t, NULL), m->text);
	if (m->source && m->line)
		fprintf(out, "%5u | %s\n", m->line, m->source);
	if (m->source && m->line && m->len_columns)
		underline(t, out, m);
	else if (m->hint)
		fprintf(out, "      | %s\n", m->hint);
}

void tool_print_report(const struct tool *t, FILE *out, const struct policy_report *r)
{
	for (size_t i = 0; r && i < policy_report_count(r); i++)
		print_message(t, out, policy_report_at(r, i));
}

json_t *tool_text(const char *text)
{
	auto_free char *printable = NULL;
	json_t *as_is = text ? json_string(text) : json_null();

	if (as_is)
		return as_is;
	printable = text_printable_str(text, 0);
	return json_string(printable);
}

json_t *tool_report_json(const struct policy_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; r && i < policy_report_count(r); i++) {
		const struct policy_message *m = policy_report_at(r, i);
		json_t *one = json_pack(
			"{s:o, s:i, s:i, s:i, s:s, s:o, s:o}", "file", tool_text(m->file), "line",
			(int)m->line, "column", (int)m->column, "length", (int)m->len_columns,
			"kind", kind_of(m), "text", tool_text(m->text), "hint", tool_text(m->hint));

		if (!one || json_array_append_new(list, one)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

int tool_print_json(json_t *j)
{
	int err = j ? json_dumpf(j, stdout, JSON_INDENT(2) | JSON_SORT_KEYS) : -1;

	json_decref(j);
	if (err || putchar('\n') == EOF) {
		log_error("cannot write the answer");
		return CMD_FAILED;
	}
	return TOOL_CLEAN;
}

char *tool_where(const struct verdict *v)
{
	auto_buf out = BUF_INIT;

	if (v->is_floor)
		buf_str(&out, "floor");
	else if (v->line)
		buf_fmt(&out, "%s:%u", v->file, v->line);
	else
		buf_str(&out, "default");
	return buf_take(&out);
}

void tool_quote(struct buf *out, const char *word)
{
	static const char plain[] = " \t\"\\";

	if (*word && word[strcspn(word, plain)] == '\0' && *word != '#') {
		buf_str(out, word);
		return;
	}
	buf_chr(out, '"');
	for (; *word; word++) {
		if (*word == '"' || *word == '\\')
			buf_fmt(out, "\\x%02x", (unsigned char)*word);
		else
			buf_chr(out, *word);
	}
	buf_chr(out, '"');
}

int tool_failed(const struct tool *t, const char *what, int err)
{
	auto_free char *shown = text_printable_str(what, 0);

	log_error("policy %s: %s: %s", t->verb, shown, err_text(err));
	return CMD_FAILED;
}

/* The words for a policy by its name. A project's own is checked as such, on
 * top of the user's: it holds fewer statements than others (law 7). */
static int files_of(struct tool *t, const char *name, bool alone, const char *words[3],
                    char **project, const char *const **files)
{
	struct world_want want = {.policy = name, .alone = alone};
	size_t len = name ? strlen(name) : 0;
	size_t tail = strlen("/" TRUST_FILE);

	if (!name || len < tail || strcmp(name + len - tail, "/" TRUST_FILE) != 0)
		return world_files(t->world, &want, files);
	if (asprintf(project, "project:%s", name) < 0)
		return -ERR_NOMEM;
	words[0] = "default";
	words[1] = *project;
	words[2] = NULL;
	*files = words;
	return 0;
}

int tool_load(struct tool *t, const char *name, bool alone, bool check, struct policy **out,
              struct policy_report **report)
{
	auto_report own = NULL;
	auto_free char *project = NULL;
	struct policy_report **where = report ? report : &own;
	const char *const *files;
	const char *words[3];
	int err = files_of(t, name, alone, words, &project, &files);

	*where = NULL;
	if (err)
		return tool_failed(t, name ? name : "the policies in force", err);
	err = (check ? policy_check : policy_load)(world_policy(t->world), files, out, where);
	if (!err)
		return TOOL_CLEAN;
	if (err != -ERR_POLICY)
		return tool_failed(t, name ? name : "the policies in force", err);
	if (!report)
		tool_print_report(t, stderr, *where);
	return TOOL_ERRORS;
}

bool tool_confirm(const struct tool *t, const char *question)
{
	auto_free char *line = NULL;
	size_t size = 0;

	if (t->options & TOOL_YES)
		return true;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		log_error("policy %s: nothing is changed: say yes on a terminal, or with --yes",
		          t->verb);
		return false;
	}
	printf("%s [y/N] ", question);
	fflush(stdout);
	if (getline(&line, &size, stdin) <= 0)
		return false;
	line[strcspn(line, "\n")] = '\0';
	return strcasecmp(line, "y") == 0 || strcasecmp(line, "yes") == 0;
}
