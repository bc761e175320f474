/* wary audit stack: the call stack that was taken for a row. */
#include "audit/expr.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_args.h"
#include "cmd/audit_words.h"

#include <stdio.h>
#include <string.h>

static void print_lines(const struct rows_text *stack)
{
	const char *at = stack->bytes;
	const char *end = stack->bytes + stack->len_bytes;

	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		auto_buf line = BUF_INIT;

		if (!stop)
			stop = end;
		text_printable(&line, at, (size_t)(stop - at), 0);
		puts(buf_text(&line) ? buf_text(&line) : "?");
		at = stop + 1;
	}
}

/* Returns an exit status, or a negative error. */
static int print_stack(struct store *s, unsigned long long id)
{
	char where[40];
	const struct read_filter f = {.where = where};
	struct reader *r = NULL;
	struct read_event e;
	bool there = false;
	int err;

	snprintf(where, sizeof where, "e.id = %llu", id);
	err = read_open(s, &f, &r);
	if (!err)
		err = read_next(r, &e, &there);
	if (!err && there && e.stack.len_bytes) {
		print_lines(&e.stack);
	} else if (!err) {
		log_error(there ? "no call stack was taken for row %llu: rules with `stack` have "
		                  "one taken before they ask"
		                : "there is no row %llu",
		          id);
		err = AUDIT_WRONG;
	}
	read_close(r);
	return err;
}

int audit_stack(int argc, char **argv)
{
	struct audit_args args;
	unsigned long long id = 0;
	struct store *s;
	int status = audit_args_take("stack", argc, argv, "", 1, 1, &args);

	if (status || args.help)
		return status ? status : audit_help("stack");
	if (text_number(args.words[0], INT64_MAX, &id) != 0)
		return audit_usage("stack");
	s = audit_open(args.db);
	status = s ? print_stack(s, id) : AUDIT_USAGE;
	if (status < 0) {
		log_error("the record cannot be read: %s", store_why(s));
		status = AUDIT_USAGE;
	}
	store_close(s);
	return status;
}
