/* The formats of `wary audit export`, each in a file of its own. */
#ifndef WARY_CMD_EXPORT_FORMATS_H
#define WARY_CMD_EXPORT_FORMATS_H

#include "cmd/export_row.h"

#define EXPORT_OCSF_VERSION "1.6.0"
#define EXPORT_ECS_VERSION "8.17.0"
#define EXPORT_CEF_VERSION "0"
#define EXPORT_CYCLONEDX_VERSION "1.6"
#define EXPORT_OTEL_SCHEMA_URL "https://opentelemetry.io/schemas/1.30.0"

struct export_format {
	const char *name;
	void (*head)(struct buf *out); /* once, before all; or NULL */
	/* Of a document about one session, begun even where it has no rows: a
	 * condition that says which rows of it; else NULL. @session: has no event. */
	void (*condition)(struct buf *out, const struct export_row *session);
	/* Around up to @group_rows rows of one session; or NULL. */
	void (*begin)(struct buf *out, const struct export_row *first);
	/* @again: another row of the group stands before it. */
	void (*row)(struct buf *out, const struct export_row *x, bool again);
	void (*end)(struct buf *out);
	unsigned group_rows;
};

/** export_format_find: NULL where there is none of that name. */
const struct export_format *export_format_find(const char *name);
/** export_format_names: appends the names, with commas. */
void export_format_names(struct buf *out);

/* One event of the Open Cybersecurity Schema Framework a line. */
void export_ocsf(struct buf *out, const struct export_row *x, bool again);
/* One document of the Elastic Common Schema a line. */
void export_ecs(struct buf *out, const struct export_row *x, bool again);
/* One event in the Common Event Format a line, without a syslog header. */
void export_cef(struct buf *out, const struct export_row *x, bool again);
/* OpenTelemetry logs, as OTLP has them in JSON: a line for each group. */
void export_otlp_open(struct buf *out, const struct export_row *first);
void export_otlp(struct buf *out, const struct export_row *x, bool again);
void export_otlp_close(struct buf *out);

/* The packages of one session as a CycloneDX bill of materials. */
void export_cyclonedx_condition(struct buf *out, const struct export_row *session);
void export_cyclonedx_begin(struct buf *out, const struct export_row *session);
void export_cyclonedx(struct buf *out, const struct export_row *x, bool again);
void export_cyclonedx_end(struct buf *out);

#endif
