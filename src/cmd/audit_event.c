#include "cmd/audit_event.h"

#include "base/own.h"
#include "base/text.h"
#include "cmd/audit_used.h"
#include "cmd/audit_words.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	size_t at; /* in struct read_event */
} numbers[] =
	{
		{"id", offsetof(struct read_event, id)},
		{"seq", offsetof(struct read_event, seq)},
		{"time_us", offsetof(struct read_event, time_us)},
		{"took_us", offsetof(struct read_event, took_us)},
		{"rule_line", offsetof(struct read_event, rule_line)},
		{"flags", offsetof(struct read_event, flags)},
},
  short_numbers[] =
	  {
		  {"pid", offsetof(struct read_event, pid)},
		  {"tid", offsetof(struct read_event, tid)},
		  {"ppid", offsetof(struct read_event, ppid)},
		  {"uid", offsetof(struct read_event, uid)},
},
  texts[] = {
	  {"session", offsetof(struct read_event, session)},
	  {"kind", offsetof(struct read_event, kind)},
	  {"program", offsetof(struct read_event, program)},
	  {"syscall", offsetof(struct read_event, syscall)},
	  {"class", offsetof(struct read_event, class)},
	  {"object", offsetof(struct read_event, object)},
	  {"object2", offsetof(struct read_event, object2)},
	  {"answer", offsetof(struct read_event, answer)},
	  {"judge", offsetof(struct read_event, judge)},
	  {"rule_file", offsetof(struct read_event, rule_file)},
	  {"rule_text", offsetof(struct read_event, rule_text)},
	  {"cwd", offsetof(struct read_event, cwd)},
	  {"argv", offsetof(struct read_event, argv)},
	  {"stack", offsetof(struct read_event, stack)},
	  {"sha256", offsetof(struct read_event, sha256)},
};
#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static unsigned long long number_at(const struct read_event *e, size_t at)
{
	uint64_t n;

	memcpy(&n, (const char *)e + at, sizeof n);
	return n;
}

static unsigned short_at(const struct read_event *e, size_t at)
{
	uint32_t n;

	memcpy(&n, (const char *)e + at, sizeof n);
	return n;
}

static struct rows_text text_at(const struct read_event *e, size_t at)
{
	struct rows_text t;

	memcpy(&t, (const char *)e + at, sizeof t);
	return t;
}

void audit_event_json(struct buf *out, const struct read_event *e, bool schema)
{
	struct audit_used used;

	if (schema)
		buf_fmt(out, "{\"schema\":%d,", AUDIT_EVENT_SCHEMA);
	else
		buf_chr(out, '{');
	for (size_t i = 0; i < COUNT(numbers); i++)
		buf_fmt(out, "\"%s\":%llu,", numbers[i].name, number_at(e, numbers[i].at));
	for (size_t i = 0; i < COUNT(short_numbers); i++)
		buf_fmt(out, "\"%s\":%u,", short_numbers[i].name, short_at(e, short_numbers[i].at));
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct rows_text t = text_at(e, texts[i].at);

		buf_fmt(out, "\"%s\":", texts[i].name);
		audit_json_text(out, &t);
		buf_chr(out, ',');
	}
	buf_fmt(out, "\"reason\":%lld,", (long long)e->reason);
	if (e->known)
		buf_fmt(out, "\"result\":%lld", (long long)e->result);
	else
		buf_str(out, "\"result\":null");
	if (e->has_size)
		buf_fmt(out, ",\"size_before\":%llu,\"links_left\":%llu",
		        (unsigned long long)e->size_before, (unsigned long long)e->links_left);
	else
		buf_str(out, ",\"size_before\":null,\"links_left\":null");
	audit_used_of(e, &used);
	audit_used_json(out, &used);
	buf_chr(out, '}');
}

void audit_event_csv_head(struct buf *out)
{
	for (size_t i = 0; i < COUNT(numbers); i++)
		buf_fmt(out, "%s,", numbers[i].name);
	for (size_t i = 0; i < COUNT(short_numbers); i++)
		buf_fmt(out, "%s,", short_numbers[i].name);
	for (size_t i = 0; i < COUNT(texts); i++)
		buf_fmt(out, "%s,", texts[i].name);
	buf_str(out, "reason,result,size_before,links_left\r\n");
}

static void put_cell(struct buf *out, const struct rows_text *t)
{
	auto_buf shown = BUF_INIT;
	const char *text;

	if (!t->len_bytes)
		return;
	text_printable(&shown, t->bytes, t->len_bytes, 0);
	text = buf_text(&shown);
	if (!text) {
		out->failed = true;
		return;
	}
	buf_chr(out, '"');
	if (strchr("=+-@", *text))
		buf_chr(out, '\'');
	for (; *text; text++) {
		if (*text == '"')
			buf_chr(out, '"');
		buf_chr(out, *text);
	}
	buf_chr(out, '"');
}

void audit_event_csv(struct buf *out, const struct read_event *e)
{
	for (size_t i = 0; i < COUNT(numbers); i++)
		buf_fmt(out, "%llu,", number_at(e, numbers[i].at));
	for (size_t i = 0; i < COUNT(short_numbers); i++)
		buf_fmt(out, "%u,", short_at(e, short_numbers[i].at));
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct rows_text t = text_at(e, texts[i].at);

		put_cell(out, &t);
		buf_chr(out, ',');
	}
	buf_fmt(out, "%lld,", (long long)e->reason);
	if (e->known)
		buf_fmt(out, "%lld", (long long)e->result);
	buf_chr(out, ',');
	if (e->has_size)
		buf_fmt(out, "%llu", (unsigned long long)e->size_before);
	buf_chr(out, ',');
	if (e->has_size)
		buf_fmt(out, "%llu", (unsigned long long)e->links_left);
	buf_str(out, "\r\n");
}
