#include "cmd/export_formats.h"

#include "cmd/audit_event.h"

#include <limits.h>
#include <string.h>

#define OTLP_GROUP_ROWS 256

static void put_jsonl(struct buf *out, const struct export_row *x, bool again)
{
	(void)again;
	audit_event_json(out, x->e, true);
	buf_chr(out, '\n');
}

static void put_csv(struct buf *out, const struct export_row *x, bool again)
{
	(void)again;
	audit_event_csv(out, x->e);
}

static const struct export_format formats[] = {
	{.name = "jsonl", .row = put_jsonl},
	{.name = "csv", .head = audit_event_csv_head, .row = put_csv},
	{.name = "ocsf", .row = export_ocsf},
	{.name = "ecs", .row = export_ecs},
	{.name = "cef", .row = export_cef},
	{.name = "otlp",
         .begin = export_otlp_open,
         .row = export_otlp,
         .end = export_otlp_close,
         .group_rows = OTLP_GROUP_ROWS},
	{.name = "cyclonedx",
         .condition = export_cyclonedx_condition,
         .begin = export_cyclonedx_begin,
         .row = export_cyclonedx,
         .end = export_cyclonedx_end,
         .group_rows = UINT_MAX},
};
#define FORMATS (sizeof formats / sizeof formats[0])

const struct export_format *export_format_find(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}

void export_format_names(struct buf *out)
{
	for (size_t i = 0; i < FORMATS; i++)
		buf_fmt(out, i ? ", %s" : "%s", formats[i].name);
}
