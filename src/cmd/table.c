#include "cmd/table.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many rows are kept to find how wide they are. */
#define ROWS_KEPT 500

struct table {
	const struct table_column *columns;
	size_t n;
	size_t *width_chars;
	char **cells;
	size_t cells_n, cells_cap;
	bool titled;
};

static size_t chars_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

struct table *table_new(const struct table_column *columns)
{
	struct table *t = calloc(1, sizeof *t);

	invariant(t != NULL);
	t->columns = columns;
	while (columns[t->n].title)
		t->n++;
	invariant(t->n > 0);
	t->width_chars = calloc(t->n, sizeof *t->width_chars);
	t->cells_cap = t->n * ROWS_KEPT;
	t->cells = calloc(t->cells_cap, sizeof *t->cells);
	invariant(t->width_chars && t->cells);
	for (size_t i = 0; i < t->n; i++)
		t->width_chars[i] = chars_of(columns[i].title);
	return t;
}

/* Cuts at a character's beginning, and says so. */
static char *cut(const char *text, size_t max_chars)
{
	struct buf b = BUF_INIT;
	size_t shown = 0;
	size_t i = 0;
	char *s;

	while (text[i] && (shown < max_chars - 1 || ((unsigned char)text[i] & 0xc0) == 0x80)) {
		shown += ((unsigned char)text[i] & 0xc0) != 0x80;
		i++;
	}
	/* The last one's own bytes. */
	buf_add(&b, text, i);
	buf_str(&b, "…");
	s = buf_take(&b);
	invariant(s != NULL);
	return s;
}

void table_cell(struct table *t, const char *text)
{
	const struct table_column *c = &t->columns[t->cells_n % t->n];
	size_t *width = &t->width_chars[t->cells_n % t->n];
	size_t chars = chars_of(text);
	char *copy = c->max_chars && chars > c->max_chars ? cut(text, c->max_chars) : strdup(text);

	invariant(copy != NULL);
	if (c->max_chars && chars > c->max_chars)
		chars = c->max_chars;
	if (chars > *width)
		*width = chars;
	t->cells[t->cells_n++] = copy;
	if (t->cells_n == t->cells_cap)
		table_flush(t);
}

static void print_row(const struct table *t, const char *const *cells)
{
	struct buf line = BUF_INIT;

	for (size_t i = 0; i < t->n; i++) {
		size_t pad = t->width_chars[i] - chars_of(cells[i]);

		if (t->columns[i].hidden)
			continue;
		if (line.len_bytes)
			buf_str(&line, "  ");
		for (size_t k = 0; t->columns[i].right && k < pad; k++)
			buf_chr(&line, ' ');
		buf_str(&line, cells[i]);
		for (size_t k = 0; !t->columns[i].right && k < pad; k++)
			buf_chr(&line, ' ');
	}
	while (line.len_bytes && line.data[line.len_bytes - 1] == ' ')
		line.data[--line.len_bytes] = '\0';
	puts(buf_text(&line) ? buf_text(&line) : "");
	buf_free(&line);
}

static void print_titles(struct table *t)
{
	const char **titles = calloc(t->n, sizeof *titles);

	invariant(titles != NULL);
	for (size_t i = 0; i < t->n; i++)
		titles[i] = t->columns[i].title;
	print_row(t, titles);
	free(titles);
	t->titled = true;
}

void table_cell_buf(struct table *t, struct buf *b)
{
	table_cell(t, buf_text(b) ? buf_text(b) : "?");
	buf_reset(b);
}

void table_flush(struct table *t)
{
	size_t whole = t->cells_n - t->cells_n % t->n;

	if (!whole)
		return;
	if (!t->titled)
		print_titles(t);
	for (size_t i = 0; i < whole; i += t->n)
		print_row(t, (const char *const *)t->cells + i);
	for (size_t i = 0; i < t->cells_n; i++) {
		free(t->cells[i]);
		t->cells[i] = NULL;
	}
	t->cells_n = 0;
	fflush(stdout);
}

void table_free(struct table *t)
{
	table_flush(t);
	free(t->cells);
	free(t->width_chars);
	free(t);
}
