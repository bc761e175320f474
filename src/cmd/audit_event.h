/* One row of the record for other programs. */
#ifndef WARY_CMD_AUDIT_EVENT_H
#define WARY_CMD_AUDIT_EVENT_H

#include "audit/read.h"
#include "base/buf.h"

/* Of the names and meanings of the fields; a field that is added does not
 * change it, one that changes or goes does. */
#define AUDIT_EVENT_SCHEMA 1

/** audit_event_json: appends a row as a JSON object, without a newline.
 * @schema: with the number of the schema as its first field. */
void audit_event_json(struct buf *out, const struct read_event *e, bool schema);

/** audit_event_csv: appends a row as CSV (RFC 4180), CR LF included; texts as
 * wary prints them (docs/AUDIT.md), so that a cell is one line and obeys nobody.
 * One that a spreadsheet would take for a formula gets an apostrophe in front. */
void audit_event_csv(struct buf *out, const struct read_event *e);
/** audit_event_csv_head: the names of the columns. */
void audit_event_csv_head(struct buf *out);

#endif
