#include "cmd/messages.h"

#include <stdio.h>

static void print_source(const struct policy_message *m)
{
	if (!m->source || m->column == 0)
		return;
	(void)fprintf(stderr, "%5u | %s\n      | ", m->line, m->source);
	for (unsigned i = 1; i < m->column; i++)
		(void)fputc(' ', stderr);
	for (unsigned i = 0; i < m->len_columns || i < 1; i++)
		(void)fputc('^', stderr);
	if (m->hint)
		(void)fprintf(stderr, "  %s", m->hint);
	(void)fputc('\n', stderr);
}

void messages_print(const struct policy_report *report)
{
	for (size_t i = 0; report && i < policy_report_count(report); i++) {
		const struct policy_message *m = policy_report_at(report, i);

		if (m->kind != POLICY_ERROR)
			continue;
		(void)fprintf(stderr, "wary: %s:%u:%u: error: %s\n", m->file, m->line, m->column,
		              m->text);
		print_source(m);
	}
}
