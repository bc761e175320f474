/* The language of `wary audit query`, as conditions on the rows that
 * SCHEMA_EVENT_FROM joins.  Pure: text in, SQL out.
 *
 *   query  = [ any ] { ("since" | "until") TIME }
 *   any    = all { "or" all }
 *   all    = one { "and" one }
 *   one    = "not" one | "(" any ")" | "unknown" | "refused"
 *          | FIELD OP VALUE | FIELD "in" "(" VALUE { "," VALUE } ")"
 *   OP     = "=" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~"
 *
 * A value is a word, or text in double or single quotes.  ~ compares with a
 * pattern: * is any run without a slash, ** any run, ? one byte but a slash.
 * What the expression says becomes SQL only as numbers and as quoted text.
 */
#ifndef WARY_AUDIT_EXPR_H
#define WARY_AUDIT_EXPR_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPR_TEXT_MAX_BYTES 4096
#define EXPR_DEPTH_MAX 100
#define EXPR_TIME_BYTES 40

struct expr {
	struct buf sql; /* a condition; empty: everything */
	/* Bits of docs/AUDIT.md, "Words", that every row that fits has one of; 0:
	 * any.  They rule out whole batches. */
	uint32_t kinds, classes, answers;
	/* Of the actor w of every row that fits; empty: any.  It rules out batches too. */
	struct buf actors;
	char since[EXPR_TIME_BYTES], until[EXPR_TIME_BYTES]; /* as written; "" none */
};

/** expr_parse: @text: what a person wrote.
 * @error: a sentence, printable, with the column, where it is not an expression.
 * Returns 0, -ERR_FORMAT or -ERR_NOMEM; expr_free in any case. */
must_check int expr_parse(const char *text, struct expr *out, struct buf *error);
void expr_free(struct expr *e);

/** expr_glob: whether a text fits a pattern as above; in time and memory of the
 * product of their lengths, whatever they are. Returns false without memory. */
bool expr_glob(const char *pattern, const char *text);

/** expr_host: the length of the host in an object of a flow: what comes before
 * its last colon where only digits follow; else all of it. */
size_t expr_host(const char *object, size_t len_bytes);

#endif
