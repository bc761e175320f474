/* audit/expr: whatever is typed becomes a condition with balanced quotes and
 * brackets, or a printable complaint; patterns come to an end. */
#include "audit/expr.h"
#include "base/own.h"
#include "base/text.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_sql(const char *sql)
{
	long depth = 0;
	bool quoted = false;

	for (; *sql; sql++) {
		if (*sql == '\'')
			quoted = !quoted;
		else if (!quoted && *sql == '(')
			depth++;
		else if (!quoted && *sql == ')')
			depth--;
		invariant(depth >= 0);
		invariant(quoted || *sql != ';');
	}
	invariant(!depth && !quoted);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len_bytes)
{
	struct buf error = BUF_INIT;
	char *text = calloc(1, len_bytes + 1);
	struct expr e;
	int err;

	if (!text)
		return 0;
	memcpy(text, bytes, len_bytes);
	err = expr_parse(text, &e, &error);
	if (!err)
		check_sql(buf_text(&e.sql));
	else
		invariant(err == -ERR_NOMEM || error.len_bytes > 0);
	if (len_bytes < 2000)
		(void)expr_glob(text, "/home/ana/src/app/node_modules/a.js");
	expr_free(&e);
	buf_free(&error);
	free(text);
	return 0;
}
