/* Common Event Format, version 0: a header of seven parts, and pairs of key and
 * value.  Keys are those of its dictionary, with its bounds. */
#include "base/own.h"
#include "base/text.h"
#include "cmd/export_formats.h"

#include <string.h>

#define SHORT_MAX_BYTES 63
#define TEXT_MAX_BYTES 1023
#define LONG_MAX_BYTES 4000
#define HOST_MAX_BYTES 100
#define HASH_MAX_BYTES 255

struct field {
	const char *key;
	const char *label; /* of a key that has no meaning of its own, or NULL */
	size_t max_bytes;
	/* Appends the value, printable; nothing: the row has none. */
	void (*put)(struct buf *out, const struct export_row *x, size_t at);
	size_t at;
};

static void put_text(struct buf *out, const struct export_row *x, size_t at)
{
	struct rows_text t;

	memcpy(&t, (const char *)x->e + at, sizeof t);
	export_row_text(out, x, &t);
}

static void put_number(struct buf *out, const struct export_row *x, size_t at)
{
	uint32_t n;

	memcpy(&n, (const char *)x->e + at, sizeof n);
	if (n)
		buf_fmt(out, "%u", n);
}

static void put_long(struct buf *out, const struct export_row *x, size_t at)
{
	uint64_t n;

	memcpy(&n, (const char *)x->e + at, sizeof n);
	buf_fmt(out, "%llu", (unsigned long long)n);
}

static void put_origin(struct buf *out, const struct export_row *x, size_t at)
{
	struct rows_text t;

	memcpy(&t.bytes, (const char *)x->origin + at, sizeof t.bytes);
	t.len_bytes = strlen(t.bytes);
	export_row_text(out, x, &t);
}

static void put_session(struct buf *out, const struct export_row *x, size_t at)
{
	(void)at;
	buf_str(out, x->origin->session);
}

static void put_time_ms(struct buf *out, const struct export_row *x, size_t at)
{
	(void)at;
	buf_fmt(out, "%llu", (unsigned long long)x->e->time_us / 1000);
}

static void put_user_id(struct buf *out, const struct export_row *x, size_t at)
{
	(void)at;
	/* Rows of packages, and those of wary itself, do not say whose they are. */
	if (x->e->pid && x->kind != AUDIT_PACKAGE)
		buf_fmt(out, "%u", x->e->uid);
}

static void put_outcome(struct buf *out, const struct export_row *x, size_t at)
{
	static const char *const words[] = {
		[EXPORT_UNKNOWN] = "unknown",
		[EXPORT_DONE] = "success",
		[EXPORT_FAILED] = "failure",
	};

	(void)at;
	buf_str(out, words[x->outcome]);
}

static void put_result(struct buf *out, const struct export_row *x, size_t at)
{
	(void)at;
	if (x->e->known)
		buf_fmt(out, "%lld", (long long)x->e->result);
}

/* CEF's integers have 32 bits. */
static void put_size(struct buf *out, const struct export_row *x, size_t at)
{
	(void)at;
	if (x->e->has_size && x->e->size_before <= INT32_MAX)
		buf_fmt(out, "%llu", (unsigned long long)x->e->size_before);
}

static void put_error(struct buf *out, const struct export_row *x, size_t at)
{
	const char *name = NULL;

	(void)at;
	if (x->e->known && x->e->result < 0 && x->e->result > -4096)
		name = strerrorname_np((int)-x->e->result);
	if (name)
		buf_str(out, name);
}

static void put_message(struct buf *out, const struct export_row *x, size_t at)
{
	(void)at;
	export_row_message(out, x);
}

static bool is_flow(const struct export_row *x, size_t class)
{
	return x->kind == AUDIT_DECISION && x->class == (int)class;
}

static void put_ipv4(struct buf *out, const struct export_row *x, size_t class)
{
	if (is_flow(x, class) && !strchr(x->place.ip, ':'))
		buf_str(out, x->place.ip);
}

static void put_ipv6(struct buf *out, const struct export_row *x, size_t class)
{
	if (is_flow(x, class) && strchr(x->place.ip, ':'))
		buf_str(out, x->place.ip);
}

static void put_host(struct buf *out, const struct export_row *x, size_t class)
{
	if (is_flow(x, class))
		export_row_text(out, x, &x->place.name);
}

static void put_port(struct buf *out, const struct export_row *x, size_t class)
{
	if (is_flow(x, class) && x->place.port >= 0)
		buf_fmt(out, "%d", x->place.port);
}

/* The path that a row is about: of a package where it lies. */
static struct rows_text path_of(const struct export_row *x)
{
	struct rows_text t = x->kind == AUDIT_PACKAGE ? x->e->cwd : x->e->object;

	return t.len_bytes && *t.bytes == '/' ? t : (struct rows_text){0};
}

static void put_file(struct buf *out, const struct export_row *x, size_t at)
{
	struct rows_text t = path_of(x);

	(void)at;
	export_row_text(out, x, &t);
}

static void put_file_name(struct buf *out, const struct export_row *x, size_t at)
{
	struct rows_text path = path_of(x);
	struct rows_text t = export_row_base(&path);

	(void)at;
	export_row_text(out, x, &t);
}

#define EVENT(member) offsetof(struct read_event, member)
#define ORIGIN(member) offsetof(struct export_origin, member)
static const struct field fields[] = {
	{"rt", NULL, SHORT_MAX_BYTES, put_time_ms, 0},
	{"dvchost", NULL, HOST_MAX_BYTES, put_origin, ORIGIN(host)},
	{"externalId", NULL, SHORT_MAX_BYTES, put_long, EVENT(id)},
	{"cat", NULL, TEXT_MAX_BYTES, put_text, EVENT(kind)},
	{"act", NULL, SHORT_MAX_BYTES, put_text, EVENT(answer)},
	{"outcome", NULL, SHORT_MAX_BYTES, put_outcome, 0},
	{"reason", NULL, TEXT_MAX_BYTES, put_error, 0},
	{"msg", NULL, TEXT_MAX_BYTES, put_message, 0},
	{"sproc", NULL, TEXT_MAX_BYTES, put_text, EVENT(program)},
	{"spid", NULL, SHORT_MAX_BYTES, put_number, EVENT(pid)},
	{"suid", NULL, TEXT_MAX_BYTES, put_user_id, 0},
	{"fname", NULL, TEXT_MAX_BYTES, put_file_name, 0},
	{"filePath", NULL, TEXT_MAX_BYTES, put_file, 0},
	{"oldFileSize", NULL, SHORT_MAX_BYTES, put_size, 0},
	{"fileHash", NULL, HASH_MAX_BYTES, put_text, EVENT(sha256)},
	{"dst", NULL, SHORT_MAX_BYTES, put_ipv4, CLASS_CONNECT},
	{"c6a3", "Destination IPv6 Address", SHORT_MAX_BYTES, put_ipv6, CLASS_CONNECT},
	{"dhost", NULL, TEXT_MAX_BYTES, put_host, CLASS_CONNECT},
	{"dpt", NULL, SHORT_MAX_BYTES, put_port, CLASS_CONNECT},
	{"src", NULL, SHORT_MAX_BYTES, put_ipv4, CLASS_BIND},
	{"c6a2", "Source IPv6 Address", SHORT_MAX_BYTES, put_ipv6, CLASS_BIND},
	{"shost", NULL, TEXT_MAX_BYTES, put_host, CLASS_BIND},
	{"spt", NULL, SHORT_MAX_BYTES, put_port, CLASS_BIND},
	{"cs1", "rule", LONG_MAX_BYTES, put_text, EVENT(rule_text)},
	{"cs2", "session", LONG_MAX_BYTES, put_session, 0},
	{"cs3", "syscall", LONG_MAX_BYTES, put_text, EVENT(syscall)},
	{"cs4", "argv", LONG_MAX_BYTES, put_text, EVENT(argv)},
	{"cs5", "object", LONG_MAX_BYTES, put_text, EVENT(object)},
	{"cs6", "object2", LONG_MAX_BYTES, put_text, EVENT(object2)},
	{"cn1", "seq", SHORT_MAX_BYTES, put_long, EVENT(seq)},
	{"cn2", "result", SHORT_MAX_BYTES, put_result, 0},
	{"cn3", "parent process", SHORT_MAX_BYTES, put_number, EVENT(ppid)},
	{"flexString1", "rule file", TEXT_MAX_BYTES, put_text, EVENT(rule_file)},
	{"flexString2", "judge", TEXT_MAX_BYTES, put_text, EVENT(judge)},
};

/* With a backslash before what has a meaning there. Printable text has no line
 * ends. */
static void put_escaped(struct buf *out, struct buf *text, const char *meaning)
{
	const char *c = buf_text(text);

	invariant(c != NULL);
	for (; *c; c++) {
		if (strchr(meaning, *c))
			buf_chr(out, '\\');
		buf_chr(out, *c);
	}
	buf_reset(text);
}

#define IN_HEADER "\\|"
#define IN_VALUE "\\="

/* The value, in no more bytes than its key allows: cut shorter until it fits. */
static void make_value(struct buf *value, const struct export_row *x, const struct field *f)
{
	struct export_row shorter = *x;

	f->put(value, x, f->at);
	for (size_t max = f->max_bytes; value->len_bytes > f->max_bytes && max; max /= 2) {
		buf_reset(value);
		shorter.cut_chars = max;
		f->put(value, &shorter, f->at);
	}
}

static void put_field(struct buf *out, const struct export_row *x, const struct field *f)
{
	auto_buf value = BUF_INIT;

	make_value(&value, x, f);
	if (!value.len_bytes)
		return;
	if (f->label)
		buf_fmt(out, " %sLabel=%s", f->key, f->label);
	buf_fmt(out, " %s=", f->key);
	put_escaped(out, &value, IN_VALUE);
}

static void put_header(struct buf *out, const struct export_row *x)
{
	static const unsigned severities[] = {1, 6, 9};
	auto_buf part = BUF_INIT;

	buf_str(out, "CEF:" EXPORT_CEF_VERSION "|wary|wary|");
	put_origin(&part, x, ORIGIN(version));
	put_escaped(out, &part, IN_HEADER);
	buf_chr(out, '|');
	export_row_text(&part, x, &x->e->kind);
	buf_chr(&part, ':');
	export_row_text(&part, x, &x->e->class);
	put_escaped(out, &part, IN_HEADER);
	buf_chr(out, '|');
	export_row_text(&part, x, &x->e->answer);
	buf_chr(&part, ' ');
	export_row_action(&part, x);
	put_escaped(out, &part, IN_HEADER);
	buf_fmt(out, "|%u|", severities[export_row_severity(x)]);
}

void export_cef(struct buf *out, const struct export_row *x, bool again)
{
	size_t begin;

	(void)again;
	put_header(out, x);
	begin = out->len_bytes;
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		put_field(out, x, &fields[i]);
	/* The blank before the first pair. */
	if (!out->failed && out->len_bytes > begin) {
		memmove(out->data + begin, out->data + begin + 1, out->len_bytes - begin);
		out->len_bytes--;
	}
	buf_chr(out, '\n');
}
