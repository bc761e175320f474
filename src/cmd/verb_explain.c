#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/verbs.h"
#include "policy/explain.h"

#include <string.h>

/* Loads the policy and reads the question. */
struct asked {
	struct policy *policy;
	struct policy_question *question;
	struct policy_explanation *explanation;
};

static void drop_asked(struct asked *a)
{
	policy_explanation_free(a->explanation);
	policy_question_free(a->question);
	policy_free(a->policy);
}
#define auto_asked __attribute__((cleanup(drop_asked))) struct asked

static char *question_text(const char *const *words)
{
	auto_buf out = BUF_INIT;

	for (; *words; words++) {
		if (out.len_bytes)
			buf_chr(&out, ' ');
		/* One argument may hold a whole question. */
		if (!out.len_bytes && !words[1])
			buf_str(&out, *words);
		else
			tool_quote(&out, *words);
	}
	return buf_take(&out);
}

static int ask(struct tool *t, struct asked *a)
{
	auto_free char *text = question_text(t->rest);
	auto_report report = NULL;
	const struct facts *facts;
	int status = tool_load(t, t->args[0], false, false, &a->policy, NULL);
	int err;

	if (status)
		return status;
	err = text ? policy_question_new(a->policy, world_policy(t->world), text, &a->question,
	                                 &facts, &report)
	           : -ERR_NOMEM;
	if (err == -ERR_POLICY) {
		tool_print_report(t, stderr, report);
		return TOOL_ERRORS;
	}
	err = err ? err : policy_explain(a->policy, facts, &a->explanation);
	return err ? tool_failed(t, "the question", err) : TOOL_CLEAN;
}

static void print_match(const struct tool *t, const char *label, const struct policy_match *m)
{
	bool decided = m->why == WHY_LATER || m->why == WHY_FINAL;

	printf("  %-36s %s%s:%u%s  %s", label, tool_paint(t, "bold"), m->file, m->line,
	       tool_paint(t, NULL), m->text);
	if (!decided) {
		printf("  (%s", policy_why_text(m->why));
		if (m->condition)
			printf(": %s", m->condition);
		fputc(')', stdout);
	} else if (m->why == WHY_FINAL) {
		printf("  (%s)", policy_why_text(m->why));
	}
	fputc('\n', stdout);
}

enum group { GROUP_MATCHED, GROUP_MORE, GROUP_NOT, GROUPS };

static enum group group_of(const struct policy_match *m)
{
	if (m->why == WHY_LATER || m->why == WHY_FINAL)
		return GROUP_MATCHED;
	return m->asks_more ? GROUP_MORE : GROUP_NOT;
}

static const char *label_of(enum group group, enum policy_answer answer)
{
	if (group == GROUP_MATCHED)
		return "also matched:";
	if (group == GROUP_NOT)
		return "did not match:";
	return answer == ANSWER_ALLOW ? "would allow it, but asks for more:"
	                              : "would ask, but asks for more:";
}

static void print_matches(const struct tool *t, const struct policy_explanation *e)
{
	for (enum group group = 0; group < GROUPS; group++) {
		bool any = false;

		for (size_t i = 0; i < policy_explanation_count(e); i++) {
			const struct policy_match *m = policy_explanation_at(e, i);

			if (m->why == WHY_DECIDED || group_of(m) != group)
				continue;
			print_match(t, any ? "" : label_of(group, m->answer), m);
			any = true;
		}
		if (!any && group == GROUP_MATCHED)
			printf("  %-36s (none)\n", label_of(group, ANSWER_ALLOW));
	}
}

static void print_opinions(const struct policy_explanation *e)
{
	static const char *const names[POLICY_OPINIONS] = {
		"floor", "machine policy", "tenant policy", "policy", "stored answers"};
	const char *separator = "  ";

	for (size_t i = 0; i < POLICY_OPINIONS; i++) {
		const struct policy_opinion *o = policy_explanation_opinion(e, i);

		/* The policy itself is the first line; a tenant is rare. */
		if (i == 3 || (i == 2 && !o->present))
			continue;
		printf("%s%s: ", separator, names[i]);
		separator = " · ";
		if (!o->present)
			fputs("none", stdout);
		else if (o->has_opinion)
			fputs(policy_answer_name(o->verdict.answer), stdout);
		else
			fputs(i == 4 && !o->consulted ? "not consulted" : "no opinion", stdout);
	}
	fputc('\n', stdout);
}

static void print(const struct tool *t, const struct policy_explanation *e)
{
	const struct verdict *v = policy_explanation_verdict(e);
	const char *answer = policy_answer_name(v->answer);
	auto_free char *where = tool_where(v);

	printf("%s%-6s%s %s%s%s   %s\n", tool_paint(t, answer), answer, tool_paint(t, NULL),
	       tool_paint(t, "bold"), where ? where : "", tool_paint(t, NULL),
	       v->is_default ? "no rule matches"
	       : v->text     ? v->text
	                     : "");
	if (v->because)
		printf("  because %s\n", v->because);
	print_matches(t, e);
	print_opinions(e);
}

static json_t *verdict_json(const struct verdict *v)
{
	return json_pack("{s:s, s:o, s:i, s:o, s:o, s:b, s:b, s:b}", "answer",
	                 policy_answer_name(v->answer), "file", tool_text(v->file), "line",
	                 (int)v->line, "text", tool_text(v->text), "because", tool_text(v->because),
	                 "floor", v->is_floor, "default", v->is_default, "each", v->each);
}

static json_t *matches_json(const struct policy_explanation *e)
{
	json_t *list = json_array();

	for (size_t i = 0; i < policy_explanation_count(e); i++) {
		const struct policy_match *m = policy_explanation_at(e, i);
		json_t *one =
			json_pack("{s:o, s:o, s:i, s:o, s:s, s:b, s:b, s:s, s:o, s:b}", "source",
		                  tool_text(m->source), "file", tool_text(m->file), "line",
		                  (int)m->line, "text", tool_text(m->text), "answer",
		                  policy_answer_name(m->answer), "final", m->is_final, "decided",
		                  m->why == WHY_DECIDED, "why", policy_why_text(m->why),
		                  "condition", tool_text(m->condition), "asks_more", m->asks_more);

		if (json_array_append_new(list, one)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *opinions_json(const struct policy_explanation *e)
{
	json_t *all = json_object();

	for (size_t i = 0; i < POLICY_OPINIONS; i++) {
		const struct policy_opinion *o = policy_explanation_opinion(e, i);
		json_t *said = o->has_opinion ? verdict_json(&o->verdict) : json_null();

		if (o->present && json_object_set_new(all, o->source, said)) {
			json_decref(all);
			return NULL;
		}
		if (!o->present)
			json_decref(said);
	}
	return all;
}

int verb_explain(struct tool *t)
{
	auto_asked a = {NULL, NULL, NULL};
	int status = ask(t, &a);
	json_t *j;

	if (status)
		return status;
	if (!(t->options & TOOL_JSON)) {
		print(t, a.explanation);
		return TOOL_CLEAN;
	}
	j = json_pack("{s:o, s:o, s:o}", "verdict",
	              verdict_json(policy_explanation_verdict(a.explanation)), "matches",
	              matches_json(a.explanation), "sources", opinions_json(a.explanation));
	return tool_print_json(j);
}
