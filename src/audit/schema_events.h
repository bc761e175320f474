/* How events are joined with what they refer to: for the views, and for the
 * readers that want the same columns with conditions of their own. */
#ifndef WARY_AUDIT_SCHEMA_EVENTS_H
#define WARY_AUDIT_SCHEMA_EVENTS_H

/* It would take the texts apart. */
/* clang-format off */
#define SCHEMA_WALL_US "s.opened_us + e.at_us + c.skew_us"
/* A string by its id; a prefix has no prefix itself. */
#define SCHEMA_TEXT(id) \
	"(SELECT coalesce((SELECT p.text FROM string p WHERE p.id = t.prefix), '')" \
	" || t.text FROM string t WHERE t.id = " id ")"

/* What every view of events has; the batch gives session and seq, so that a
 * row need not carry them. */
#define SCHEMA_EVENT_COLUMNS SCHEMA_EVENT_COLUMNS_1 SCHEMA_EVENT_COLUMNS_2
/* As version 1 of the schema had them, and what version 2 added. */
#define SCHEMA_EVENT_COLUMNS_1 \
	"e.id AS id, s.name AS session," \
	" c.first_seq + e.id - c.first_event AS seq," \
	" strftime('%Y-%m-%dT%H:%M:%fZ', (" SCHEMA_WALL_US ") / 1e6, 'unixepoch') AS time," \
	" " SCHEMA_WALL_US " AS time_us, e.took_us AS took_us," \
	" w.pid AS pid, w.tid AS tid, w.ppid AS ppid, w.uid AS uid," \
	" " SCHEMA_TEXT("w.program") " AS program," \
	" a.syscall AS syscall, a.class AS class," \
	" " SCHEMA_TEXT("e.object") " AS object, " SCHEMA_TEXT("d.object2") " AS object2," \
	" a.flags AS flags, a.answer AS answer, a.judge AS judge," \
	" " SCHEMA_TEXT("a.rule_file") " AS rule_file, a.rule_line AS rule_line," \
	" " SCHEMA_TEXT("a.rule_text") " AS rule_text," \
	" e.result AS result, e.result IS NULL AS unknown," \
	" " SCHEMA_TEXT("d.cwd") " AS cwd, " SCHEMA_TEXT("d.argv") " AS argv," \
	" " SCHEMA_TEXT("d.stack") " AS stack, nullif(lower(hex(d.sha256)), '') AS sha256," \
	" d.reason AS reason"
#define SCHEMA_EVENT_COLUMNS_2 ", e.size_before AS size_before, e.links_left AS links_left"
#define SCHEMA_EVENT_FROM \
	" FROM checkpoint c CROSS JOIN session s ON s.id = c.session" \
	" CROSS JOIN event e" \
	" ON e.id BETWEEN c.first_event AND c.first_event + c.events - 1" \
	" CROSS JOIN act a ON a.id = e.act CROSS JOIN actor w ON w.id = e.actor" \
	" LEFT JOIN detail d ON d.id = e.detail"
/* clang-format on */

#endif
