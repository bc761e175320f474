#include "package/args.h"

#include <string.h>

/* Shorter beginnings of a long option are not taken for it. */
#define SHORTENED_MIN 3

void args_begin(struct args *a, const struct tool_call *call)
{
	*a = (struct args){.tool = call->tool, .v = call->args, .n = call->n};
}

/* Whether a word of the list begins with @name. */
static bool begins_word(const char *list, const char *name, size_t len)
{
	while (list && *list) {
		size_t n = strcspn(list, " ");

		if (n > len && memcmp(list, name, len) == 0)
			return true;
		list += n;
		list += strspn(list, " ");
	}
	return false;
}

bool arg_is(const struct arg *a, const char *list)
{
	if (a->is_word || !list)
		return false;
	if (word_in(list, a->name, a->name_len))
		return true;
	return !a->known && a->name_len >= SHORTENED_MIN && begins_word(list, a->name, a->name_len);
}

static const char *take(struct args *a)
{
	return a->i < a->n ? a->v[a->i++] : NULL;
}

static void next_letter(struct args *a, struct arg *out)
{
	out->name = a->letters++;
	out->name_len = 1;
	if (strchr(a->tool->short_values ? a->tool->short_values : "", *out->name)) {
		if (*a->letters == '=')
			a->letters++;
		out->value = *a->letters ? a->letters : take(a);
		a->letters = NULL;
	} else if (!*a->letters) {
		a->letters = NULL;
	}
}

static void next_long(struct args *a, const char *text, struct arg *out)
{
	size_t len = strcspn(text, "=");

	out->name = text;
	out->name_len = len;
	out->known = word_in(a->tool->long_values, text, len);
	if (text[len] == '=') {
		out->value = text + len + 1;
		return;
	}
	if (out->known) {
		out->value = take(a);
	} else if (len >= SHORTENED_MIN && begins_word(a->tool->long_values, text, len) &&
	           a->i < a->n && a->v[a->i][0] != '-') {
		/* It may be a shortened option or a flag that is not known
		 * here: what follows is taken for both. */
		out->value = take(a);
		a->again = out->value;
	} else {
		a->doubt = true;
	}
}

bool args_next(struct args *a, struct arg *out)
{
	const char *text;

	*out = (struct arg){0};
	if (a->letters) {
		next_letter(a, out);
		return true;
	}
	if (a->again) {
		out->is_word = true;
		out->doubt = true;
		out->text = a->again;
		a->again = NULL;
		return true;
	}
	text = take(a);
	if (!text)
		return false;
	if (!a->only_words && strcmp(text, "--") == 0) {
		a->only_words = true;
		a->doubt = false;
		return args_next(a, out);
	}
	if (a->only_words || text[0] != '-' || !text[1]) {
		out->is_word = true;
		out->text = text;
		out->doubt = a->doubt;
		a->doubt = false;
		return true;
	}
	a->doubt = false;
	if (text[1] == '-') {
		next_long(a, text + 2, out);
	} else if (text[2] && word_in(a->tool->long_values, text + 1, strcspn(text + 1, "="))) {
		next_long(a, text + 1, out); /* one dash, long name: conda, go, npm -reg */
	} else {
		a->letters = text + 1;
		next_letter(a, out);
	}
	return true;
}
