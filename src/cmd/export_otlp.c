/* OpenTelemetry logs: rows as log records in the JSON of OTLP, whose integers
 * are texts.  Names of attributes are those of the semantic conventions where
 * they have one, else below "wary". */
#include "cmd/export_formats.h"
#include "cmd/export_json.h"

#include <string.h>

enum severity_number { SEVERITY_INFO = 9, SEVERITY_WARN = 13, SEVERITY_ERROR = 17 };

static const struct {
	enum severity_number number;
	const char *text;
} severities[] = {{SEVERITY_INFO, "INFO"}, {SEVERITY_WARN, "WARN"}, {SEVERITY_ERROR, "ERROR"}};

static json_t *linux_name(const struct export_row *x, size_t at)
{
	(void)x;
	(void)at;
	return export_made(json_string("linux"));
}

static json_t *session_uuid(const struct export_row *x, size_t at)
{
	(void)at;
	return export_made(json_string(x->origin->uuid));
}

static const struct export_field resource[] = {{"service.name", export_name_wary, 0},
                                               EXPORT_ORIGIN("service.version", version),
                                               {"service.instance.id", session_uuid, 0},
                                               EXPORT_ORIGIN("host.name", host),
                                               {"os.type", linux_name, 0},
                                               EXPORT_ORIGIN("os.version", kernel),
                                               {NULL, NULL, 0}};

static const struct export_field attributes[] = {
	{"wary.session", export_session, 0},
	EXPORT_EVENT("wary.id", export_u64, id),
	EXPORT_EVENT("wary.seq", export_u64, seq),
	EXPORT_EVENT("wary.kind", export_text, kind),
	EXPORT_EVENT("wary.class", export_text, class),
	EXPORT_EVENT("wary.answer", export_text, answer),
	EXPORT_EVENT("wary.judge", export_text, judge),
	{"wary.rule", export_rule, 0},
	EXPORT_EVENT("wary.rule_text", export_text, rule_text),
	EXPORT_EVENT("wary.syscall", export_text, syscall),
	EXPORT_EVENT("wary.object", export_text, object),
	EXPORT_EVENT("wary.object2", export_text, object2),
	EXPORT_EVENT("wary.flags", export_u64, flags),
	{"wary.result", export_result, 0},
	{"error.type", export_error, 0},
	EXPORT_EVENT("wary.reason", export_i64, reason),
	EXPORT_EVENT("wary.size_before", export_size, size_before),
	EXPORT_EVENT("wary.links_left", export_size, links_left),
	EXPORT_EVENT("wary.took_us", export_u64, took_us),
	EXPORT_EVENT("wary.sha256", export_text, sha256),
	EXPORT_EVENT("wary.stack", export_text, stack),
	EXPORT_EVENT("process.pid", export_number_of, pid),
	EXPORT_EVENT("process.parent_pid", export_number_of, ppid),
	EXPORT_EVENT("thread.id", export_number_of, tid),
	EXPORT_EVENT("process.executable.path", export_text, program),
	EXPORT_EVENT("process.executable.name", export_base, program),
	EXPORT_EVENT("process.command_line", export_run_text, argv),
	EXPORT_EVENT("process.working_directory", export_run_text, cwd),
	{"process.exit.code", export_status, 0},
	EXPORT_EVENT("wary.argv", export_words_text, argv),
	EXPORT_EVENT("wary.folder", export_words_text, cwd),
	{"user.id", export_user_id, 0},
	{"user.name", export_user_name, 0},
	{NULL, NULL, 0}};

static const struct export_field file_attributes[] = {
	EXPORT_EVENT("file.path", export_text, object),
	EXPORT_EVENT("file.name", export_base, object),
	{NULL, NULL, 0}};

static const struct export_field flow_attributes[] = {
	{"server.address", export_address, 0}, {"server.port", export_port, 0}, {NULL, NULL, 0}};

static const struct export_field dns_attributes[] = {
	EXPORT_EVENT("dns.question.name", export_text, object), {NULL, NULL, 0}};

static const struct export_field *const by_class[CLASS_COUNT] = {
	[CLASS_READ] = file_attributes,    [CLASS_WRITE] = file_attributes,
	[CLASS_CREATE] = file_attributes,  [CLASS_DELETE] = file_attributes,
	[CLASS_ATTR] = file_attributes,    [CLASS_LINK] = file_attributes,
	[CLASS_STAT] = file_attributes,    [CLASS_EXEC] = file_attributes,
	[CLASS_CONNECT] = flow_attributes, [CLASS_RESOLVE] = dns_attributes,
};

/* An AnyValue; takes the value over. */
static json_t *any_value(json_t *value)
{
	json_t *any;

	if (json_is_integer(value)) {
		any = json_pack("{s:o}", "intValue",
		                json_sprintf("%lld", (long long)json_integer_value(value)));
		json_decref(value);
	} else {
		any = json_pack("{s:o}", "stringValue", value);
	}
	return export_made(any);
}

static void put_attributes(json_t *list, const struct export_row *x,
                           const struct export_field *table)
{
	for (; table->path; table++) {
		json_t *value = table->make(x, table->at);

		if (value)
			invariant(json_array_append_new(list,
			                                json_pack("{s:s, s:o}", "key", table->path,
			                                          "value", any_value(value))) == 0);
	}
}

static json_t *time_ns(uint64_t us)
{
	return export_made(json_sprintf("%llu", (unsigned long long)us * 1000));
}

static json_t *event_name(const struct export_row *x)
{
	json_t *action = export_action(x, 0);
	json_t *name = export_made(json_sprintf("wary.%s", json_string_value(action)));

	json_decref(action);
	return name;
}

void export_otlp_open(struct buf *out, const struct export_row *first)
{
	json_t *of = export_made(json_array());
	json_t *scope;

	put_attributes(of, first, resource);
	buf_str(out, "{\"resourceLogs\":[{\"resource\":");
	export_json_write(out, export_made(json_pack("{s:o}", "attributes", of)));
	buf_str(out, ",\"schemaUrl\":\"" EXPORT_OTEL_SCHEMA_URL "\",\"scopeLogs\":[{\"scope\":");
	scope = json_pack("{s:s, s:s}", "name", "wary.audit", "version", PACKAGE_VERSION);
	export_json_write(out, export_made(scope));
	buf_str(out, ",\"schemaUrl\":\"" EXPORT_OTEL_SCHEMA_URL "\",\"logRecords\":[");
}

void export_otlp(struct buf *out, const struct export_row *x, bool again)
{
	unsigned severity = export_row_severity(x);
	json_t *list = export_made(json_array());
	json_t *record;

	put_attributes(list, x, attributes);
	if (x->kind == AUDIT_DECISION && x->class >= 0 && by_class[x->class])
		put_attributes(list, x, by_class[x->class]);
	record = json_pack("{s:o, s:o, s:i, s:s, s:o, s:o, s:o}", "timeUnixNano",
	                   time_ns(x->e->time_us), "observedTimeUnixNano",
	                   time_ns(x->e->time_us + x->e->took_us), "severityNumber",
	                   (int)severities[severity].number, "severityText",
	                   severities[severity].text, "eventName", event_name(x), "body",
	                   any_value(export_message(x, 0)), "attributes", list);
	if (again)
		buf_chr(out, ',');
	export_json_write(out, export_made(record));
}

void export_otlp_close(struct buf *out)
{
	buf_str(out, "]}]}]}\n");
}
