#include "policy/message.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest source line that is shown, in characters. */
#define SHOWN_CHARS 400

struct policy_report *report_new(void)
{
	return calloc(1, sizeof(struct policy_report));
}

size_t policy_report_count(const struct policy_report *r)
{
	return r->messages.n;
}

const struct policy_message *policy_report_at(const struct policy_report *r, size_t i)
{
	return i < r->messages.n ? &r->messages.v[i] : NULL;
}

size_t policy_report_errors(const struct policy_report *r)
{
	return r->errors;
}

size_t policy_report_warnings(const struct policy_report *r)
{
	return r->warnings;
}

void policy_report_free(struct policy_report *r)
{
	if (!r)
		return;
	arena_free(&r->arena);
	free(r);
}

/* The line as written, in a printable form but with its tabs. */
static const char *source_line(struct policy_report *r, struct spot at)
{
	const char *from;
	const char *end;
	struct buf b = BUF_INIT;
	char *line;

	if (!at.source || !at.line)
		return NULL;
	from = at.source->text;
	end = from + at.source->len_bytes;
	for (unsigned n = 1; n < at.line && from < end; n++) {
		const char *nl = memchr(from, '\n', (size_t)(end - from));

		from = nl ? nl + 1 : end;
	}
	const char *nl = memchr(from, '\n', (size_t)(end - from));
	if (nl)
		end = nl;
	for (size_t shown = 0; from < end && shown < SHOWN_CHARS; shown++) {
		unsigned code;
		size_t len =
			text_utf8_next((const unsigned char *)from, (size_t)(end - from), &code);

		if (*from == '\\' || *from == '\t')
			buf_chr(&b, *from);
		else
			text_printable(&b, from, len ? len : 1, 0);
		from += len ? len : 1;
	}
	line = buf_take(&b);
	return line ? arena_adopt(&r->arena, line) : NULL;
}

static void report_add(struct policy_report *r, enum policy_message_kind kind, struct spot at,
                       const char *hint, const char *text)
{
	struct policy_message m = {
		.kind = kind,
		.file = at.source ? at.source->name : "",
		.line = at.line,
		.column = at.column,
		.len_columns = at.len,
	};

	r->errors += kind == POLICY_ERROR;
	r->warnings += kind == POLICY_WARNING;
	if (r->messages.n >= REPORT_MAX)
		return;
	m.file = arena_str(&r->arena, m.file);
	m.text = arena_str(&r->arena, text);
	m.hint = hint ? arena_str(&r->arena, hint) : NULL;
	m.source = source_line(r, at);
	if (!m.file || !m.text)
		return;
	if (r->messages.n == r->messages.cap) {
		void *v = vec_room(&r->arena, r->messages.v, r->messages.n, &r->messages.cap,
		                   sizeof m);

		if (!v)
			return;
		r->messages.v = v;
	}
	r->messages.v[r->messages.n++] = m;
}

void report_error(struct policy_report *r, struct spot at, const char *hint, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	report_add(r, POLICY_ERROR, at, hint, text);
}

/* A shipped policy is checked by itself; who includes it is told of what he
 * wrote. */
static bool is_included_shipped(struct spot at)
{
	return at.source && at.source->depth && at.source->path && at.source->path[0] != '/';
}

void report_warning(struct policy_report *r, struct spot at, const char *hint, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (is_included_shipped(at))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	report_add(r, POLICY_WARNING, at, hint, text);
}

void report_note(struct policy_report *r, struct spot at, const char *hint, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	report_add(r, POLICY_NOTE, at, hint, text);
}

const char *report_nearest(struct policy_report *r, const char *word, const char *const *list)
{
	const char *best = text_nearest(word, list);

	return best ? arena_fmt(&r->arena, "did you mean \"%s\"?", best) : NULL;
}

static int by_place(const void *a, const void *b)
{
	const struct policy_message *x = a;
	const struct policy_message *y = b;
	int files = strcmp(x->file, y->file);

	if (files)
		return files;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->text, y->text);
}

void report_sort(struct policy_report *r)
{
	if (r->messages.n)
		qsort(r->messages.v, r->messages.n, sizeof *r->messages.v, by_place);
}

struct spot spot_through(struct spot from, struct spot to)
{
	if (from.source == to.source && from.line == to.line && to.column + to.len > from.column)
		from.len = to.column + to.len - from.column;
	return from;
}
