/* One layout for every policy.  Works on words, not on meaning: a text that
 * splits into words can be laid out, and every word stays as it was written. */
#include "policy/check.h"
#include "policy/lex.h"
#include "policy/words.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS 100
#define CONTINUATION "        " /* eight blanks */
#define CELLS_MAX 3
/* A column wider than this is not waited for. */
#define CELL_MAX_COLUMNS 16

enum { KIND_NONE, KIND_RULE, KIND_EXPECT, KINDS };

/* One logical line, with its first words as cells of columns. */
struct laid {
	struct lex_line line;
	unsigned kind;                /* lines of one kind and block share columns; 0: none */
	size_t cells;                 /* how many words of the columns there are */
	size_t cell_words[CELLS_MAX]; /* how many words each takes */
};

struct layout {
	jmp_buf guard;
	struct arena arena;
	struct source source;
	struct policy_report *report;
	VEC(struct laid) lines;
	struct buf *out;
	size_t column;                   /* of the line being written */
	size_t widths[KINDS][CELLS_MAX]; /* of the columns of its block */
};

static bool is_word(const struct lex_line *l, size_t i, const char *text)
{
	return i < l->words.n && !l->words.v[i].quoted && strcmp(l->words.v[i].text, text) == 0;
}

static bool is_verdict(const struct lex_line *l, size_t i)
{
	return i < l->words.n && !l->words.v[i].quoted &&
	       words_has(words_verdict, l->words.v[i].text);
}

static void find_cells(struct laid *x)
{
	size_t verdict = is_word(&x->line, 0, "final");

	if (is_verdict(&x->line, verdict)) {
		x->kind = KIND_RULE;
		x->cell_words[0] = verdict + 1;
		x->cell_words[1] = 1;
		x->cells = 2;
	} else if (is_word(&x->line, 0, "expect") && is_verdict(&x->line, 1)) {
		x->kind = KIND_EXPECT;
		x->cell_words[0] = x->cell_words[1] = x->cell_words[2] = 1;
		x->cells = 3;
	}
}

/* Columns, not bytes, of words [from, from + n) with blanks between. */
static size_t words_columns(const struct lex_line *l, size_t from, size_t n)
{
	size_t columns = n ? n - 1 : 0;

	for (size_t i = from; i < from + n && i < l->words.n; i++)
		for (size_t b = 0; b < l->words.v[i].raw_len; b++)
			columns += (l->words.v[i].raw[b] & 0xc0) != 0x80;
	return columns;
}

static bool is_blank(const struct laid *x)
{
	return !x->line.words.n && !x->line.comment;
}

static void widen(struct layout *o, const struct laid *x)
{
	size_t first = 0;

	for (size_t c = 0; c < x->cells; c++) {
		size_t columns = words_columns(&x->line, first, x->cell_words[c]);
		size_t *width = &o->widths[x->kind][c];

		if (columns > *width && columns <= CELL_MAX_COLUMNS)
			*width = columns;
		first += x->cell_words[c];
	}
}

/* The widths of the columns of the block that begins at a line. */
static void measure_block(struct layout *o, size_t at)
{
	memset(o->widths, 0, sizeof o->widths);
	for (; at < o->lines.n && !is_blank(&o->lines.v[at]); at++)
		widen(o, &o->lines.v[at]);
}

static void put_blanks(struct layout *o, size_t n)
{
	o->column += n;
	while (n--)
		buf_chr(o->out, ' ');
}

static void put_word(struct layout *o, const struct lex_line *l, size_t i)
{
	buf_add(o->out, l->words.v[i].raw, l->words.v[i].raw_len);
	o->column += words_columns(l, i, 1);
}

/* Conditions and options stand off a little. */
static bool begins_group(const struct lex_line *l, size_t i)
{
	static const char *const more[] = {"to", "named", "if", "argv", "in", "then", "use", NULL};
	bool ruled = is_verdict(l, 0) || is_word(l, 0, "final") || is_word(l, 0, "secret");
	const struct word *w = &l->words.v[i];

	if (w->quoted || i < 2 || (i == 2 && is_word(l, 0, "secret")))
		return false;
	/* `when argv` is one beginning. */
	if (is_word(l, i, "argv") && is_word(l, i - 1, "when"))
		return false;
	if (ruled)
		return words_has(words_after_object, w->text) ||
		       (is_word(l, 0, "secret") && strcmp(w->text, "to") == 0);
	return words_has(more, w->text) ||
	       (is_word(l, 0, "expect") && i > 2 && words_has(words_after_object, w->text));
}

/* The words behind the cells, continued where they are too long. */
static void put_rest(struct layout *o, const struct lex_line *l, size_t from)
{
	for (size_t i = from; i < l->words.n; i++) {
		size_t gap = i == from ? 0 : begins_group(l, i) ? 2 : 1;
		bool last = i + 1 == l->words.n;
		size_t need = gap + words_columns(l, i, 1) + (last ? 0 : 2);

		if (i > from && o->column + need > COLUMNS) {
			buf_str(o->out, " \\\n" CONTINUATION);
			o->column = strlen(CONTINUATION);
			gap = 0;
		}
		put_blanks(o, gap);
		put_word(o, l, i);
	}
}

static void put_line(struct layout *o, size_t at)
{
	const struct laid *x = &o->lines.v[at];
	size_t word = 0;

	o->column = 0;
	for (size_t c = 0; c < x->cells && word < x->line.words.n; c++) {
		size_t begin = o->column;
		size_t width = o->widths[x->kind][c];

		for (size_t i = 0; i < x->cell_words[c] && word < x->line.words.n; i++) {
			put_blanks(o, i ? 1 : 0);
			put_word(o, &x->line, word++);
		}
		if (word < x->line.words.n)
			put_blanks(o,
			           (o->column - begin < width ? width - (o->column - begin) : 0) +
			                   1);
	}
	put_rest(o, &x->line, word);
	if (x->line.comment) {
		buf_str(o->out, x->line.words.n ? "  " : "");
		buf_add(o->out, x->line.comment, x->line.comment_len);
	}
	buf_chr(o->out, '\n');
}

static void read_lines(struct layout *o)
{
	struct lexer lx;
	struct laid x = {0};

	lex_begin(&lx, &o->arena, o->report, &o->source);
	while (lex_next(&lx, &x.line)) {
		/* One blank line parts; none at the beginning. */
		if (!is_blank(&x) || (o->lines.n && !is_blank(&o->lines.v[o->lines.n - 1]))) {
			find_cells(&x);
			*vec_push(&o->arena, &o->lines) = x;
		}
		x = (struct laid){0};
	}
	while (o->lines.n && is_blank(&o->lines.v[o->lines.n - 1]))
		o->lines.n--;
}

static int lay_out(struct layout *o)
{
	if (setjmp(o->guard))
		return -ERR_NOMEM;
	o->arena.guard = &o->guard;
	if (lex_check(&o->source, o->report))
		return -ERR_POLICY;
	read_lines(o);
	if (o->report->errors)
		return -ERR_POLICY;
	for (size_t i = 0; i < o->lines.n; i++) {
		if (!i || is_blank(&o->lines.v[i - 1]))
			measure_block(o, i);
		put_line(o, i);
	}
	return o->out->failed ? -ERR_NOMEM : 0;
}

int policy_fmt(const char *name, const char *text, size_t len_bytes, struct buf *out,
               struct policy_report **report)
{
	struct layout *o = calloc(1, sizeof *o);
	struct buf laid = BUF_INIT;
	int err;

	*report = report_new();
	if (!o || !*report) {
		free(o);
		return -ERR_NOMEM;
	}
	o->source = (struct source){.name = name, .text = text, .len_bytes = len_bytes};
	o->report = *report;
	o->out = &laid;
	err = lay_out(o);
	if (!err)
		buf_add(out, laid.data ? laid.data : "", laid.len_bytes);
	buf_free(&laid);
	arena_free(&o->arena);
	free(o);
	return err ? err : out->failed ? -ERR_NOMEM : 0;
}
