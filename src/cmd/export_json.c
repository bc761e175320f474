#include "cmd/export_json.h"

#include "base/own.h"
#include "base/text.h"

#include <string.h>

#define NAME_MAX_BYTES 64

json_t *export_json_text(struct buf *text)
{
	const char *bytes = buf_text(text);

	invariant(bytes != NULL);
	return export_made(json_stringn(bytes, text->len_bytes));
}

static json_t *json_of_text(const struct export_row *x, const struct rows_text *t)
{
	auto_buf shown = BUF_INIT;

	if (!t->len_bytes)
		return NULL;
	export_row_text(&shown, x, t);
	return export_json_text(&shown);
}

static struct rows_text text_at(const struct export_row *x, size_t at)
{
	struct rows_text t;

	memcpy(&t, (const char *)x->e + at, sizeof t);
	return t;
}

static uint32_t u32_at(const struct export_row *x, size_t at)
{
	uint32_t n;

	memcpy(&n, (const char *)x->e + at, sizeof n);
	return n;
}

json_t *export_text(const struct export_row *x, size_t at)
{
	struct rows_text t = text_at(x, at);

	return json_of_text(x, &t);
}

/* Whether argv is no command line, but words KEY=VALUE. */
static bool has_words(const struct export_row *x)
{
	return x->kind == AUDIT_PACKAGE || (x->kind == AUDIT_PROCESS && x->process == EXPORT_ENDED);
}

json_t *export_run_text(const struct export_row *x, size_t at)
{
	return has_words(x) ? NULL : export_text(x, at);
}

json_t *export_words_text(const struct export_row *x, size_t at)
{
	return has_words(x) ? export_text(x, at) : NULL;
}

json_t *export_number_of(const struct export_row *x, size_t at)
{
	uint32_t n = u32_at(x, at);

	return n ? export_made(json_integer(n)) : NULL;
}

/* Rows of packages, and those of wary itself, do not say whose they are. */
static bool has_user(const struct export_row *x)
{
	return x->e->pid && x->kind != AUDIT_PACKAGE;
}

json_t *export_user_id(const struct export_row *x, size_t at)
{
	(void)at;
	return has_user(x) ? export_made(json_sprintf("%u", x->e->uid)) : NULL;
}

json_t *export_user_name(const struct export_row *x, size_t at)
{
	(void)at;
	if (!has_user(x) || x->e->uid != x->origin->uid)
		return NULL;
	return export_origin_text(x, offsetof(struct export_origin, user));
}

json_t *export_id_text(const struct export_row *x, size_t at)
{
	(void)at;
	return export_made(json_sprintf("%llu", (unsigned long long)x->e->id));
}

json_t *export_u64(const struct export_row *x, size_t at)
{
	uint64_t n;

	memcpy(&n, (const char *)x->e + at, sizeof n);
	return export_made(json_integer((json_int_t)n));
}

json_t *export_i64(const struct export_row *x, size_t at)
{
	return export_u64(x, at);
}

json_t *export_size(const struct export_row *x, size_t at)
{
	return x->e->has_size ? export_u64(x, at) : NULL;
}

json_t *export_origin_text(const struct export_row *x, size_t at)
{
	struct rows_text t;
	const char *text;

	memcpy(&text, (const char *)x->origin + at, sizeof text);
	t = (struct rows_text){text, strlen(text)};
	return json_of_text(x, &t);
}

json_t *export_number(const struct export_row *x, size_t value)
{
	(void)x;
	return export_made(json_integer((json_int_t)value));
}

json_t *export_name_wary(const struct export_row *x, size_t at)
{
	(void)x;
	(void)at;
	return export_made(json_string("wary"));
}

json_t *export_error(const struct export_row *x, size_t at)
{
	const char *name = NULL;

	(void)at;
	if (!x->e->known || x->e->result >= 0)
		return NULL;
	if (x->e->result > -4096)
		name = strerrorname_np((int)-x->e->result);
	return export_made(name ? json_string(name)
	                        : json_sprintf("%lld", (long long)-x->e->result));
}

json_t *export_result(const struct export_row *x, size_t at)
{
	(void)at;
	return x->e->known ? export_made(json_integer(x->e->result)) : NULL;
}

json_t *export_message(const struct export_row *x, size_t at)
{
	auto_buf text = BUF_INIT;

	(void)at;
	export_row_message(&text, x);
	return export_json_text(&text);
}

json_t *export_action(const struct export_row *x, size_t at)
{
	auto_buf text = BUF_INIT;

	(void)at;
	export_row_action(&text, x);
	return export_json_text(&text);
}

json_t *export_rule(const struct export_row *x, size_t at)
{
	auto_buf text = BUF_INIT;

	(void)at;
	if (!x->e->rule_file.len_bytes)
		return NULL;
	export_row_text(&text, x, &x->e->rule_file);
	if (x->e->rule_line)
		buf_fmt(&text, ":%llu", (unsigned long long)x->e->rule_line);
	return export_json_text(&text);
}

json_t *export_session(const struct export_row *x, size_t at)
{
	(void)at;
	return export_made(json_string(x->origin->session));
}

json_t *export_base(const struct export_row *x, size_t at)
{
	struct rows_text t = text_at(x, at);
	struct rows_text base = export_row_base(&t);

	return json_of_text(x, &base);
}

json_t *export_ip(const struct export_row *x, size_t at)
{
	(void)at;
	return *x->place.ip ? export_made(json_string(x->place.ip)) : NULL;
}

json_t *export_host(const struct export_row *x, size_t at)
{
	(void)at;
	return x->place.is_host ? json_of_text(x, &x->place.name) : NULL;
}

json_t *export_port(const struct export_row *x, size_t at)
{
	(void)at;
	return x->place.port < 0 ? NULL : export_made(json_integer(x->place.port));
}

json_t *export_other_name(const struct export_row *x, size_t at)
{
	(void)at;
	return x->place.is_host ? NULL : json_of_text(x, &x->place.name);
}

json_t *export_address(const struct export_row *x, size_t at)
{
	json_t *ip = export_ip(x, at);

	return ip ? ip : json_of_text(x, &x->place.name);
}

json_t *export_status(const struct export_row *x, size_t at)
{
	int status = export_row_status(x);

	(void)at;
	if (x->kind != AUDIT_PROCESS || x->process != EXPORT_ENDED || status < 0)
		return NULL;
	return export_made(json_integer(status));
}

/* The colon between manager and name, or NULL. */
static const char *colon_of(const struct read_event *e)
{
	return e->object.len_bytes ? memchr(e->object.bytes, ':', e->object.len_bytes) : NULL;
}

json_t *export_manager(const struct export_row *x, size_t at)
{
	const char *colon = colon_of(x->e);
	struct rows_text t = x->e->object;

	(void)at;
	t.len_bytes = colon ? (size_t)(colon - t.bytes) : 0;
	return json_of_text(x, &t);
}

json_t *export_package(const struct export_row *x, size_t at)
{
	const char *colon = colon_of(x->e);
	struct rows_text t = x->e->object;

	(void)at;
	if (colon) {
		t.len_bytes -= (size_t)(colon + 1 - t.bytes);
		t.bytes = colon + 1;
	}
	return json_of_text(x, &t);
}

static void put(json_t *root, const char *path, json_t *value)
{
	const char *dot;

	while ((dot = strchr(path, '.'))) {
		char name[NAME_MAX_BYTES];
		json_t *below;

		invariant((size_t)(dot - path) < sizeof name);
		memcpy(name, path, (size_t)(dot - path));
		name[dot - path] = '\0';
		below = json_object_get(root, name);
		if (!below) {
			below = export_made(json_object());
			invariant(json_object_set_new(root, name, below) == 0);
		}
		root = below;
		path = dot + 1;
	}
	invariant(json_object_set_new(root, path, value) == 0);
}

void export_json_put(json_t *root, const struct export_row *x, const struct export_field *table)
{
	for (; table->path; table++) {
		json_t *value = table->make(x, table->at);

		if (value)
			put(root, table->path, value);
	}
}

static int add(const char *bytes, size_t len_bytes, void *out)
{
	buf_add(out, bytes, len_bytes);
	return 0;
}

void export_json_write(struct buf *out, json_t *document)
{
	invariant(json_dump_callback(document, add, out, JSON_COMPACT) == 0);
	json_decref(document);
}
