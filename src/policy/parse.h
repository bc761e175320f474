/* From words to statements. */
#ifndef WARY_POLICY_PARSE_H
#define WARY_POLICY_PARSE_H

#include "policy/lex.h"
#include "policy/tree.h"

/** parse_source: the statements of a checked text (lex_check), one after the
 * other.  One with errors is reported and left out; the caller looks at the
 * report.
 * @line: holds a statement while @each has it; reset after each.
 * @each: may parse another source with another arena meanwhile. */
void parse_source(struct arena *line, struct policy_report *r, const struct source *s,
                  void (*each)(void *ctx, const struct stmt *stmt), void *ctx);

/** parse_question: the one line of a question: an expect without verdict.
 * Returns NULL with messages. */
struct expect_tree *parse_question(struct arena *a, struct policy_report *r,
                                   const struct source *s);

/* --- between the files of the parser ------------------------------------ */

/* One statement being read. */
struct parser {
	struct arena *arena;
	struct policy_report *report;
	const struct source *source;
	struct words words;
	size_t at;   /* the next word */
	bool broken; /* an error was reported */
};

/** parse_peek: the next word, or NULL. */
const struct word *parse_peek(const struct parser *p);
const struct word *parse_take(struct parser *p);
/** parse_is: whether the next word is this unquoted keyword. */
bool parse_is(const struct parser *p, const char *keyword);
/** parse_accept: takes it if so. */
bool parse_accept(struct parser *p, const char *keyword);
/** parse_fail: an error at the next word, or behind the last one. */
void parse_fail(struct parser *p, const char *hint, const char *text);
/** parse_word: the next word, which must be there; NULL with "expected WHAT". */
const struct word *parse_word(struct parser *p, const char *what);
/** parse_plain: its text without escapes. */
const char *parse_plain(struct parser *p, const struct word *w);
/** parse_raw: words [from, to) as written, one blank between them. */
const char *parse_raw(struct parser *p, size_t from, size_t to);
/** parse_classes: bits of a comma list, or 0 with a message. */
unsigned parse_classes(struct parser *p, const char **text, struct spot *at);
/** parse_end: an error where words are left. */
void parse_end(struct parser *p);

/** parse_rule: from its verdict on. */
struct rule_tree *parse_rule(struct parser *p, bool is_final);
/** parse_cond: one condition, whose keyword is next. */
void parse_cond(struct parser *p, struct cond_tree *out);
/** parse_is_cond: whether a condition is next. */
bool parse_is_cond(const struct parser *p);
/** parse_option: takes an option that is next; false where none is. */
bool parse_option(struct parser *p, struct options_tree *out);
/** parse_list: words up to the next keyword; at least one. */
void parse_list(struct parser *p, const char *what, struct words *out);

struct secret_tree *parse_secret(struct parser *p);
struct limit_tree *parse_limit(struct parser *p);
/** parse_expect: behind `expect`; @verdict: false for a question. */
struct expect_tree *parse_expect(struct parser *p, bool verdict);

#endif
