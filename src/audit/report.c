#include "audit/report.h"

#include "audit/report_page.h"
#include "audit/report_rows.h"
#include "base/buf.h"
#include "base/own.h"
#include "base/text.h"

#include <errno.h>
#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define JSON_MAX_BYTES ((size_t)1 << 30)
/* Columns of an act that are words; then come rule_file, rule_line, rule_text. */
#define ACT_WORDS 5

struct page {
	sqlite3 *db;
	sqlite3_int64 session;
	uint64_t opened_us;
	struct report_rows rows;
	struct places strings, details;
	/* A string is its prefix's text (by place + 1; 0: none) and its own. */
	struct buf texts, prefixes, details_json;
	sqlite3_stmt *get_string, *get_act, *get_detail;
};

static void page_done(struct page *p)
{
	places_free(&p->strings);
	places_free(&p->details);
	buf_free(&p->texts);
	buf_free(&p->prefixes);
	buf_free(&p->details_json);
	sqlite3_finalize(p->get_string);
	sqlite3_finalize(p->get_act);
	sqlite3_finalize(p->get_detail);
	report_rows_done(&p->rows);
}

/* A JSON string that may stand within <script>: no "<" of the child's can end
 * the element or begin a comment. A byte that is not UTF-8 becomes the lone
 * surrogate U+DC00 + byte, which valid text cannot have; the page shows it as
 * \xHH. */
static void put_json_text(struct buf *out, const void *bytes, size_t len)
{
	const unsigned char *s = bytes;

	buf_chr(out, '"');
	for (size_t i = 0; i < len;) {
		unsigned code = 0;
		size_t n = text_utf8_next(s + i, len - i, &code);

		if (n == 0)
			buf_fmt(out, "\\udc%02x", s[i]);
		else if (code < 0x20 || (code < 0x80 && strchr("\"\\<>&\x7f", (int)code)) ||
		         code == 0x2028 || code == 0x2029)
			buf_fmt(out, "\\u%04x", code);
		else
			buf_add(out, s + i, n);
		i += n ? n : 1;
	}
	buf_chr(out, '"');
}

static void put_column_text(struct buf *out, sqlite3_stmt *st, int column)
{
	const void *bytes = sqlite3_column_blob(st, column);
	int len = sqlite3_column_bytes(st, column);

	put_json_text(out, bytes, len < 0 ? 0 : (size_t)len);
}

/* ---- lists that name each thing once -------------------------------------- */

static void put_string(struct page *p, uint32_t place, uint32_t prefix, sqlite3_stmt *st)
{
	if (place) {
		buf_chr(&p->texts, ',');
		buf_chr(&p->prefixes, ',');
	}
	buf_fmt(&p->prefixes, "%u", prefix);
	if (st)
		put_column_text(&p->texts, st, 1);
	else
		buf_str(&p->texts, "\"\"");
}

/* One that has no prefix, as prefixes themselves have none. */
static int prefix_place(struct page *p, sqlite3_int64 id, uint32_t *place)
{
	bool fresh;
	int err = places_put(&p->strings, (uint64_t)id, place, &fresh);

	if (err || !fresh)
		return err;
	err = report_step(p->get_string, id);
	if (!err && sqlite3_column_int64(p->get_string, 0) != 0)
		err = -ERR_DAMAGED;
	if (!err)
		put_string(p, *place, 0, p->get_string);
	return err;
}

static int string_place(struct page *p, sqlite3_int64 id, uint32_t *place)
{
	uint32_t prefix = 0;
	sqlite3_int64 above;
	bool fresh;
	int err;

	if (places_find(&p->strings, (uint64_t)id, place))
		return 0;
	err = report_step(p->get_string, id);
	above = err ? 0 : sqlite3_column_int64(p->get_string, 0);
	if (above) {
		err = prefix_place(p, above, &prefix);
		prefix++;
	}
	if (!err)
		err = places_put(&p->strings, (uint64_t)id, place, &fresh);
	if (!err)
		err = report_step(p->get_string, id);
	if (!err)
		put_string(p, *place, prefix, p->get_string);
	return err;
}

/* Place 0 is "none", so that a page's 0 means the same as the store's. */
static int lists_begin(struct page *p)
{
	uint32_t none;
	bool fresh;
	int err = places_put(&p->strings, 0, &none, &fresh);

	if (!err)
		err = places_put(&p->details, 0, &none, &fresh);
	put_string(p, 0, 0, NULL);
	buf_str(&p->details_json, "[0,0,0,0,\"\",0]");
	return err;
}

/* object2, cwd, argv, stack (strings), sha256, reason */
static int detail_place(struct page *p, sqlite3_int64 id, uint32_t *place)
{
	uint32_t texts[4] = {0};
	bool fresh;
	int err = places_put(&p->details, (uint64_t)id, place, &fresh);

	if (err || !fresh)
		return err;
	err = report_step(p->get_detail, id);
	for (int i = 0; i < 4 && !err; i++)
		err = string_place(p, sqlite3_column_int64(p->get_detail, i), &texts[i]);
	if (err)
		return err;
	buf_fmt(&p->details_json, ",[%u,%u,%u,%u,", texts[0], texts[1], texts[2], texts[3]);
	put_column_text(&p->details_json, p->get_detail, 4);
	buf_fmt(&p->details_json, ",%lld]", (long long)sqlite3_column_int64(p->get_detail, 5));
	return 0;
}

static int put_acts(struct page *p, struct buf *out)
{
	sqlite3_stmt *st = p->get_act;
	int err = 0;

	buf_str(out, ",\"acts\":[");
	for (uint32_t i = 0; i < p->rows.same_acts.hashes.n && !err; i++) {
		uint32_t file = 0;
		uint32_t text = 0;

		err = report_step(st, p->rows.acts[i].id);
		if (!err)
			err = string_place(p, sqlite3_column_int64(st, ACT_WORDS), &file);
		if (!err)
			err = string_place(p, sqlite3_column_int64(st, ACT_WORDS + 2), &text);
		buf_str(out, i ? ",[" : "[");
		for (int word = 0; word < ACT_WORDS && !err; word++) {
			put_column_text(out, st, word);
			buf_chr(out, ',');
		}
		buf_fmt(out, "%u,%lld,%u]", file,
		        (long long)sqlite3_column_int64(st, ACT_WORDS + 1), text);
	}
	buf_chr(out, ']');
	return err;
}

static int put_actors(struct page *p, struct buf *out)
{
	int err = 0;

	buf_str(out, ",\"actors\":[");
	for (uint32_t i = 0; i < p->rows.same_actors.hashes.n && !err; i++) {
		const struct report_actor *a = &p->rows.actors[i];
		uint32_t program;

		err = string_place(p, a->program, &program);
		if (!err)
			buf_fmt(out, "%s[%lld,%lld,%u,%u,%u]", i ? "," : "", (long long)a->pid,
			        (long long)a->ppid, program, a->times, a->refused);
	}
	buf_chr(out, ']');
	return err;
}

/* ---- writing ------------------------------------------------------------ */

/* By how much the wall clock was ahead of the monotonic one, from when on: a
 * step each time that changes by a millisecond or more. */
static int put_skews(struct page *p, struct buf *out)
{
	sqlite3_stmt *st = NULL;
	sqlite3_int64 last = 0;
	int err = report_prepare(p->db,
	                         "SELECT coalesce((SELECT at_us FROM event WHERE id = "
	                         "c.first_event AND c.events), 0), skew_us FROM checkpoint c "
	                         "WHERE c.session = ? ORDER BY c.id",
	                         &st);

	if (err)
		return err;
	sqlite3_bind_int64(st, 1, p->session);
	buf_str(out, ",\"skews\":[[0,0]");
	while (sqlite3_step(st) == SQLITE_ROW) {
		sqlite3_int64 skew = sqlite3_column_int64(st, 1);

		if (skew / 1000 == last / 1000)
			continue;
		last = skew;
		buf_fmt(out, ",[%lld,%lld]", (long long)sqlite3_column_int64(st, 0),
		        (long long)skew);
	}
	buf_chr(out, ']');
	sqlite3_finalize(st);
	return 0;
}

static void put_bars(struct page *p, struct buf *out)
{
	buf_fmt(out, ",\"parts\":%u,\"bars\":[", report_rows_parts(&p->rows));
	for (int mark = 0; mark < REPORT_MARKS; mark++) {
		buf_str(out, mark ? ",[" : "[");
		for (int i = 0; i < REPORT_BARS; i++)
			buf_fmt(out, i ? ",%u" : "%u", p->rows.bars[mark][i]);
		buf_chr(out, ']');
	}
	buf_chr(out, ']');
}

static int put_meta(struct page *p, struct buf *out, sqlite3_stmt *st, const char *verified,
                    bool intact)
{
	static const char *const names[] = {"name", "command", "cwd", "user", "host", "ended"};
	static const char *const numbers[] = {"decisions", "refused", "asked", "grants", "dropped"};
	int err;

	buf_str(out, "{\"meta\":{\"verified\":");
	put_json_text(out, verified, strlen(verified));
	buf_fmt(out, ",\"intact\":%s,\"opened_us\":%llu,\"length_us\":%llu,\"together\":\"%s\"",
	        intact ? "true" : "false", (unsigned long long)p->opened_us,
	        (unsigned long long)p->rows.length_us, report_rows_together(&p->rows));
	for (int i = 0; i < 6; i++) {
		buf_fmt(out, ",\"%s\":", names[i]);
		put_column_text(out, st, i);
	}
	for (int i = 0; i < 5; i++)
		buf_fmt(out, ",\"%s\":%lld", numbers[i],
		        (long long)sqlite3_column_int64(st, 6 + i));
	if (p->rows.level)
		put_bars(p, out);
	err = put_skews(p, out);
	buf_chr(out, '}');
	return err;
}

static int put_policies(struct page *p, struct buf *out)
{
	sqlite3_stmt *st = NULL;
	int err = report_prepare(
		p->db,
		"SELECT s.name, s.path, lower(hex(s.sha256)), t.text FROM session_source s "
		"JOIN source t ON t.sha256 = s.sha256 WHERE s.session = ? ORDER BY s.place",
		&st);
	static const char *const keys[] = {"name", "path", "sha256", "text"};

	if (err)
		return err;
	sqlite3_bind_int64(st, 1, p->session);
	buf_str(out, ",\"policies\":[");
	for (int n = 0; sqlite3_step(st) == SQLITE_ROW; n++) {
		for (int i = 0; i < 4; i++) {
			buf_fmt(out, "%s\"%s\":", i ? "," : n ? ",{" : "{", keys[i]);
			put_column_text(out, st, i);
		}
		buf_chr(out, '}');
	}
	buf_chr(out, ']');
	sqlite3_finalize(st);
	return 0;
}

/* Names of errors, by number, as this machine has them. */
static void put_errnos(struct buf *out)
{
	buf_str(out, ",\"errnos\":{\"0\":\"\"");
	for (int i = 1; i < 134; i++)
		if (strerrorname_np(i))
			buf_fmt(out, ",\"%d\":\"%s\"", i, strerrorname_np(i));
	buf_chr(out, '}');
}

/* t, the times, as differences: in order they are small numbers. */
static uint64_t column_of(const struct report_event *e, uint64_t before_us, char name)
{
	return name == 't'   ? e->at_us - before_us
	       : name == 'a' ? e->actor
	       : name == 'c' ? e->act
	                     : e->times;
}

static int put_column(struct page *p, struct buf *out, char name)
{
	uint64_t before_us = 0;
	int err = 0;

	buf_fmt(out, "%s\"%c\":[", name == 't' ? "" : ",", name);
	for (size_t i = 0; i < p->rows.events_n && !err; i++) {
		const struct report_event *e = &p->rows.events[i];
		uint32_t place = 0;

		if (i)
			buf_chr(out, ',');
		if (name == 'r' && !e->known)
			buf_str(out, "null");
		else if (name == 'r')
			buf_fmt(out, "%lld", (long long)e->result);
		else if (name == 'o')
			err = string_place(p, e->object, &place);
		else if (name == 'd')
			err = detail_place(p, e->detail, &place);
		else
			buf_fmt(out, "%llu", (unsigned long long)column_of(e, before_us, name));
		if (name == 'o' || name == 'd')
			buf_fmt(out, "%u", place);
		before_us = e->at_us;
	}
	buf_chr(out, ']');
	return err;
}

/* Of the few that took something away, by their place: bytes (as text: the page's numbers
 * have 53 bits), names left, how many events. */
static void put_sizes(struct page *p, struct buf *out)
{
	const char *between = "";

	buf_str(out, ",\"sizes\":{");
	for (size_t i = 0; i < p->rows.events_n; i++) {
		const struct report_event *e = &p->rows.events[i];

		if (!e->sized)
			continue;
		buf_fmt(out, "%s\"%zu\":[\"%llu\",\"%llu\",%u]", between, i,
		        (unsigned long long)e->size_before, (unsigned long long)e->links_left,
		        e->sized);
		between = ",";
	}
	buf_chr(out, '}');
}

static void put_list(struct buf *out, const char *name, struct buf *list)
{
	const char *text = buf_text(list);

	if (!text) {
		out->failed = true;
		return;
	}
	buf_fmt(out, ",\"%s\":[", name);
	buf_add(out, text, list->len_bytes);
	buf_chr(out, ']');
}

static int put_data(struct page *p, struct buf *out)
{
	int err = put_acts(p, out);

	if (!err)
		err = put_actors(p, out);
	buf_str(out, ",\"events\":{");
	for (const char *c = p->rows.level ? "tacodrn" : "tacodr"; *c && !err; c++)
		err = put_column(p, out, *c);
	buf_chr(out, '}');
	put_sizes(p, out);
	put_list(out, "strings", &p->texts);
	put_list(out, "prefixes", &p->prefixes);
	put_list(out, "details", &p->details_json);
	buf_chr(out, '}');
	if (p->texts.failed || p->prefixes.failed || p->details_json.failed || out->failed)
		err = err ? err : -ERR_NOMEM;
	return err;
}

static int write_all(FILE *out, const char *bytes, size_t len)
{
	return fwrite(bytes, 1, len, out) == len ? 0 : -ERR_SYS;
}

/* The script's hash as a Content-Security-Policy names it: no other script
 * that might come to stand in the page would run. */
static void script_hash(const char *script, char out[64])
{
	unsigned char hash[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(hash, (const unsigned char *)script, strlen(script));
	sodium_bin2base64(out, 64, hash, sizeof hash, sodium_base64_VARIANT_ORIGINAL);
}

/* The page with its places filled in. */
static int put_page(struct buf *data, FILE *out)
{
	char hash[64];
	const struct {
		const char *mark, *text;
		size_t len;
	} fills[] = {{"@HASH@", hash, 0},
	             {"@DATA@", data->data, data->len_bytes},
	             {"@SCRIPT@", report_page_js, 0}};
	const char *at = report_page_html;
	int err = 0;

	script_hash(report_page_js, hash);
	for (size_t i = 0; i < sizeof fills / sizeof fills[0] && !err; i++) {
		const char *next = strstr(at, fills[i].mark);

		invariant(next != NULL);
		err = write_all(out, at, (size_t)(next - at));
		if (!err)
			err = write_all(out, fills[i].text,
			                fills[i].len ? fills[i].len : strlen(fills[i].text));
		at = next + strlen(fills[i].mark);
	}
	if (!err)
		err = write_all(out, at, strlen(at));
	return !err && fflush(out) != 0 ? -ERR_SYS : err;
}

static int open_statements(struct page *p)
{
	int err = report_prepare(p->db, "SELECT prefix, text FROM string WHERE id = ?",
	                         &p->get_string);

	if (!err)
		err = report_prepare(p->db,
		                     "SELECT kind, class, syscall, answer, judge, rule_file, "
		                     "rule_line, rule_text FROM act WHERE id = ?",
		                     &p->get_act);
	if (!err)
		err = report_prepare(p->db,
		                     "SELECT object2, cwd, argv, stack, "
		                     "coalesce(lower(hex(sha256)), ''), reason "
		                     "FROM detail WHERE id = ?",
		                     &p->get_detail);
	return err;
}

static int fill(struct page *p, sqlite3_stmt *meta, const char *verified, bool intact,
                struct buf *data)
{
	int err = open_statements(p);

	if (!err)
		err = lists_begin(p);
	if (!err)
		err = report_rows_read(&p->rows);
	if (!err)
		err = put_meta(p, data, meta, verified, intact);
	if (!err)
		err = put_policies(p, data);
	put_errnos(data);
	return err ? err : put_data(p, data);
}

static int read_meta(struct page *p, sqlite3_stmt *meta, void (*progress)(double share))
{
	sqlite3_bind_int64(meta, 1, p->session);
	if (sqlite3_step(meta) != SQLITE_ROW)
		return -ERR_NOTFOUND;
	p->opened_us = (uint64_t)sqlite3_column_int64(meta, 11);
	p->rows = (struct report_rows){
		.db = p->db,
		.session = p->session,
		.length_us = (uint64_t)sqlite3_column_int64(meta, 12),
		.total = (uint64_t)sqlite3_column_int64(meta, 13),
		.progress = progress,
		.most = REPORT_ROWS_MAX,
	};
	return 0;
}

int report_write(sqlite3 *db, sqlite3_int64 session, const char *verified, bool intact,
                 void (*progress)(double share), FILE *out)
{
	static const char sql[] =
		"SELECT s.name, s.argv, s.cwd, s.user, s.host, coalesce(c.reason, 'still open'), "
		"coalesce(c.decisions, 0), coalesce(c.refused, 0), coalesce(c.asked, 0), "
		"coalesce(c.grants, 0), coalesce(c.dropped, 0), s.opened_us, "
		"max(coalesce(c.at_us, 0), coalesce((SELECT max(at_us) - s.opened_us FROM "
		"checkpoint "
		"WHERE session = s.id), 0)), "
		"coalesce((SELECT sum(events) FROM checkpoint WHERE session = s.id), 0) "
		"FROM session s LEFT JOIN closing c ON c.session = s.id WHERE s.id = ?";
	struct page p = {.db = db, .session = session};
	struct buf data = {.max_bytes = JSON_MAX_BYTES};
	sqlite3_stmt *meta = NULL;
	int err = report_prepare(db, sql, &meta);

	buf_init(&p.texts, JSON_MAX_BYTES);
	buf_init(&p.prefixes, JSON_MAX_BYTES);
	buf_init(&p.details_json, JSON_MAX_BYTES);
	if (!err)
		err = read_meta(&p, meta, progress);
	if (!err)
		err = fill(&p, meta, verified, intact, &data);
	if (!err)
		err = put_page(&data, out);
	sqlite3_finalize(meta);
	page_done(&p);
	buf_free(&data);
	return err;
}
