/* Tables that say which field of a JSON document comes from what of a row. */
#ifndef WARY_CMD_EXPORT_JSON_H
#define WARY_CMD_EXPORT_JSON_H

#include "cmd/export_row.h"

#include <jansson.h>

/* Memory that runs out aborts: a row that lacks a field would be a false one. */
struct export_field {
	const char *path; /* names with dots between; NULL ends a table */
	/* A new value, or NULL where the row has none. */
	json_t *(*make)(const struct export_row *x, size_t at);
	size_t at; /* for make: where in a struct, or a value */
};

static inline json_t *export_made(json_t *value)
{
	invariant(value != NULL);
	return value;
}

/* Of struct read_event; texts as text_printable has them, none where empty. */
json_t *export_text(const struct export_row *x, size_t at);
/* argv and cwd of what runs; and of a package, and of a process that has ended: there
 * they are words about it and where it lies. */
json_t *export_run_text(const struct export_row *x, size_t at);
json_t *export_words_text(const struct export_row *x, size_t at);
json_t *export_number_of(const struct export_row *x, size_t at); /* u32; none where 0 */
json_t *export_u64(const struct export_row *x, size_t at);
json_t *export_i64(const struct export_row *x, size_t at);
json_t *export_size(const struct export_row *x, size_t at); /* u64; none where not known */
/* Of struct export_origin: a char pointer, printable. */
json_t *export_origin_text(const struct export_row *x, size_t at);
#define EXPORT_EVENT(path, make, member)                        \
	{                                                       \
		path, make, offsetof(struct read_event, member) \
	}
#define EXPORT_ORIGIN(path, member)                                              \
	{                                                                        \
		path, export_origin_text, offsetof(struct export_origin, member) \
	}

/* The acting user: the number, and the name that is known of the session's own;
 * none where the row has no user. */
json_t *export_user_id(const struct export_row *x, size_t at);
json_t *export_user_name(const struct export_row *x, size_t at);

/* A number, or a text, that is always the same. */
json_t *export_number(const struct export_row *x, size_t value);
json_t *export_name_wary(const struct export_row *x, size_t at);
json_t *export_id_text(const struct export_row *x, size_t at);
/* The name of the error, where there was one; the number of the result. */
json_t *export_error(const struct export_row *x, size_t at);
json_t *export_result(const struct export_row *x, size_t at);
json_t *export_message(const struct export_row *x, size_t at);
json_t *export_action(const struct export_row *x, size_t at);
/* "file:line" of the rule, or the file alone. */
json_t *export_rule(const struct export_row *x, size_t at);
json_t *export_session(const struct export_row *x, size_t at);
/* Last part of a path; @at of a text of struct read_event. */
json_t *export_base(const struct export_row *x, size_t at);
/* Of the place of a flow. */
json_t *export_ip(const struct export_row *x, size_t at);
json_t *export_host(const struct export_row *x, size_t at);
json_t *export_port(const struct export_row *x, size_t at);
json_t *export_other_name(const struct export_row *x, size_t at);
json_t *export_address(const struct export_row *x, size_t at);
/* Of a process that ended. */
json_t *export_status(const struct export_row *x, size_t at);
/* The manager and the name of a package: "npm" of "npm:left-pad". */
json_t *export_manager(const struct export_row *x, size_t at);
json_t *export_package(const struct export_row *x, size_t at);

/** export_json_text: printable text as a JSON string. */
json_t *export_json_text(struct buf *text);

/** export_json_put: sets what a table says in an object; objects on the way are
 * made. */
void export_json_put(json_t *root, const struct export_row *x, const struct export_field *table);

/** export_json_write: appends a document in one line, without a newline, and
 * gives it up. */
void export_json_write(struct buf *out, json_t *document);

#endif
