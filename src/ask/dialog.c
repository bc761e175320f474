#include "ask/dialog.h"

#include "base/own.h"
#include "base/text.h"
#include "base/uses.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

USES(open_read);

#define CODE_LETTERS 4
/* First lines of a file that [i] shows. */
#define FILE_SHOWN_BYTES 1200
#define FILE_SHOWN_LINES 12
#define LABEL_COLUMNS 12

struct frame {
	const char *top, *side, *bottom, *line, *prompt;
};

static const struct frame frame_utf8 = {"┌", "│", "└", "─", "›"};
static const struct frame frame_ascii = {"+", "|", "+", "-", ">"};

static const struct frame *frame_of(const struct term *t)
{
	return t->utf8 ? &frame_utf8 : &frame_ascii;
}

static void write_buf(struct term *t, struct buf *b)
{
	const char *text = buf_text(b);

	term_write(t, text ? text : "(out of memory: answer no)\n");
	buf_free(b);
}

/* How wide text may be: East Asian characters and the like take two columns,
 * and what is not known is taken for such a one. A row that the terminal wraps
 * by itself would begin without the box's side, and could pass for another. */
static size_t columns_of(const char *s, size_t len_bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < len_bytes; i++) {
		unsigned char c = (unsigned char)s[i];

		if ((c & 0xc0) != 0x80)
			n += c >= 0xe1 ? 2 : 1;
	}
	return n;
}

/* One line of text over as many rows of the box as it takes: a name must not
 * be cut where it would say something else. */
static void box_line(struct term *t, struct buf *out, const char *label, const char *text)
{
	const struct frame *f = frame_of(t);
	size_t label_columns = *label ? LABEL_COLUMNS : 0;
	size_t room = (size_t)t->columns - 3 - label_columns;
	size_t len = strlen(text);
	bool first = true;

	do {
		size_t take = 0;

		while (take < len && columns_of(text, take + 1) <= room)
			take++;
		while (take < len && ((unsigned char)text[take] & 0xc0) == 0x80)
			take++;
		buf_fmt(out, "%s %-*s", f->side, (int)label_columns, first ? label : "");
		buf_add(out, text, take);
		buf_chr(out, '\n');
		text += take;
		len -= take;
		first = false;
	} while (len);
}

static void box_top(struct term *t, struct buf *out)
{
	const struct frame *f = frame_of(t);

	buf_fmt(out, "%s wary asks ", f->top);
	for (int i = 13; i < t->columns; i++)
		buf_str(out, f->line);
	buf_chr(out, '\n');
}

static void box_menu(struct term *t, const struct card *c, struct buf *out)
{
	const struct frame *f = frame_of(t);

	buf_fmt(out, "%s [y] once  ", f->bottom);
	if (c->may_session)
		buf_str(out, "[s] this session  ");
	if (c->may_always)
		buf_str(out, "[a] always…  ");
	buf_str(out, "[n] no  ");
	if (c->may_always)
		buf_str(out, "[N] never…  ");
	buf_fmt(out, "[k] stop all  [i] more  %s ", f->prompt);
}

static void show_box(struct term *t, const struct card *c)
{
	static const struct {
		enum card_line line;
		const char *label;
	} rows[] = {
		{CARD_HEADLINE, ""},       {CARD_OBJECTS, "these"}, {CARD_STARTED, "started by"},
		{CARD_BECAUSE, "because"}, {CARD_REASON, ""},       {CARD_SEEN, "seen before"},
		{CARD_NOTE, "note"},
	};
	struct buf out = BUF_INIT;

	box_top(t, &out);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (c->line[rows[i].line])
			box_line(t, &out, rows[i].label, c->line[rows[i].line]);
	box_menu(t, c, &out);
	write_buf(t, &out);
}

/* ---- more --------------------------------------------------------------- */

/* The first lines of a regular file; never waits on what is not one. */
static void file_lines(struct term *t, struct buf *out, const char *path)
{
	char bytes[FILE_SHOWN_BYTES];
	auto_fd fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	ssize_t len;
	char *line = bytes;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	len = read(fd, bytes, sizeof bytes);
	if (len <= 0 || memchr(bytes, 0, (size_t)len))
		return;
	box_line(t, out, "", "it begins");
	for (int i = 0; i < FILE_SHOWN_LINES && line < bytes + len; i++) {
		size_t left = (size_t)(bytes + len - line);
		char *end = memchr(line, '\n', left);
		size_t n = end ? (size_t)(end - line) : left;
		auto_buf text = BUF_INIT;

		text_printable(&text, line, n, 0);
		box_line(t, out, "  ", buf_text(&text) ? buf_text(&text) : "");
		line += n + 1;
	}
}

static void show_more(struct term *t, const struct card *c)
{
	struct buf out = BUF_INIT;
	const char *line = c->line[CARD_MORE];

	buf_chr(&out, '\n');
	while (line && *line) {
		size_t n = strcspn(line, "\n");
		auto_buf text = BUF_INIT;

		buf_add(&text, line, n);
		if (n)
			box_line(t, &out, "", buf_text(&text) ? buf_text(&text) : "");
		line += n + (line[n] == '\n');
	}
	if (c->line[CARD_FILE])
		file_lines(t, &out, c->line[CARD_FILE]);
	box_menu(t, c, &out);
	write_buf(t, &out);
}

/* ---- answers -------------------------------------------------------------- */

/* Letters that cannot be taken for one another. */
static bool make_code(char *code)
{
	static const char letters[] = "abcdefghijkmnpqrstuvwxyz";
	unsigned char bytes[CODE_LETTERS];

	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		return false;
	for (int i = 0; i < CODE_LETTERS; i++)
		code[i] = letters[bytes[i] % (sizeof letters - 1)];
	code[CODE_LETTERS] = '\0';
	return true;
}

/* What ends a question besides an answer. Returns whether it does. */
static bool ends(enum term_key key, struct dialog_result *out)
{
	if (key == TERM_OTHER)
		out->answer = DIALOG_WITHDRAWN;
	else if (key == TERM_LOST)
		out->answer = DIALOG_LOST;
	else if (key == TERM_INTERRUPT)
		out->answer = DIALOG_NO;
	else
		return false;
	return true;
}

enum confirmed { CONFIRM_NO, CONFIRM_YES, CONFIRM_ENDED };

static enum confirmed confirm(struct term *t, const char *what, struct dialog_result *out)
{
	char code[CODE_LETTERS + 1];
	struct buf text = BUF_INIT;
	int right = 0;
	int typed = 0;

	if (!make_code(code))
		return CONFIRM_NO;
	buf_fmt(&text, "\n  to allow %s, type  %s  %s ", what, code, frame_of(t)->prompt);
	write_buf(t, &text);
	while (typed < CODE_LETTERS) {
		char c;
		enum term_key key = term_key(t, &c);
		char shown[2] = {c, '\0'};

		if (ends(key, out))
			return CONFIRM_ENDED;
		if (key == TERM_ESCAPE)
			break;
		if (key != TERM_CHAR)
			continue;
		term_write(t, shown);
		right += tolower((unsigned char)c) == code[typed];
		typed++;
	}
	if (typed == CODE_LETTERS && right == CODE_LETTERS) {
		out->answer = DIALOG_YES;
		return CONFIRM_YES;
	}
	term_write(t, "\n  that was not the code: nothing is allowed yet\n");
	return CONFIRM_NO;
}

static void show_rules(struct term *t, const char *verb, const char *rules)
{
	struct buf out = BUF_INIT;

	buf_fmt(&out, "\n  %s\n", verb);
	while (*rules) {
		size_t n = strcspn(rules, "\n");

		buf_str(&out, "      ");
		buf_add(&out, rules, n);
		buf_chr(&out, '\n');
		rules += n + (rules[n] == '\n');
	}
	write_buf(t, &out);
}

/* "always": which rule; arrows widen and narrow, return takes it. */
static enum confirmed choose_rule(struct term *t, const struct card *c, struct dialog_result *out)
{
	unsigned at = 0;

	for (;;) {
		enum term_key key;
		char ch;

		show_rules(t, "this would be added to your answers:", c->allow[at]);
		term_write(t,
		           c->choices_n > 1
		                   ? "  [return] take it  [up] [down] narrower, wider  [esc] back "
		                   : "  [return] take it  [esc] back ");
		do
			key = term_key(t, &ch);
		while (key == TERM_NONE || key == TERM_CHAR);
		if (ends(key, out))
			return CONFIRM_ENDED;
		if (key == TERM_ESCAPE)
			return CONFIRM_NO;
		if (key == TERM_ENTER)
			break;
		if (key == TERM_UP && at > 0)
			at--;
		if (key == TERM_DOWN && at + 1 < c->choices_n)
			at++;
	}
	out->choice = at;
	return confirm(t, "this from now on", out);
}

/* "never": a rule that denies; no code, since it opens nothing. */
static enum confirmed choose_never(struct term *t, const struct card *c, struct dialog_result *out)
{
	enum term_key key;
	char ch;

	show_rules(t, "this would be added to your answers:", c->deny);
	term_write(t, "  [return] take it  [esc] back ");
	do
		key = term_key(t, &ch);
	while (key != TERM_ENTER && key != TERM_ESCAPE && !ends(key, out));
	if (key == TERM_ESCAPE)
		return CONFIRM_NO;
	if (key == TERM_ENTER) {
		out->answer = DIALOG_NO;
		out->scope = DIALOG_ALWAYS;
	}
	return CONFIRM_ENDED;
}

/* One key of the menu. CONFIRM_NO: show the menu again. */
static enum confirmed menu(struct term *t, const struct card *c, char key,
                           struct dialog_result *out)
{
	out->scope = DIALOG_ONCE;
	switch (key) {
	case 'y':
		return confirm(t, "this once", out);
	case 's':
		if (!c->may_session)
			return CONFIRM_NO;
		out->scope = DIALOG_SESSION;
		return confirm(t, "this for the session", out);
	case 'a':
		if (!c->may_always)
			return CONFIRM_NO;
		out->scope = DIALOG_ALWAYS;
		return choose_rule(t, c, out);
	case 'N':
		return c->may_always ? choose_never(t, c, out) : CONFIRM_NO;
	case 'n':
		out->answer = DIALOG_NO;
		return CONFIRM_ENDED;
	case 'k':
		out->answer = DIALOG_STOP;
		return CONFIRM_ENDED;
	default:
		return CONFIRM_NO;
	}
}

static void show_menu_again(struct term *t, const struct card *c)
{
	struct buf out = BUF_INIT;

	buf_chr(&out, '\n');
	box_menu(t, c, &out);
	write_buf(t, &out);
}

/* What stays on the screen: the answer, for whoever scrolls back. */
static void show_answer(struct term *t, const struct dialog_result *r)
{
	static const char *const words[] = {
		[DIALOG_NO] = "no",
		[DIALOG_YES] = "yes",
		[DIALOG_STOP] = "stopping all of it",
		[DIALOG_WITHDRAWN] = "answered elsewhere, or no longer wanted",
		[DIALOG_LOST] = "",
	};
	static const char *const scopes[] = {"", ", for this session", ", always"};
	struct buf out = BUF_INIT;

	buf_fmt(&out, "\n  %s%s\n", words[r->answer],
	        r->answer == DIALOG_YES ? scopes[r->scope] : "");
	write_buf(t, &out);
}

void dialog_run(struct term *t, const struct card *c, struct dialog_result *out)
{
	enum confirmed done = CONFIRM_NO;

	*out = (struct dialog_result){.answer = DIALOG_NO};
	show_box(t, c);
	while (done == CONFIRM_NO) {
		char ch;
		enum term_key key = term_key(t, &ch);

		if (ends(key, out))
			break;
		if (key != TERM_CHAR)
			continue;
		if (ch == 'i') {
			show_more(t, c);
			continue;
		}
		if (!strchr("ysanNk", ch))
			continue;
		done = menu(t, c, ch, out);
		if (done == CONFIRM_NO) {
			out->answer = DIALOG_NO;
			show_menu_again(t, c);
		}
	}
	show_answer(t, out);
}
