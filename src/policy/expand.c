#include "policy/expand.h"

#include "base/buf.h"
#include "policy/glob.h"
#include "policy/words.h"

#include <string.h>

#define PATH_MAX_BYTES 4096
#define PARTS_MAX 200
#define BRACE_DEPTH_MAX 8

/* One expansion under way: what is written, and where messages point. */
struct expansion {
	struct scope *scope;
	const struct word *word;
	unsigned depth; /* of braces */
};

static bool complain(struct expansion *x, const char *hint, const char *text)
{
	report_error(x->scope->report, x->word->at, hint, "%s", text);
	return false;
}

static bool texts_add(struct expansion *x, struct texts *out, const char *text)
{
	if (out->n >= EXPAND_MAX)
		return complain(x, "write several rules", "this stands for more than 256 patterns");
	*vec_push(x->scope->arena, out) = text;
	return true;
}

/* out := each of out followed by each of tails. */
static bool texts_product(struct expansion *x, struct texts *out, const struct texts *tails)
{
	struct texts all = {0};

	for (size_t i = 0; i < out->n; i++) {
		for (size_t j = 0; j < tails->n; j++) {
			size_t len = strlen(out->v[i]) + strlen(tails->v[j]);

			if (len > PATH_MAX_BYTES)
				return complain(x, NULL, "the pattern is longer than 4096 bytes");
			if (!texts_add(x, &all, arena_cat(x->scope->arena, out->v[i], tails->v[j])))
				return false;
		}
	}
	*out = all;
	return true;
}

static bool append(struct expansion *x, struct texts *out, const char *from, size_t len)
{
	struct texts one = {0};

	if (!len)
		return true;
	*vec_push(x->scope->arena, &one) = arena_bytes(x->scope->arena, from, len);
	return texts_product(x, out, &one);
}

void scope_let(struct scope *s, const struct word *name, struct texts values)
{
	struct texts kept = {0};

	for (size_t i = 0; i < s->lets.n; i++) {
		if (strcmp(s->lets.v[i].name, name->text) == 0) {
			report_error(s->report, name->at, NULL,
			             "\"%s\" is defined already, at line %u", name->text,
			             s->lets.v[i].at.line);
			return;
		}
	}
	for (size_t i = 0; i < values.n; i++)
		*vec_push(s->lasting, &kept) = arena_str(s->lasting, values.v[i]);
	*vec_push(s->lasting, &s->lets) = (struct variable){
		.name = arena_str(s->lasting, name->text), .values = kept, .at = name->at};
}

static const char *world_variable(struct scope *s, const char *name)
{
	if (strcmp(name, "TENANT") == 0)
		return s->tenant;
	return s->world->variable ? s->world->variable(s->world->ctx, name) : NULL;
}

const char *scope_home(struct scope *s)
{
	const char *home = world_variable(s, "HOME");
	const char *other = world_variable(s, "HOME_OF_UID");

	if (!home || !other || other[0] != '/' || strcmp(home, other) == 0)
		return NULL;
	return glob_quote(s->arena, other);
}

static bool unknown_variable(struct expansion *x, const char *name)
{
	struct scope *s = x->scope;
	const char *hint = NULL;

	if (words_has(words_variable, name)) {
		report_error(s->report, x->word->at, NULL, "the variable \"%s\" has no value here",
		             name);
		return false;
	}
	for (size_t i = 0; i < s->lets.n && !hint; i++) {
		const char *one[] = {s->lets.v[i].name, NULL};

		hint = report_nearest(s->report, name, one);
	}
	if (!hint)
		hint = report_nearest(s->report, name, words_variable);
	report_error(s->report, x->word->at, hint, "unknown variable \"%s\"", name);
	return false;
}

static bool append_variable(struct expansion *x, struct texts *out, const char *name)
{
	struct scope *s = x->scope;
	const char *value;
	struct texts one = {0};

	for (size_t i = 0; i < s->lets.n; i++)
		if (strcmp(s->lets.v[i].name, name) == 0)
			return texts_product(x, out, &s->lets.v[i].values);
	if (!words_has(words_variable, name))
		return unknown_variable(x, name);
	value = world_variable(s, name);
	if (!value)
		return unknown_variable(x, name);
	if (!*value ||
	    (value[0] != '/' && strcmp(name, "UID") != 0 && strcmp(name, "TENANT") != 0)) {
		report_error(s->report, x->word->at, NULL, "the variable \"%s\" is %s", name,
		             *value ? "not an absolute path" : "empty");
		return false;
	}
	*vec_push(s->arena, &one) = glob_quote(s->arena, value);
	return texts_product(x, out, &one);
}

/* From behind "${". *used: bytes up to and with the brace. */
static bool expand_variable(struct expansion *x, const char *text, size_t len, struct texts *out,
                            size_t *used)
{
	size_t n = 0;

	while (n < len && (text[n] == '_' || (text[n] >= 'A' && text[n] <= 'Z') ||
	                   (n && text[n] >= '0' && text[n] <= '9')))
		n++;
	if (!n || n >= len || text[n] != '}')
		return complain(x, "a variable is ${NAME}, in capital letters",
		                "expected the name of a variable");
	*used = n + 1;
	return append_variable(x, out, arena_bytes(x->scope->arena, text, n));
}

static bool expand_run(struct expansion *x, const char *text, size_t len, struct texts *out);

/* Length of one alternative, up to its comma or closing brace; @len: none. */
static size_t alternative_len(const char *text, size_t len)
{
	unsigned open = 0;
	size_t i = 0;

	for (; i < len; i++) {
		if (text[i] == '\\') {
			i++;
		} else if (text[i] == '{') {
			open++;
		} else if (text[i] == '}') {
			if (!open)
				break;
			open--;
		} else if (text[i] == ',' && !open) {
			break;
		}
	}
	return i < len ? i : len;
}

/* From behind "{". */
static bool expand_braces(struct expansion *x, const char *text, size_t len, struct texts *out,
                          size_t *used)
{
	struct texts all = {0};
	size_t at = 0;
	size_t alternatives = 0;

	if (++x->depth > BRACE_DEPTH_MAX)
		return complain(x, NULL, "braces are nested too deep");
	for (;;) {
		size_t n = alternative_len(text + at, len - at);
		struct texts one = {0};

		if (at + n >= len)
			return complain(x, "write \\{ for the character itself",
			                "a brace is not closed");
		*vec_push(x->scope->arena, &one) = "";
		if (!expand_run(x, text + at, n, &one))
			return false;
		for (size_t i = 0; i < one.n; i++)
			if (!texts_add(x, &all, one.v[i]))
				return false;
		alternatives++;
		at += n + 1;
		if (text[at - 1] == '}')
			break;
	}
	x->depth--;
	if (alternatives < 2)
		return complain(x, "write \\{ for the character itself",
		                "braces need alternatives: {a,b}");
	*used = at;
	return texts_product(x, out, &all);
}

static bool expand_dollar(struct expansion *x, const char *text, size_t len, struct texts *out,
                          size_t *used)
{
	char c = len > 1 ? text[1] : '\0';

	if (c == '{') {
		if (!expand_variable(x, text + 2, len - 2, out, used))
			return false;
		*used += 2;
		return true;
	}
	if (c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
		return complain(x, "write ${NAME}, or \\$ for the character itself",
		                "a variable needs braces");
	*used = 1;
	return append(x, out, "\\$", 2);
}

/* Text without a ~ at its beginning. */
static bool expand_run(struct expansion *x, const char *text, size_t len, struct texts *out)
{
	size_t plain = 0; /* where the bytes begin that need no expansion */
	size_t at = 0;

	while (at < len) {
		size_t used = 0;
		char c = text[at];

		if (c == '\\') {
			at += 2;
			continue;
		}
		if (c == '}')
			return complain(x, "write \\} for the character itself",
			                "a closing brace without an opening one");
		if (c != '$' && c != '{') {
			at++;
			continue;
		}
		if (!append(x, out, text + plain, at - plain))
			return false;
		if (c == '$') {
			if (!expand_dollar(x, text + at, len - at, out, &used))
				return false;
		} else {
			if (!expand_braces(x, text + at + 1, len - at - 1, out, &used))
				return false;
			used++;
		}
		at += used;
		plain = at;
	}
	return append(x, out, text + plain, at - plain);
}

bool expand_word(struct scope *s, const struct word *w, struct texts *out)
{
	struct expansion x = {.scope = s, .word = w};
	const char *text = w->text;

	*out = (struct texts){0};
	*vec_push(s->arena, out) = "";
	if (text[0] == '~') {
		if (text[1] && text[1] != '/')
			return complain(&x, "~ is your own home: ~/NAME",
			                "the home of another user has no name here");
		if (!append_variable(&x, out, "HOME"))
			return false;
		text++;
	}
	return expand_run(&x, text, strlen(text), out);
}

bool expand_is_path(const struct word *w)
{
	const char *t = w->text;

	return t[0] == '/' || t[0] == '~' || t[0] == '$' || t[0] == '{' ||
	       (t[0] == '*' && t[1] == '*' && (!t[2] || t[2] == '/'));
}

static bool bad_part(struct expansion *x, struct slice part)
{
	for (size_t i = 0; i < part.n; i++) {
		if (part.s[i] == '\\')
			i++;
		else if (part.s[i] == '?' || part.s[i] == '[' || part.s[i] == ']')
			return complain(x, "write * for any characters, or a backslash before it",
			                "?, [ and ] are no wildcards here");
	}
	if ((part.n == 1 && part.s[0] == '.') ||
	    (part.n == 2 && part.s[0] == '.' && part.s[1] == '.'))
		return complain(x, NULL, "a path pattern has no . or .. in it");
	for (size_t i = 0; i + 1 < part.n; i++) {
		if (part.s[i] == '\\')
			i++;
		else if (part.s[i] == '*' && part.s[i + 1] == '*' && part.n > 2)
			return complain(x,
			                "** stands alone between slashes; * is any part of a name",
			                "** within a name");
	}
	return true;
}

/* Brings one expanded text into the canonical form. */
static bool path_form(struct expansion *x, const char *text, struct texts *out)
{
	struct arena *a = x->scope->arena;
	size_t len = strlen(text);
	char *form = arena_alloc(a, len + 5);
	bool below = len && text[len - 1] == '/';
	unsigned stars = 0;
	unsigned parts = 0;
	size_t n = 0;

	/* P/ with nothing before the slash is the whole disk: the root folder
	 * itself has no other name. */
	if (strcmp(text, "/.") == 0)
		return texts_add(x, out, "/");
	if (text[0] != '/' && !(text[0] == '*' && text[1] == '*' && (!text[2] || text[2] == '/')))
		return complain(x, "a path begins with /, ~/, **/ or ${NAME}",
		                "the path is not absolute");
	while (*text) {
		size_t part_len;
		bool any;

		text += strspn(text, "/");
		part_len = strcspn(text, "/");
		if (!part_len)
			break;
		if (!bad_part(x, (struct slice){text, part_len}))
			return false;
		any = part_len == 2 && memcmp(text, "**", 2) == 0;
		/* a run of ** is one */
		if (!any || n < 3 || memcmp(form + n - 3, "/**", 3) != 0) {
			form[n++] = '/';
			memcpy(form + n, text, part_len);
			n += part_len;
			stars += any;
			parts++;
		}
		text += part_len;
	}
	if (below && (n < 3 || memcmp(form + n - 3, "/**", 3) != 0)) {
		memcpy(form + n, "/**", 3);
		n += 3;
		stars++;
	}
	if (stars > 2)
		return complain(x, "a / at the end counts as one", "more than two ** in a pattern");
	if (parts > PARTS_MAX || n > PATH_MAX_BYTES)
		return complain(x, NULL, "the pattern is longer than any path");
	form[n] = '\0';
	return texts_add(x, out, form);
}

static bool expand_forms(struct scope *s, const struct word *w, struct texts *out)
{
	struct expansion x = {.scope = s, .word = w};
	struct texts texts;

	if (!expand_word(s, w, &texts))
		return false;
	for (size_t i = 0; i < texts.n; i++)
		if (!path_form(&x, texts.v[i], out))
			return false;
	return true;
}

bool expand_path(struct scope *s, const struct word *w, bool other_home, struct texts *out)
{
	const char *home = other_home ? scope_home(s) : NULL;
	const char *rest = NULL;
	struct word other = *w;

	*out = (struct texts){0};
	if (!expand_forms(s, w, out))
		return false;
	if (home && w->text[0] == '~')
		rest = w->text + 1;
	else if (home && strncmp(w->text, "${HOME}", 7) == 0)
		rest = w->text + 7;
	if (!rest)
		return true;
	other.text = arena_cat(s->arena, home, rest);
	return expand_forms(s, &other, out);
}
