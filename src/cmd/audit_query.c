#include "cmd/audit_query.h"

#include "base/log.h"
#include "base/own.h"
#include "cmd/audit.h"
#include "cmd/audit_words.h"

int audit_query_take(struct audit_query *q, int argc, char **argv, const char *name,
                     struct read_filter *f)
{
	auto_buf text = BUF_INIT;
	auto_buf error = BUF_INIT;
	struct read_filter until = {0};
	int status = 0;
	int err;

	for (int i = 0; i < argc; i++)
		buf_fmt(&text, i ? " %s" : "%s", argv[i]);
	err = buf_text(&text) ? expr_parse(buf_text(&text), &q->expr, &error) : -ERR_NOMEM;
	if (err) {
		log_error("audit %s: %s", name,
		          err == -ERR_FORMAT && buf_text(&error) ? buf_text(&error)
		                                                 : err_text(err));
		return AUDIT_USAGE;
	}
	if (*q->expr.since)
		status = audit_since_word(q->expr.since, f);
	if (!status && *q->expr.until)
		status = audit_since_word(q->expr.until, &until);
	f->until_us = until.since_us;
	f->where = buf_text(&q->expr.sql);
	f->actors = q->expr.actors.len_bytes ? buf_text(&q->expr.actors) : NULL;
	f->batch_kinds = q->expr.kinds;
	f->batch_classes = q->expr.classes;
	f->batch_answers = q->expr.answers;
	return status;
}

void audit_query_free(struct audit_query *q)
{
	expr_free(&q->expr);
}
