#include "package/verb.h"

#include <stdio.h>
#include <string.h>

bool verb_installs(enum verb_kind kind)
{
	return kind != VERB_NONE && kind != VERB_GROUP;
}

/* installTest is install-test, for npm. */
static void kebab(const char *text, char *out, size_t cap)
{
	size_t n = 0;

	for (; *text && n + 2 < cap; text++) {
		if (*text >= 'A' && *text <= 'Z') {
			if (n)
				out[n++] = '-';
			out[n++] = (char)(*text - 'A' + 'a');
		} else {
			out[n++] = *text;
		}
	}
	out[n] = '\0';
}

/* The row of a verb; a shortened one is what it may be that installs. */
static const struct verb *verb_find(const struct tool *t, const char *text)
{
	const struct verb *found = NULL;
	size_t len = strlen(text);

	for (const struct verb *v = t->verbs; v->name; v++)
		if (strcmp(v->name, text) == 0)
			return v;
	if (!t->prefixes || !len)
		return NULL;
	for (const struct verb *v = t->verbs; v->name; v++)
		if (strncmp(v->name, text, len) == 0 && (!found || verb_installs(v->kind)))
			found = v;
	return found;
}

static const struct verb *verb_of(const struct tool *t, const struct words *w, size_t i)
{
	char text[64];

	kebab(w->items[i].text, text, sizeof text);
	return verb_find(t, text);
}

static enum verb_kind group_kind(const struct tool *t, const struct words *w, const char *group,
                                 size_t i)
{
	char text[128];
	const struct verb *v;

	if (i >= w->n)
		return VERB_NONE;
	snprintf(text, sizeof text, "%s %.60s", group, w->items[i].text);
	v = verb_find(t, text);
	return v ? v->kind : VERB_NONE;
}

enum verb_kind verb_choose(const struct tool *t, const struct words *w, size_t from,
                           size_t *operand)
{
	*operand = from;
	if (!w->n)
		return t->bare;
	for (size_t i = from; i < w->n; i++) {
		const struct verb *v = verb_of(t, w, i);
		enum verb_kind kind = v ? v->kind : t->other;

		*operand = v ? i + 1 : i;
		if (v && kind == VERB_GROUP) {
			kind = group_kind(t, w, v->name, i + 1);
			*operand = i + 2;
		}
		if (verb_installs(kind) || !w->items[i].doubt)
			return kind;
	}
	return VERB_NONE;
}
