#include "policy/lex.h"

#include "base/text.h"

#include <string.h>

/* The spot of byte @at in a source, one character long. */
static struct spot spot_of_byte(const struct source *s, size_t at)
{
	struct spot spot = {.source = s, .line = 1, .column = 1, .len = 1};

	for (size_t i = 0; i < at; i++) {
		if (s->text[i] == '\n') {
			spot.line++;
			spot.column = 1;
		} else if ((s->text[i] & 0xc0) != 0x80) {
			spot.column++;
		}
	}
	return spot;
}

static int wrong_byte(const struct source *s, size_t at, unsigned code, struct policy_report *r)
{
	struct spot spot = spot_of_byte(s, at);

	if (code == 0)
		report_error(r, spot, NULL, "the text has a NUL byte");
	else if (code == '\r')
		report_error(r, spot, "save the file with plain line ends (LF)",
		             "the line ends in CR LF, or has a carriage return");
	else if (code == 0xfeff && at == 0)
		report_error(r, spot, "save the file as UTF-8 without one",
		             "the text begins with a byte order mark");
	else if (code < 0x20 || (code >= 0x7f && code < 0xa0))
		report_error(r, spot, "in a name write it as \\xHH",
		             "the text has a control character (\\x%02x)", code);
	else
		report_error(r, spot, "people would not see what it does",
		             "the text has an invisible or direction-changing character (U+%04X)",
		             code);
	return -ERR_SYNTAX;
}

int lex_check(const struct source *s, struct policy_report *r)
{
	const unsigned char *text = (const unsigned char *)s->text;
	size_t i = 0;

	if (s->len_bytes > 4u << 20) {
		report_error(r, (struct spot){.source = s}, NULL,
		             "the text is longer than 4 MiB, the most that it may be");
		return -ERR_SYNTAX;
	}
	while (i < s->len_bytes) {
		unsigned code;
		size_t n;

		if (text[i] >= 0x20 && text[i] < 0x7f) {
			i++;
			continue;
		}
		n = text_utf8_next(text + i, s->len_bytes - i, &code);
		if (!n) {
			report_error(r, spot_of_byte(s, i), "in a name write such a byte as \\xHH",
			             "the text is not UTF-8 (byte 0x%02x)", text[i]);
			return -ERR_SYNTAX;
		}
		if (text_is_hidden(code) && code != '\n' && code != '\t')
			return wrong_byte(s, i, code, r);
		i += n;
	}
	return 0;
}

void lex_begin(struct lexer *lx, struct arena *a, struct policy_report *r, const struct source *s)
{
	*lx = (struct lexer){.arena = a, .report = r, .source = s, .line = 1, .column = 1};
}

static char peek(const struct lexer *lx, size_t ahead)
{
	return lx->at + ahead < lx->source->len_bytes ? lx->source->text[lx->at + ahead] : '\0';
}

static bool at_end(const struct lexer *lx)
{
	return lx->at >= lx->source->len_bytes;
}

static char take(struct lexer *lx)
{
	char c = lx->source->text[lx->at++];

	if (c == '\n') {
		lx->line++;
		lx->column = 1;
	} else if ((c & 0xc0) != 0x80) {
		lx->column++;
	}
	return c;
}

static struct spot here(const struct lexer *lx, unsigned len)
{
	return (struct spot){
		.source = lx->source, .line = lx->line, .column = lx->column, .len = len};
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_continuation(const struct lexer *lx)
{
	return peek(lx, 0) == '\\' && (peek(lx, 1) == '\n' || lx->at + 1 == lx->source->len_bytes);
}

static int hex_value(char c)
{
	const char *digits = "0123456789abcdef";
	const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Bytes that mean something where a word is read later. */
static bool is_special(char c)
{
	return c && strchr("\\*{},$~?[]@:#\"= ", c) != NULL;
}

/* One byte more, as it is; lex_word says where the bound was met. */
static void put(struct lexer *lx, char c)
{
	if (lx->cooked_n < LEX_WORD_MAX_BYTES + 1)
		lx->cooked[lx->cooked_n++] = c;
}

static void cook(struct lexer *lx, char c)
{
	if (is_special(c))
		put(lx, '\\');
	put(lx, c);
}

/* After a backslash. Returns false with a message where it is no escape. */
static bool lex_escape(struct lexer *lx)
{
	struct spot at = here(lx, 2);
	char c;
	int hi;
	int lo;

	take(lx);
	c = peek(lx, 0);
	if (c == 'x') {
		take(lx);
		hi = hex_value(peek(lx, 0));
		lo = hi < 0 ? -1 : hex_value(peek(lx, 1));
		at.len = 4;
		if (lo < 0 || hi * 16 + lo == 0) {
			report_error(lx->report, at, NULL,
			             "\\x needs two hexadecimal digits, not 00");
			return false;
		}
		take(lx);
		take(lx);
		cook(lx, (char)(hi * 16 + lo));
		return true;
	}
	if (c == '\0' || c == '\n' || (c & 0x80) || (c >= '0' && c <= '9') ||
	    ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')) {
		report_error(lx->report, at, "write \\\\ for a backslash, \\xHH for a byte",
		             "unknown escape");
		return false;
	}
	cook(lx, take(lx));
	return true;
}

/* A quoted part, from its quote. */
static bool lex_quoted(struct lexer *lx)
{
	struct spot at = here(lx, 1);

	take(lx);
	while (!at_end(lx) && peek(lx, 0) != '\n') {
		char c = peek(lx, 0);

		if (c == '"') {
			take(lx);
			return true;
		}
		if (c == '\\') {
			if (!lex_escape(lx))
				return false;
			continue;
		}
		take(lx);
		/* What separates words outside means itself in quotes; patterns,
		 * variables and braces work as outside. */
		if (c == ' ' || c == '\t' || c == '#' || c == '=')
			cook(lx, c);
		else
			put(lx, c);
	}
	report_error(lx->report, at, NULL, "the quote is not closed on its line");
	return false;
}

static bool lex_word(struct lexer *lx, struct lex_line *out)
{
	struct word w = {.at = here(lx, 1), .raw = lx->source->text + lx->at};
	unsigned column = lx->column;
	bool ok = true;

	lx->cooked_n = 0;
	while (ok && !at_end(lx)) {
		char c = peek(lx, 0);

		if (is_blank(c) || c == '\n' || is_continuation(lx))
			break;
		if (c == '"') {
			w.quoted = true;
			ok = lex_quoted(lx);
		} else if (c == '\\') {
			ok = lex_escape(lx);
		} else {
			put(lx, take(lx));
		}
	}
	w.raw_len = (size_t)(lx->source->text + lx->at - w.raw);
	w.at.len = lx->line == w.at.line ? lx->column - column : 1;
	if (ok && lx->cooked_n > LEX_WORD_MAX_BYTES) {
		report_error(lx->report, w.at, NULL, "the word is longer than %d bytes",
		             LEX_WORD_MAX_BYTES);
		ok = false;
	}
	if (ok) {
		w.text = arena_bytes(lx->arena, lx->cooked, lx->cooked_n);
		*vec_push(lx->arena, &out->words) = w;
	}
	return ok;
}

static void skip_line(struct lexer *lx)
{
	while (!at_end(lx) && peek(lx, 0) != '\n')
		take(lx);
}

static void lex_comment(struct lexer *lx, struct lex_line *out)
{
	out->comment = lx->source->text + lx->at;
	skip_line(lx);
	out->comment_len = (size_t)(lx->source->text + lx->at - out->comment);
	while (out->comment_len && is_blank(out->comment[out->comment_len - 1]))
		out->comment_len--;
}

bool lex_next(struct lexer *lx, struct lex_line *out)
{
	/* A word ends at a blank, so that # is met here only at a line's start or
	 * after a blank. */
	*out = (struct lex_line){.first = lx->line};
	if (at_end(lx))
		return false;
	while (!at_end(lx) && peek(lx, 0) != '\n') {
		char c = peek(lx, 0);

		if (is_blank(c)) {
			take(lx);
		} else if (is_continuation(lx)) {
			take(lx);
			if (!at_end(lx))
				take(lx);
		} else if (c == '#') {
			lex_comment(lx, out);
			break;
		} else if (out->words.n >= LEX_WORDS_MAX) {
			report_error(lx->report, here(lx, 1), "write several statements",
			             "a statement of more than %d words", LEX_WORDS_MAX);
			out->broken = true;
			skip_line(lx);
			break;
		} else if (!lex_word(lx, out)) {
			out->broken = true;
			skip_line(lx);
		}
	}
	out->last = lx->line;
	if (!at_end(lx))
		take(lx);
	return true;
}
