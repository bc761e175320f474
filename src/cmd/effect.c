#include "cmd/effect.h"

#include "base/buf.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/example.h"
#include "policy/explain.h"
#include "policy/settings.h"
#include "policy/words.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 40 };

struct comparison {
	const struct tool *t;
	const struct policy *before, *after;
	struct effects *out;
	size_t cap;
	int err;
};

void effects_free(struct effects *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->v[i].object);
	for (size_t i = 0; i < e->unweighed_n; i++)
		free(e->unweighed[i]);
	free(e->v);
	free(e->unweighed);
	*e = (struct effects){.n = 0};
}

static void add_effect(struct comparison *c, enum policy_class class, const char *object,
                       const struct verdict *before, const struct verdict *after)
{
	struct effects *e = c->out;

	for (size_t i = 0; i < e->n; i++) {
		if (strcmp(e->v[i].object, object) != 0 ||
		    e->v[i].before.answer != before->answer ||
		    e->v[i].after.answer != after->answer)
			continue;
		e->v[i].classes |= CLASS_BIT(class);
		return;
	}
	if (e->n == c->cap) {
		size_t cap = c->cap ? c->cap * 2 : 16;
		struct effect *grown = reallocarray(e->v, cap, sizeof *grown);

		if (!grown) {
			c->err = -ERR_NOMEM;
			return;
		}
		e->v = grown;
		c->cap = cap;
	}
	e->v[e->n] = (struct effect){.classes = CLASS_BIT(class),
	                             .object = strdup(object),
	                             .before = *before,
	                             .after = *after};
	if (!e->v[e->n].object)
		c->err = -ERR_NOMEM;
	else
		e->n++;
}

/* Puts one example to both. Returns whether it could be put. */
static bool weigh(struct comparison *c, enum policy_class class, const char *object)
{
	auto_buf text = BUF_INIT;
	auto_report report = NULL;
	struct policy_question *question = NULL;
	const struct facts *facts;
	struct verdict before;
	struct verdict after;

	buf_fmt(&text, "%s %s", policy_class_name(class), object);
	if (text.failed || policy_question_new(c->after, world_policy(c->t->world), buf_text(&text),
	                                       &question, &facts, &report))
		return false;
	policy_decide(c->before, facts, &before);
	policy_decide(c->after, facts, &after);
	if (before.answer != after.answer)
		add_effect(c, class, object, &before, &after);
	policy_question_free(question);
	return true;
}

/* One object of a rule in one class. */
static bool weigh_object(struct comparison *c, enum policy_class class, const char *pattern,
                         const char *conditions)
{
	auto_buf object = BUF_INIT;

	if (!pattern || !example_object(class, pattern, &object))
		return false;
	buf_str(&object, conditions);
	return !object.failed && weigh(c, class, buf_text(&object));
}

static bool weigh_classes(struct comparison *c, unsigned classes, const char *pattern,
                          const char *conditions)
{
	bool all = true;

	for (int class = 0; class < CLASS_COUNT; class ++)
		if (classes & CLASS_BIT(class))
			all &= weigh_object(c, (enum policy_class) class, pattern, conditions);
	return all;
}

/* Addresses are compiled to numbers: they are taken as they were written. */
static bool weigh_written(struct comparison *c, const struct policy_rule *r, const char *conditions)
{
	const char *rest = example_skip_head(r->text);
	bool all = true;
	char *word;

	while ((word = example_next_object(&rest))) {
		all &= weigh_classes(c, r->classes, word, conditions);
		free(word);
	}
	return all;
}

/* Rule @i of @p. Returns whether all of it could be put. */
static bool weigh_rule(struct comparison *c, const struct policy *p, size_t i)
{
	auto_buf conditions = BUF_INIT;
	const char *said;
	struct policy_rule r;
	bool all = true;

	policy_rule_at(p, i, &r);
	if (!r.objects_n)
		return true; /* it matches nothing here */
	if (!example_conditions(r.text, &conditions))
		return false;
	said = buf_text(&conditions);
	if (r.classes & (CLASSES_ADDRESS | CLASS_BIT(CLASS_RESOLVE)))
		return weigh_written(c, &r, said);
	for (size_t n = 0; !c->err && n < r.objects_n; n++)
		all &= weigh_classes(c, r.classes, policy_rule_object(p, i, n), said);
	return all;
}

static void add_unweighed(struct comparison *c, const struct policy_rule *r)
{
	struct effects *e = c->out;
	char **grown = reallocarray(e->unweighed, e->unweighed_n + 1, sizeof *grown);

	if (!grown) {
		c->err = -ERR_NOMEM;
		return;
	}
	e->unweighed = grown;
	if (asprintf(&grown[e->unweighed_n], "%s:%u  %s", r->file, r->line, r->text) < 0)
		c->err = -ERR_NOMEM;
	else
		e->unweighed_n++;
}

/* Whether @p has the same rule: then nothing new is to be said about it. */
static bool has_rule(const struct policy *p, const struct policy_rule *r)
{
	for (size_t i = 0; i < policy_rule_count(p); i++) {
		struct policy_rule other;

		policy_rule_at(p, i, &other);
		if (other.line == r->line && strcmp(other.file, r->file) == 0 &&
		    strcmp(other.text, r->text) == 0)
			return true;
	}
	return false;
}

int effect_find(const struct tool *t, const struct policy *before, const struct policy *after,
                struct effects *out)
{
	struct comparison c = {.t = t, .before = before, .after = after, .out = out};
	const struct policy *both[] = {after, before};

	*out = (struct effects){.n = 0};
	for (size_t k = 0; k < 2; k++) {
		for (size_t i = 0; !c.err && i < policy_rule_count(both[k]); i++) {
			struct policy_rule r;

			policy_rule_at(both[k], i, &r);
			if (r.is_derived)
				continue;
			if (!weigh_rule(&c, both[k], i) && k == 0 && !has_rule(before, &r))
				add_unweighed(&c, &r);
		}
	}
	return c.err;
}

/* "edit" for its five classes, else each by its name. */
static void write_classes(struct buf *out, unsigned classes)
{
	const char *separator = "";

	if ((classes & CLASSES_EDIT) == CLASSES_EDIT) {
		buf_str(out, "edit");
		separator = ",";
		classes &= ~CLASSES_EDIT;
	}
	for (int class = 0; class < CLASS_COUNT; class ++) {
		if (!(classes & CLASS_BIT(class)))
			continue;
		buf_fmt(out, "%s%s", separator, policy_class_name((enum policy_class) class));
		separator = ",";
	}
}

static void print_one(const struct tool *t, const struct effect *e)
{
	auto_buf classes = BUF_INIT;
	auto_free char *object = text_printable_str(e->object, 120);
	auto_free char *before = tool_where(&e->before);
	auto_free char *after = tool_where(&e->after);
	const char *was = policy_answer_name(e->before.answer);
	const char *is = policy_answer_name(e->after.answer);

	write_classes(&classes, e->classes);
	printf("  %-8s %-44s %s%-5s%s (%s) -> %s%-5s%s (%s)\n", buf_text(&classes), object,
	       tool_paint(t, was), was, tool_paint(t, NULL), before ? before : "",
	       tool_paint(t, is), is, tool_paint(t, NULL), after ? after : "");
}

size_t effect_print(const struct tool *t, const struct effects *e, bool looser)
{
	size_t n = 0;

	for (size_t i = 0; i < e->n; i++) {
		if ((e->v[i].after.answer < e->v[i].before.answer) != looser)
			continue;
		if (n++ < SHOWN_MAX)
			print_one(t, &e->v[i]);
	}
	if (n > SHOWN_MAX)
		printf("  … and %zu more like these\n", n - SHOWN_MAX);
	return n;
}
