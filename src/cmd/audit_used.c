#include "cmd/audit_used.h"

#include "base/text.h"
#include "cmd/audit_words.h"

#include <string.h>

/* Numbers are wary's own, but the store may have been changed. */
static uint64_t number_of(const char *text, size_t len_bytes)
{
	char digits[24];
	unsigned long long n = 0;

	if (len_bytes >= sizeof digits)
		return 0;
	memcpy(digits, text, len_bytes);
	digits[len_bytes] = '\0';
	return text_number(digits, INT64_MAX, &n) == 0 ? n : 0;
}

static void take_word(struct audit_used *u, const char *word, size_t len_bytes)
{
	const char *value = memchr(word, '=', len_bytes);
	size_t key = value ? (size_t)(value - word) : 0;
	size_t rest = value ? len_bytes - key - 1 : 0;

	if (!value++)
		return;
	if (key == strlen("user-ms") && memcmp(word, "user-ms", key) == 0) {
		u->user_ms = number_of(value, rest);
		u->timed = true;
	} else if (key == strlen("system-ms") && memcmp(word, "system-ms", key) == 0) {
		u->system_ms = number_of(value, rest);
	} else if (key == strlen("peak-kib") && memcmp(word, "peak-kib", key) == 0) {
		u->peak_kib = number_of(value, rest);
	} else if (key == strlen("times") && memcmp(word, "times", key) == 0) {
		u->is_final = rest == strlen("final") && memcmp(value, "final", rest) == 0;
	}
}

/* None of its words needs quoting: blanks stand between them alone. */
void audit_used_of(const struct read_event *e, struct audit_used *out)
{
	const char *at = e->argv.bytes;
	size_t left = e->argv.len_bytes;

	*out = (struct audit_used){.timed = false};
	if (!audit_is_word(&e->kind, "process") || audit_is_word(&e->object2, "started"))
		return;
	while (left) {
		const char *blank = memchr(at, ' ', left);
		size_t len = blank ? (size_t)(blank - at) : left;

		take_word(out, at, len);
		at += len + (blank ? 1 : 0);
		left -= len + (blank ? 1 : 0);
	}
}

void audit_used_put_time(struct buf *out, const struct audit_used *u)
{
	uint64_t ms = u->user_ms + u->system_ms;

	if (!u->timed)
		return;
	buf_fmt(out, "%llu.%02llus%s", (unsigned long long)(ms / 1000),
	        (unsigned long long)(ms % 1000 / 10), u->is_final ? "" : "+");
}

void audit_used_put_peak(struct buf *out, const struct audit_used *u)
{
	if (!u->peak_kib)
		return;
	text_thousands(out, (u->peak_kib + 1023) / 1024);
	buf_str(out, " MiB+");
}

void audit_used_json(struct buf *out, const struct audit_used *u)
{
	if (u->timed)
		buf_fmt(out, ",\"user_ms\":%llu,\"system_ms\":%llu,\"times\":\"%s\"",
		        (unsigned long long)u->user_ms, (unsigned long long)u->system_ms,
		        u->is_final ? "final" : "seen");
	if (u->peak_kib)
		buf_fmt(out, ",\"peak_kib\":%llu", (unsigned long long)u->peak_kib);
}
