/* Elastic Common Schema: which category and type an event of the record is of,
 * and which field comes from where.  Fields that ECS has no name for are below
 * "wary". */
#include "base/own.h"
#include "base/text.h"
#include "cmd/export_formats.h"
#include "cmd/export_json.h"

#include <string.h>
#include <time.h>

static json_t *schema_version(const struct export_row *x, size_t at)
{
	(void)x;
	(void)at;
	return export_made(json_string(EXPORT_ECS_VERSION));
}

static json_t *dataset(const struct export_row *x, size_t at)
{
	(void)x;
	(void)at;
	return export_made(json_string("wary.audit"));
}

static json_t *linux_name(const struct export_row *x, size_t at)
{
	(void)x;
	(void)at;
	return export_made(json_string("linux"));
}

static json_t *event_kind(const struct export_row *x, size_t at)
{
	(void)x;
	(void)at;
	return export_made(json_string("event"));
}

static json_t *timestamp(const struct export_row *x, size_t at)
{
	time_t seconds = (time_t)(x->e->time_us / 1000000);
	struct tm tm = {0};

	(void)at;
	gmtime_r(&seconds, &tm);
	return export_made(json_sprintf("%04d-%02d-%02dT%02d:%02d:%02d.%06uZ", tm.tm_year + 1900,
	                                tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
	                                (unsigned)(x->e->time_us % 1000000)));
}

static json_t *duration_ns(const struct export_row *x, size_t at)
{
	(void)at;
	return export_made(json_integer((json_int_t)x->e->took_us * 1000));
}

static json_t *outcome(const struct export_row *x, size_t at)
{
	static const char *const words[] = {
		[EXPORT_UNKNOWN] = "unknown",
		[EXPORT_DONE] = "success",
		[EXPORT_FAILED] = "failure",
	};

	(void)at;
	return export_made(json_string(words[x->outcome]));
}

static const struct export_field common[] = {
	{"@timestamp", timestamp, 0},
	{"ecs.version", schema_version, 0},
	{"message", export_message, 0},
	{"event.kind", event_kind, 0},
	{"event.module", export_name_wary, 0},
	{"event.dataset", dataset, 0},
	{"event.action", export_action, 0},
	{"event.outcome", outcome, 0},
	{"event.id", export_id_text, 0},
	EXPORT_EVENT("event.sequence", export_u64, seq),
	{"event.duration", duration_ns, 0},
	EXPORT_EVENT("event.code", export_text, syscall),
	{"error.code", export_error, 0},
	EXPORT_ORIGIN("host.hostname", host),
	{"host.os.type", linux_name, 0},
	EXPORT_ORIGIN("host.os.kernel", kernel),
	{"observer.vendor", export_name_wary, 0},
	{"observer.product", export_name_wary, 0},
	EXPORT_ORIGIN("observer.version", version),
	{"user.id", export_user_id, 0},
	{"user.name", export_user_name, 0},
	EXPORT_EVENT("process.pid", export_number_of, pid),
	EXPORT_EVENT("process.thread.id", export_number_of, tid),
	EXPORT_EVENT("process.parent.pid", export_number_of, ppid),
	EXPORT_EVENT("process.executable", export_text, program),
	EXPORT_EVENT("process.name", export_base, program),
	EXPORT_EVENT("process.command_line", export_run_text, argv),
	EXPORT_EVENT("process.working_directory", export_run_text, cwd),
	{"process.exit_code", export_status, 0},
	{"rule.name", export_rule, 0},
	EXPORT_EVENT("rule.description", export_text, rule_text),
	EXPORT_EVENT("rule.ruleset", export_text, rule_file),
	{"wary.session", export_session, 0},
	EXPORT_EVENT("wary.kind", export_text, kind),
	EXPORT_EVENT("wary.class", export_text, class),
	EXPORT_EVENT("wary.answer", export_text, answer),
	EXPORT_EVENT("wary.judge", export_text, judge),
	EXPORT_EVENT("wary.object", export_text, object),
	EXPORT_EVENT("wary.object2", export_text, object2),
	EXPORT_EVENT("wary.flags", export_u64, flags),
	{"wary.result", export_result, 0},
	EXPORT_EVENT("wary.reason", export_i64, reason),
	EXPORT_EVENT("wary.size_before", export_size, size_before),
	EXPORT_EVENT("wary.links_left", export_size, links_left),
	EXPORT_EVENT("wary.stack", export_text, stack),
	{NULL, NULL, 0}};

static const struct export_field file_fields[] = {EXPORT_EVENT("file.path", export_text, object),
                                                  EXPORT_EVENT("file.name", export_base, object),
                                                  {NULL, NULL, 0}};

static const struct export_field exec_fields[] = {
	EXPORT_EVENT("file.path", export_text, object),
	EXPORT_EVENT("file.name", export_base, object),
	EXPORT_EVENT("file.hash.sha256", export_text, sha256),
	{NULL, NULL, 0}};

static const struct export_field process_fields[] = {
	EXPORT_EVENT("process.hash.sha256", export_text, sha256),
	EXPORT_EVENT("wary.argv", export_words_text, argv),
	{NULL, NULL, 0}};

static const struct export_field flow_fields[] = {{"destination.address", export_address, 0},
                                                  {"destination.ip", export_ip, 0},
                                                  {"destination.domain", export_host, 0},
                                                  {"destination.port", export_port, 0},
                                                  {NULL, NULL, 0}};

static const struct export_field bind_fields[] = {{"source.address", export_address, 0},
                                                  {"source.ip", export_ip, 0},
                                                  {"source.port", export_port, 0},
                                                  {NULL, NULL, 0}};

static const struct export_field dns_fields[] = {
	EXPORT_EVENT("dns.question.name", export_text, object), {NULL, NULL, 0}};

static const struct export_field package_fields[] = {
	{"package.name", export_package, 0},
	{"package.type", export_manager, 0},
	EXPORT_EVENT("package.version", export_text, object2),
	EXPORT_EVENT("package.checksum", export_text, sha256),
	EXPORT_EVENT("package.path", export_words_text, cwd),
	EXPORT_EVENT("wary.argv", export_words_text, argv),
	{NULL, NULL, 0}};

static const struct export_field no_fields[] = {{NULL, NULL, 0}};

#define ANY (-1)
/* Types must be among those that ECS expects of one of the categories; "allowed"
 * or "denied" comes to those of decisions. The first that fits counts, the last
 * fits all. */
static const struct category {
	int kind, class, process;
	const char *names[2]; /* the second may be NULL */
	const char *type;
	const struct export_field *fields;
} categories[] = {
	{AUDIT_DECISION, CLASS_READ, ANY, {"file", "api"}, "access", file_fields},
	{AUDIT_DECISION, CLASS_WRITE, ANY, {"file", "api"}, "change", file_fields},
	{AUDIT_DECISION, CLASS_CREATE, ANY, {"file", "api"}, "creation", file_fields},
	{AUDIT_DECISION, CLASS_DELETE, ANY, {"file", "api"}, "deletion", file_fields},
	{AUDIT_DECISION, CLASS_ATTR, ANY, {"file", "api"}, "change", file_fields},
	{AUDIT_DECISION, CLASS_LINK, ANY, {"file", "api"}, "change", file_fields},
	{AUDIT_DECISION, CLASS_STAT, ANY, {"file", "api"}, "info", file_fields},
	{AUDIT_DECISION, CLASS_EXEC, ANY, {"process", "api"}, "start", exec_fields},
	{AUDIT_DECISION, CLASS_CONNECT, ANY, {"network", NULL}, "connection", flow_fields},
	{AUDIT_DECISION, CLASS_BIND, ANY, {"network", NULL}, "info", bind_fields},
	{AUDIT_DECISION, CLASS_RESOLVE, ANY, {"network", NULL}, "protocol", dns_fields},
	{AUDIT_DECISION, CLASS_INSTALL, ANY, {"package", "api"}, "installation", package_fields},
	{AUDIT_DECISION, CLASS_SCRIPT, ANY, {"package", "api"}, "start", package_fields},
	{AUDIT_DECISION, ANY, ANY, {"api", NULL}, "info", no_fields},
	{AUDIT_PROCESS, ANY, EXPORT_ENDED, {"process", NULL}, "end", process_fields},
	{AUDIT_PROCESS, ANY, ANY, {"process", NULL}, "start", process_fields},
	{AUDIT_PACKAGE, ANY, EXPORT_ENDED, {"package", NULL}, "deletion", package_fields},
	{AUDIT_PACKAGE, ANY, ANY, {"package", NULL}, "installation", package_fields},
	{AUDIT_SESSION, ANY, ANY, {"session", NULL}, "info", no_fields},
	{ANY, ANY, ANY, {"api", NULL}, "info", no_fields},
};

static const struct category *category_of(const struct export_row *x)
{
	const struct category *c = categories;

	while ((c->kind != ANY && c->kind != x->kind) ||
	       (c->class != ANY && c->class != x->class) ||
	       (c->process != ANY && c->process != (int)x->process))
		c++;
	return c;
}

static json_t *types_of(const struct export_row *x, const struct category *c)
{
	json_t *types = json_pack("[s]", c->type);

	if (types && x->kind == AUDIT_DECISION)
		json_array_append_new(types, json_string(x->refused ? "denied" : "allowed"));
	return types;
}

void export_ecs(struct buf *out, const struct export_row *x, bool again)
{
	const struct category *c = category_of(x);
	json_t *root = json_object();
	json_t *event;

	(void)again;
	export_json_put(root, x, common);
	export_json_put(root, x, c->fields);
	event = json_object_get(root, "event");
	invariant(json_object_set_new(event, "category",
	                              json_pack("[s, s*]", c->names[0], c->names[1])) == 0);
	invariant(json_object_set_new(event, "type", types_of(x, c)) == 0);
	export_json_write(out, root);
	buf_chr(out, '\n');
}
