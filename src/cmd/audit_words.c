#include "cmd/audit_words.h"

#include "audit/keys.h"
#include "audit/record.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

struct store *audit_open(const char *db)
{
	auto_buf path = BUF_INIT;
	auto_free char *why = NULL;
	struct store *s = NULL;

	if (audit_store_path(db, &path) != 0 || !buf_text(&path))
		return NULL;
	if (store_open(path.data, STORE_READ, &s, &why) == 0)
		return s;
	log_error("%s", why ? why : "out of memory");
	return NULL;
}

struct store *audit_open_views(const char *db)
{
	struct store *s = audit_open(db);

	if (!s || store_own_views(s) == 0)
		return s;
	log_error("the record cannot be read: %s", store_why(s));
	store_close(s);
	return NULL;
}

static int complain(const char *what, const char *word, const char *more)
{
	auto_free char *shown = text_printable_str(word, 64);

	log_error("audit: %s \"%s\"%s", what, shown, more);
	return AUDIT_USAGE;
}

int audit_session_word(struct store *s, const char *word, uint64_t *id)
{
	int err = read_session_find(s, word, id);

	if (err == -ERR_NOTFOUND)
		return complain("there is no session", word, ": see wary audit sessions");
	if (err == -ERR_EXISTS)
		return complain("several sessions begin with", word, "");
	if (err)
		return complain("cannot look for session", word, "");
	return 0;
}

/* Words with commas between, each with its bit. */
static int bits_of(const char *words, int (*find)(const char *), const char *what, uint32_t *bits)
{
	auto_free char *copy = strdup(words);
	char *rest = copy;

	invariant(copy != NULL);
	for (char *word; (word = strsep(&rest, ","));) {
		int bit = find(word);

		if (bit < 0)
			return complain(what, word, "");
		*bits |= 1u << bit;
	}
	return 0;
}

int audit_verdict_word(const char *words, struct read_filter *f)
{
	if (strcmp(words, "refused") == 0) {
		f->refused = true;
		return 0;
	}
	return bits_of(words, record_answer_find, "unknown verdict", &f->answers);
}

int audit_class_word(const char *words, struct read_filter *f)
{
	return bits_of(words, record_class_find, "unknown class", &f->classes);
}

int audit_amount_word(const char *word, uint64_t max, const char *units, const uint64_t *factors,
                      uint64_t *out)
{
	size_t len = strlen(word);
	const char *unit = len ? strchr(units, word[len - 1]) : NULL;
	unsigned long long n = 0;
	char digits[16];

	if (!unit || len < 2 || len > sizeof digits)
		return -ERR_FORMAT;
	memcpy(digits, word, len - 1);
	digits[len - 1] = '\0';
	if (text_number(digits, max, &n) != 0)
		return -ERR_FORMAT;
	*out = n * factors[unit - units];
	return 0;
}

int audit_ago_word(const char *word, uint64_t *us)
{
	static const uint64_t seconds[] = {1, 60, 3600, 86400, 604800};
	uint64_t now_us = clock_wall_ns() / 1000;
	uint64_t span_s = 0;
	int err = audit_amount_word(word, 1000000000, "smhdw", seconds, &span_s);

	if (!err)
		*us = span_s < now_us / 1000000 ? now_us - span_s * 1000000 : 1;
	return err;
}

static bool since_at(const char *word, uint64_t *us)
{
	static const char *const formats[] = {
		"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
		"%Y-%m-%d",          "%H:%M:%S",          "%H:%M"};

	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
		time_t now = time(NULL);
		struct tm tm;
		const char *end;
		time_t t;

		localtime_r(&now, &tm);
		tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
		tm.tm_isdst = -1;
		end = strptime(word, formats[i], &tm);
		if (!end || *end)
			continue;
		t = mktime(&tm);
		if (t < 0)
			return false;
		*us = (uint64_t)t * 1000000;
		return true;
	}
	return false;
}

int audit_since_word(const char *word, struct read_filter *f)
{
	if (audit_ago_word(word, &f->since_us) == 0 || since_at(word, &f->since_us))
		return 0;
	return complain("no time", word, ": write 2d, 3h, 10m, 12:01 or 2026-11-29 12:01");
}

int audit_path_word(const char *word, struct buf *out, struct read_filter *f)
{
	const char *home = getenv("HOME");
	size_t end;

	if (*word == '~' && (!word[1] || word[1] == '/') && home) {
		buf_str(out, home);
		word++;
	} else if (*word != '/') {
		buf_str(out, "/**/");
	}
	buf_str(out, word);
	if (!buf_text(out))
		return AUDIT_USAGE;
	/* `P/` is P and all below it, as in a policy. */
	end = out->len_bytes;
	if (end > 1 && out->data[end - 1] == '/')
		buf_str(out, "**");
	f->path = buf_text(out);
	return f->path ? 0 : AUDIT_USAGE;
}

void audit_put_time(struct buf *out, uint64_t us, enum audit_time form)
{
	time_t t = (time_t)(us / 1000000);
	struct tm tm;

	localtime_r(&t, &tm);
	if (form != AUDIT_TIME_CLOCK)
		buf_fmt(out, "%04d-%02d-%02d ", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
	buf_fmt(out, "%02d:%02d", tm.tm_hour, tm.tm_min);
	if (form != AUDIT_TIME_MINUTE)
		buf_fmt(out, ":%02d.%03u", tm.tm_sec, (unsigned)(us / 1000 % 1000));
}

void audit_put_span(struct buf *out, uint64_t us)
{
	uint64_t s = us / 1000000;

	if (us < 100000)
		buf_fmt(out, "%llu ms", (unsigned long long)us / 1000);
	else if (s < 100)
		buf_fmt(out, "%.1f s", (double)us / 1e6);
	else if (s < 6000)
		buf_fmt(out, "%llu m", (unsigned long long)s / 60);
	else if (s < 100 * 3600)
		buf_fmt(out, "%llu h", (unsigned long long)s / 3600);
	else
		buf_fmt(out, "%llu d", (unsigned long long)s / 86400);
}

void audit_put_text(struct buf *out, const struct rows_text *t)
{
	if (t->bytes)
		text_printable(out, t->bytes, t->len_bytes, 0);
}

void audit_put_path(struct buf *out, const struct rows_text *t)
{
	const char *home = getenv("HOME");
	size_t len = home ? strlen(home) : 0;
	struct rows_text rest = *t;

	if (len > 1 && t->len_bytes >= len && memcmp(t->bytes, home, len) == 0 &&
	    (t->len_bytes == len || t->bytes[len] == '/')) {
		buf_chr(out, '~');
		rest.bytes += len;
		rest.len_bytes -= len;
	}
	audit_put_text(out, &rest);
}

bool audit_is_word(const struct rows_text *t, const char *word)
{
	return t->len_bytes == strlen(word) && memcmp(t->bytes, word, t->len_bytes) == 0;
}

void audit_put_rule(struct buf *out, const struct read_event *e)
{
	if (audit_is_word(&e->judge, "human")) {
		buf_str(out, "human");
		return;
	}
	audit_put_text(out, &e->rule_file);
	if (audit_is_word(&e->judge, "floor") && e->rule_text.len_bytes) {
		buf_str(out, ": ");
		audit_put_text(out, &e->rule_text);
	} else if (e->rule_line) {
		buf_fmt(out, ":%llu", (unsigned long long)e->rule_line);
	}
}

void audit_put_status(struct buf *out, const struct read_session *s)
{
	int status = (int)s->status;

	if (!s->closed) {
		buf_str(out, "open");
		return;
	}
	if (audit_is_word(&s->reason, "recovered")) {
		buf_str(out, "wary died (recovered)");
		return;
	}
	if (WIFSIGNALED(status))
		buf_fmt(out, "killed by SIG%s",
		        sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
	else
		buf_fmt(out, "%d", WEXITSTATUS(status));
	if (s->reason.len_bytes && !audit_is_word(&s->reason, "exited") &&
	    !audit_is_word(&s->reason, "signalled")) {
		buf_str(out, " (");
		audit_put_text(out, &s->reason);
		buf_chr(out, ')');
	}
}

static void json_char(struct buf *out, const char *bytes, size_t n, unsigned code)
{
	static const char letters[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
	                               ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};

	if (!n)
		buf_fmt(out, "\\udc%02x", (unsigned char)*bytes);
	else if (code < sizeof letters && letters[code])
		buf_fmt(out, "\\%c", letters[code]);
	else if (code < 0x20 || (code < 0x10000 && text_is_hidden(code)))
		buf_fmt(out, "\\u%04x", code);
	else if (text_is_hidden(code))
		buf_fmt(out, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
		        0xdc00 + ((code - 0x10000) & 0x3ff));
	else
		buf_add(out, bytes, n);
}

void audit_put_key(struct buf *out, const uint8_t public_key[ROWS_KEY_BYTES],
                   const uint8_t (*own)[ROWS_KEY_BYTES], size_t own_n)
{
	keys_name(out, public_key);
	for (size_t i = 0; i < own_n; i++)
		if (memcmp(own[i], public_key, ROWS_KEY_BYTES) == 0)
			buf_str(out, i ? " (this machine's before)" : " (this machine)");
}

void audit_json_text(struct buf *out, const struct rows_text *t)
{
	if (!t->bytes) {
		buf_str(out, "null");
		return;
	}
	buf_chr(out, '"');
	for (size_t i = 0; i < t->len_bytes;) {
		unsigned code = 0;
		size_t n = text_utf8_next((const unsigned char *)t->bytes + i, t->len_bytes - i,
		                          &code);

		json_char(out, t->bytes + i, n, code);
		i += n ? n : 1;
	}
	buf_chr(out, '"');
}
