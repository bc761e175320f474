/* Open Cybersecurity Schema Framework: which class an event of the record is,
 * and which attribute comes from where.  https://schema.ocsf.io/1.6.0 */
#include "base/own.h"
#include "cmd/export_formats.h"
#include "cmd/export_json.h"

#include <stddef.h>
#include <string.h>

enum severity_id { SEVERITY_INFORMATIONAL = 1, SEVERITY_MEDIUM = 3, SEVERITY_HIGH = 4 };
enum status_id { STATUS_UNKNOWN, STATUS_SUCCESS, STATUS_FAILURE };
enum action_id { ACTION_UNKNOWN, ACTION_ALLOWED, ACTION_DENIED, ACTION_OBSERVED };
enum disposition_id {
	DISPOSITION_UNKNOWN,
	DISPOSITION_ALLOWED,
	DISPOSITION_BLOCKED,
	DISPOSITION_LOGGED = 17
};
enum activity_id { ACTIVITY_FAIL = 4, ACTIVITY_REFUSE = 5, ACTIVITY_OTHER = 99 };
#define FILE_UNKNOWN 0
#define FILE_REGULAR 1
#define KERNEL_SYSTEM_CALL 2
#define OS_LINUX 200
#define ALGORITHM_SHA256 3

static json_t *linux_name(const struct export_row *x, size_t at)
{
	(void)x;
	(void)at;
	return export_made(json_string("Linux"));
}

static json_t *profiles(const struct export_row *x, size_t at)
{
	(void)x;
	(void)at;
	return export_made(json_pack("[ss]", "host", "security_control"));
}

static json_t *schema_version(const struct export_row *x, size_t at)
{
	(void)x;
	(void)at;
	return export_made(json_string(EXPORT_OCSF_VERSION));
}

static json_t *log_name(const struct export_row *x, size_t at)
{
	(void)x;
	(void)at;
	return export_made(json_string("wary audit"));
}

/* Milliseconds. */
static json_t *time_ms(const struct export_row *x, size_t at)
{
	uint64_t us;

	memcpy(&us, (const char *)x->e + at, sizeof us);
	return export_made(json_integer((json_int_t)(us / 1000)));
}

static json_t *severity(const struct export_row *x, size_t at)
{
	static const int ids[] = {SEVERITY_INFORMATIONAL, SEVERITY_MEDIUM, SEVERITY_HIGH};

	(void)at;
	return export_made(json_integer(ids[export_row_severity(x)]));
}

static json_t *status(const struct export_row *x, size_t at)
{
	static const int ids[] = {
		[EXPORT_UNKNOWN] = STATUS_UNKNOWN,
		[EXPORT_DONE] = STATUS_SUCCESS,
		[EXPORT_FAILED] = STATUS_FAILURE,
	};

	(void)at;
	return export_made(json_integer(ids[x->outcome]));
}

/* Nothing is decided about the life of a process that is there. */
static json_t *action(const struct export_row *x, size_t at)
{
	(void)at;
	if (x->kind == AUDIT_PROCESS)
		return export_made(json_integer(ACTION_OBSERVED));
	return export_made(json_integer(x->refused ? ACTION_DENIED : ACTION_ALLOWED));
}

static json_t *disposition(const struct export_row *x, size_t at)
{
	(void)at;
	if (x->kind == AUDIT_PROCESS)
		return export_made(json_integer(DISPOSITION_LOGGED));
	return export_made(json_integer(x->refused ? DISPOSITION_BLOCKED : DISPOSITION_ALLOWED));
}

static json_t *hashes(const struct export_row *x, size_t at)
{
	json_t *value = x->e->object.len_bytes ? export_text(x, at) : NULL;

	if (!value)
		return NULL;
	return export_made(json_pack("[{s:s, s:i, s:o}]", "algorithm", "SHA-256", "algorithm_id",
	                             ALGORITHM_SHA256, "value", value));
}

/* A file must have a name: what has no path is not without one. */
static json_t *file_name(const struct export_row *x, size_t at)
{
	json_t *name = export_base(x, at);

	return name ? name : export_made(json_string("unknown"));
}

static json_t *app_name(const struct export_row *x, size_t at)
{
	json_t *name = export_package(x, at);

	return name ? name : export_made(json_string("unknown"));
}

static json_t *file_of(const struct export_row *x, size_t at, int type_id)
{
	json_t *path = export_text(x, at);

	if (!path)
		return NULL;
	return export_made(json_pack("{s:o, s:o, s:i}", "name", file_name(x, at), "path", path,
	                             "type_id", type_id));
}

static json_t *second_file(const struct export_row *x, size_t at)
{
	return file_of(x, at, FILE_UNKNOWN);
}

static json_t *program_file(const struct export_row *x, size_t at)
{
	return file_of(x, at, FILE_REGULAR);
}

/* A device must be told by something; and a question comes from this machine. */
static json_t *this_host(const struct export_row *x, size_t at)
{
	json_t *name = export_origin_text(x, offsetof(struct export_origin, host));

	(void)at;
	return name ? name : export_made(json_string("localhost"));
}

/* A process must be told by something. @at: of its number. */
static json_t *no_number(const struct export_row *x, size_t at)
{
	uint32_t n;

	memcpy(&n, (const char *)x->e + at, sizeof n);
	return n ? NULL : export_made(json_string("unknown"));
}

/* A thread of a process that is known. */
static json_t *thread_of(const struct export_row *x, size_t at)
{
	return x->e->pid ? export_number_of(x, at) : NULL;
}

/* A policy must have a name: where none is known, who decided. */
static json_t *policy_name(const struct export_row *x, size_t at)
{
	if (x->e->rule_file.len_bytes || !x->e->rule_text.len_bytes)
		return export_rule(x, at);
	return export_text(x, offsetof(struct read_event, judge));
}

static const struct export_field common[] = {
	EXPORT_EVENT("time", time_ms, time_us),
	EXPORT_EVENT("duration", time_ms, took_us),
	{"severity_id", severity, 0},
	{"status_id", status, 0},
	{"status_code", export_error, 0},
	{"action_id", action, 0},
	{"disposition_id", disposition, 0},
	{"message", export_message, 0},
	{"metadata.version", schema_version, 0},
	{"metadata.product.name", export_name_wary, 0},
	{"metadata.product.vendor_name", export_name_wary, 0},
	EXPORT_ORIGIN("metadata.product.version", version),
	{"metadata.profiles", profiles, 0},
	{"metadata.log_name", log_name, 0},
	{"metadata.uid", export_id_text, 0},
	EXPORT_EVENT("metadata.sequence", export_u64, seq),
	{"metadata.correlation_uid", export_session, 0},
	EXPORT_EVENT("metadata.event_code", export_text, kind),
	{"device.hostname", this_host, 0},
	{"device.type_id", export_number, 0},
	{"device.os.name", linux_name, 0},
	{"device.os.type_id", export_number, OS_LINUX},
	EXPORT_ORIGIN("device.os.kernel_release", kernel),
	{"actor.user.uid", export_user_id, 0},
	{"actor.user.name", export_user_name, 0},
	{"policy.name", policy_name, 0},
	EXPORT_EVENT("policy.desc", export_text, rule_text),
	EXPORT_EVENT("unmapped.kind", export_text, kind),
	EXPORT_EVENT("unmapped.class", export_text, class),
	EXPORT_EVENT("unmapped.object", export_text, object),
	EXPORT_EVENT("unmapped.object2", export_text, object2),
	EXPORT_EVENT("unmapped.answer", export_text, answer),
	EXPORT_EVENT("unmapped.judge", export_text, judge),
	EXPORT_EVENT("unmapped.syscall", export_text, syscall),
	EXPORT_EVENT("unmapped.flags", export_u64, flags),
	{"unmapped.result", export_result, 0},
	EXPORT_EVENT("unmapped.reason", export_i64, reason),
	EXPORT_EVENT("unmapped.size_before", export_size, size_before),
	EXPORT_EVENT("unmapped.links_left", export_size, links_left),
	EXPORT_EVENT("unmapped.stack", export_text, stack),
	{NULL, NULL, 0}};

/* Who acts: for all but the start and end of a process, where it is the
 * parent. */
static const struct export_field acting[] = {
	EXPORT_EVENT("actor.process.pid", export_number_of, pid),
	EXPORT_EVENT("actor.process.uid", no_number, pid),
	EXPORT_EVENT("actor.process.ptid", thread_of, tid),
	EXPORT_EVENT("actor.process.name", export_base, program),
	EXPORT_EVENT("actor.process.file", program_file, program),
	EXPORT_EVENT("actor.process.parent_process.pid", export_number_of, ppid),
	{NULL, NULL, 0}};

static const struct export_field file_fields[] = {EXPORT_EVENT("file.name", file_name, object),
                                                  EXPORT_EVENT("file.path", export_text, object),
                                                  {"file.type_id", export_number, 0},
                                                  EXPORT_EVENT("file_result", second_file, object2),
                                                  {NULL, NULL, 0}};

static const struct export_field exec_fields[] = {
	EXPORT_EVENT("process.pid", export_number_of, pid),
	EXPORT_EVENT("process.uid", no_number, pid),
	EXPORT_EVENT("process.name", export_base, object),
	EXPORT_EVENT("process.file", program_file, object),
	EXPORT_EVENT("process.file.hashes", hashes, sha256),
	EXPORT_EVENT("process.cmd_line", export_text, argv),
	EXPORT_EVENT("process.working_directory", export_text, cwd),
	{"process.user.uid", export_user_id, 0},
	{NULL, NULL, 0}};

static const struct export_field process_fields[] = {
	EXPORT_EVENT("actor.process.pid", export_number_of, ppid),
	EXPORT_EVENT("actor.process.uid", no_number, ppid),
	EXPORT_EVENT("process.pid", export_number_of, pid),
	EXPORT_EVENT("process.uid", no_number, pid),
	EXPORT_EVENT("process.name", export_base, program),
	EXPORT_EVENT("process.file", program_file, program),
	EXPORT_EVENT("process.cmd_line", export_run_text, argv),
	EXPORT_EVENT("process.working_directory", export_text, cwd),
	EXPORT_EVENT("process.parent_process.pid", export_number_of, ppid),
	{"process.user.uid", export_user_id, 0},
	{"exit_code", export_status, 0},
	EXPORT_EVENT("unmapped.argv", export_words_text, argv),
	{NULL, NULL, 0}};

/* An end must be told by something. */
static json_t *end_name(const struct export_row *x, size_t at)
{
	json_t *name = export_other_name(x, at);

	return name || x->e->object.len_bytes ? name : export_made(json_string("unknown"));
}

static const struct export_field flow_fields[] = {{"dst_endpoint.ip", export_ip, 0},
                                                  {"dst_endpoint.hostname", export_host, 0},
                                                  {"dst_endpoint.name", end_name, 0},
                                                  {"dst_endpoint.port", export_port, 0},
                                                  {NULL, NULL, 0}};

/* What is listened on is the near end. */
static const struct export_field listen_fields[] = {{"src_endpoint.ip", export_ip, 0},
                                                    {"src_endpoint.hostname", export_host, 0},
                                                    {"src_endpoint.name", end_name, 0},
                                                    {"src_endpoint.port", export_port, 0},
                                                    {NULL, NULL, 0}};

static const struct export_field dns_fields[] = {{"query.hostname", export_host, 0},
                                                 {"src_endpoint.hostname", this_host, 0},
                                                 {NULL, NULL, 0}};

static const struct export_field app_fields[] = {{"app.name", app_name, 0},
                                                 EXPORT_EVENT("app.version", export_text, object2),
                                                 {"app.vendor_name", export_manager, 0},
                                                 {NULL, NULL, 0}};

static const struct export_field kernel_fields[] = {
	EXPORT_EVENT("kernel.name", file_name, syscall),
	{"kernel.type_id", export_number, KERNEL_SYSTEM_CALL},
	{NULL, NULL, 0}};

static const struct export_field no_fields[] = {{NULL, NULL, 0}};

#define ANY (-1)
/* The first that fits counts; the last fits all. */
static const struct class
{
	int kind, class;
	int process; /* enum export_process */
	unsigned category_uid, class_uid, activity_id;
	const char *activity_name;
	const struct export_field *fields;
} classes[] = {
	{AUDIT_DECISION, CLASS_READ, ANY, 1, 1001, 2, "Read", file_fields},
	{AUDIT_DECISION, CLASS_WRITE, ANY, 1, 1001, 3, "Update", file_fields},
	{AUDIT_DECISION, CLASS_CREATE, ANY, 1, 1001, 1, "Create", file_fields},
	{AUDIT_DECISION, CLASS_DELETE, ANY, 1, 1001, 4, "Delete", file_fields},
	{AUDIT_DECISION, CLASS_ATTR, ANY, 1, 1001, 6, "Set Attributes", file_fields},
	{AUDIT_DECISION, CLASS_LINK, ANY, 1, 1001, ACTIVITY_OTHER, "Link", file_fields},
	{AUDIT_DECISION, CLASS_STAT, ANY, 1, 1001, 8, "Get Attributes", file_fields},
	{AUDIT_DECISION, CLASS_EXEC, ANY, 1, 1007, 1, "Launch", exec_fields},
	{AUDIT_DECISION, CLASS_CONNECT, ANY, 4, 4001, 1, "Open", flow_fields},
	{AUDIT_DECISION, CLASS_BIND, ANY, 4, 4001, 7, "Listen", listen_fields},
	{AUDIT_DECISION, CLASS_RESOLVE, ANY, 4, 4003, 1, "Query", dns_fields},
	{AUDIT_DECISION, CLASS_INSTALL, ANY, 6, 6002, 1, "Install", app_fields},
	{AUDIT_DECISION, CLASS_SCRIPT, ANY, 6, 6002, ACTIVITY_OTHER, "Install script", app_fields},
	{AUDIT_DECISION, CLASS_SYSCALL, ANY, 1, 1003, 4, "Invoke", kernel_fields},
	{AUDIT_PROCESS, ANY, EXPORT_STARTED, 1, 1007, 1, "Launch", process_fields},
	{AUDIT_PROCESS, ANY, EXPORT_FORKED, 1, 1007, ACTIVITY_OTHER, "Fork", process_fields},
	{AUDIT_PROCESS, ANY, EXPORT_ENDED, 1, 1007, 2, "Terminate", process_fields},
	{AUDIT_PACKAGE, ANY, EXPORT_ENDED, 6, 6002, 2, "Remove", app_fields},
	{AUDIT_PACKAGE, ANY, ANY, 6, 6002, 1, "Install", app_fields},
	{ANY, ANY, ANY, 0, 0, ACTIVITY_OTHER, NULL, no_fields},
};

static const struct class *class_of(const struct export_row *x)
{
	const struct class *c = classes;

	while ((c->kind != ANY && c->kind != x->kind) ||
	       (c->class != ANY && c->class != x->class) ||
	       (c->process != ANY && c->process != (int)x->process))
		c++;
	return c;
}

/* A flow that was opened, or was not. */
static struct class with_outcome(const struct export_row *x, const struct class *c)
{
	struct class out = *c;

	if (c->fields == flow_fields && x->outcome == EXPORT_FAILED) {
		out.activity_id = x->refused ? ACTIVITY_REFUSE : ACTIVITY_FAIL;
		out.activity_name = x->refused ? "Refuse" : "Fail";
	}
	return out;
}

void export_ocsf(struct buf *out, const struct export_row *x, bool again)
{
	const struct class c = with_outcome(x, class_of(x));
	json_t *name = c.activity_name ? json_string(c.activity_name) : export_action(x, 0);
	json_t *root =
		json_pack("{s:i, s:i, s:i, s:o, s:i}", "category_uid", c.category_uid, "class_uid",
	                  c.class_uid, "activity_id", c.activity_id, "activity_name", name,
	                  "type_uid", c.class_uid * 100 + c.activity_id);

	(void)again;
	invariant(root != NULL);
	export_json_put(root, x, common);
	if (c.fields != process_fields)
		export_json_put(root, x, acting);
	export_json_put(root, x, c.fields);
	export_json_write(out, root);
	buf_chr(out, '\n');
}
