/* From bytes to words: one logical line after the other. */
#ifndef WARY_POLICY_LEX_H
#define WARY_POLICY_LEX_H

#include "policy/message.h"

/* Bounds of one statement. */
#define LEX_WORDS_MAX 10000
#define LEX_WORD_MAX_BYTES 8192

/* One logical line: with \ at their ends, lines are one. */
struct lex_line {
	struct words words;
	const char *comment; /* from its #, within the source; NULL: none */
	size_t comment_len;
	unsigned first, last; /* physical lines */
	bool broken;          /* an error was reported: skip the statement */
};

struct lexer {
	struct arena *arena;
	struct policy_report *report;
	const struct source *source;
	size_t at;
	unsigned line, column;
	char cooked[LEX_WORD_MAX_BYTES + 2]; /* of the word being read */
	size_t cooked_n;
};

/** lex_check: that the bytes may be a policy at all: UTF-8 without a byte
 * order mark, NUL, CR, control, bidirectional or invisible characters, in
 * comments too (law 30).
 * Returns 0, or -ERR_SYNTAX with the first such place reported. */
must_check int lex_check(const struct source *s, struct policy_report *r);

void lex_begin(struct lexer *lx, struct arena *a, struct policy_report *r, const struct source *s);

/** lex_next: the next logical line; words live in the arena.
 * Returns false at the end of the text. */
bool lex_next(struct lexer *lx, struct lex_line *out);

#endif
