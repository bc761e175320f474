#include "audit/report.h"

#include "audit/report_page.h"
#include "base/buf.h"
#include "base/own.h"
#include "base/text.h"

#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- maps from ids of the store to places on the page ------------------ */

struct map {
	uint64_t *keys; /* key + 1; 0 is free */
	uint32_t *values;
	size_t cap; /* a power of two */
	uint32_t n;
};

static void map_free(struct map *m)
{
	free(m->keys);
	free(m->values);
	*m = (struct map){0};
}

static size_t map_slot(const struct map *m, uint64_t key)
{
	size_t i = (size_t)((key * 0x9e3779b97f4a7c15u) >> 20) & (m->cap - 1);

	while (m->keys[i] && m->keys[i] != key + 1)
		i = (i + 1) & (m->cap - 1);
	return i;
}

static int map_grow(struct map *m)
{
	struct map bigger = {.cap = m->cap ? m->cap * 2 : 1024, .n = m->n};

	bigger.keys = calloc(bigger.cap, sizeof *bigger.keys);
	bigger.values = calloc(bigger.cap, sizeof *bigger.values);
	if (!bigger.keys || !bigger.values) {
		map_free(&bigger);
		return -ERR_NOMEM;
	}
	for (size_t i = 0; i < m->cap; i++) {
		if (m->keys[i]) {
			size_t to = map_slot(&bigger, m->keys[i] - 1);

			bigger.keys[to] = m->keys[i];
			bigger.values[to] = m->values[i];
		}
	}
	map_free(m);
	*m = bigger;
	return 0;
}

/* Sets *fresh where the key is new; *place is then the next number. */
static int map_put(struct map *m, uint64_t key, uint32_t *place, bool *fresh)
{
	size_t i;

	if ((m->n + 1) * 2 > m->cap) {
		int err = map_grow(m);

		if (err)
			return err;
	}
	i = map_slot(m, key);
	*fresh = m->keys[i] == 0;
	if (*fresh) {
		m->keys[i] = key + 1;
		m->values[i] = m->n++;
	}
	*place = m->values[i];
	return 0;
}

/* ---- the data ----------------------------------------------------------- */

struct event {
	uint64_t at_us;
	uint32_t actor, act, object, detail, times;
	int64_t result;
	bool known;
};

struct page {
	sqlite3 *db;
	sqlite3_int64 session;
	uint64_t opened_us, length_us, rows;
	struct map strings, actors, acts, details, groups;
	struct buf strings_json, actors_json, acts_json, details_json;
	sqlite3_stmt *get_string, *get_actor, *get_act, *get_detail;
	struct event *events;
	size_t events_n, events_cap;
	bool together; /* equal decisions are counted together */
};

static void page_done(struct page *p)
{
	struct map *maps[] = {&p->strings, &p->actors, &p->acts, &p->details, &p->groups};
	struct buf *bufs[] = {&p->strings_json, &p->actors_json, &p->acts_json, &p->details_json};

	for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
		map_free(maps[i]);
	for (size_t i = 0; i < sizeof bufs / sizeof bufs[0]; i++)
		buf_free(bufs[i]);
	sqlite3_finalize(p->get_string);
	sqlite3_finalize(p->get_actor);
	sqlite3_finalize(p->get_act);
	sqlite3_finalize(p->get_detail);
	free(p->events);
}

/* A JSON string that may stand within <script>: no "<" of the child's can
 * end the element or begin a comment. Not UTF-8: made printable first. */
static void put_json_text(struct buf *out, const void *bytes, size_t len)
{
	auto_buf plain = BUF_INIT;
	auto_free char *dumped = NULL;
	json_t *s = json_stringn(bytes ? bytes : "", len);

	if (!s) {
		text_printable(&plain, bytes, len, 0);
		s = plain.failed ? NULL : json_stringn(buf_text(&plain), plain.len_bytes);
	}
	dumped = s ? json_dumps(s, JSON_ENCODE_ANY) : NULL;
	json_decref(s);
	if (!dumped) {
		out->failed = true;
		return;
	}
	for (const char *c = dumped; *c; c++) {
		if (*c == '<' || *c == '>' || *c == '&')
			buf_fmt(out, "\\u%04x", (unsigned)*c);
		else
			buf_chr(out, *c);
	}
}

static void put_column_text(struct buf *out, sqlite3_stmt *st, int column)
{
	const void *bytes = sqlite3_column_blob(st, column);
	int len = sqlite3_column_bytes(st, column);

	put_json_text(out, bytes, len < 0 ? 0 : (size_t)len);
}

static int prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out)
{
	return sqlite3_prepare_v2(db, sql, -1, out, NULL) == SQLITE_OK ? 0 : -ERR_DAMAGED;
}

static int step_row(sqlite3_stmt *st, sqlite3_int64 id)
{
	sqlite3_reset(st);
	if (sqlite3_bind_int64(st, 1, id) != SQLITE_OK)
		return -ERR_DAMAGED;
	return sqlite3_step(st) == SQLITE_ROW ? 0 : -ERR_DAMAGED;
}

static int string_place(struct page *p, sqlite3_int64 id, uint32_t *place)
{
	bool fresh;
	int err = map_put(&p->strings, (uint64_t)id, place, &fresh);

	if (err || !fresh)
		return err;
	if (*place)
		buf_chr(&p->strings_json, ',');
	if (id == 0) {
		buf_str(&p->strings_json, "\"\"");
		return 0;
	}
	err = step_row(p->get_string, id);
	if (!err)
		put_column_text(&p->strings_json, p->get_string, 0);
	return err;
}

static int actor_place(struct page *p, sqlite3_int64 id, uint32_t *place)
{
	uint32_t program;
	bool fresh;
	int err = map_put(&p->actors, (uint64_t)id, place, &fresh);

	if (err || !fresh)
		return err;
	err = step_row(p->get_actor, id);
	if (!err)
		err = string_place(p, sqlite3_column_int64(p->get_actor, 2), &program);
	if (!err)
		buf_fmt(&p->actors_json, "%s[%lld,%lld,%u]", *place ? "," : "",
		        (long long)sqlite3_column_int64(p->get_actor, 0),
		        (long long)sqlite3_column_int64(p->get_actor, 1), program);
	return err;
}

static int act_place(struct page *p, sqlite3_int64 id, uint32_t *place)
{
	struct buf *out = &p->acts_json;
	bool fresh;
	int err = map_put(&p->acts, (uint64_t)id, place, &fresh);

	if (err || !fresh)
		return err;
	err = step_row(p->get_act, id);
	if (err)
		return err;
	buf_str(out, *place ? ",[" : "[");
	for (int i = 0; i < 8; i++) {
		if (i)
			buf_chr(out, ',');
		if (i == 6)
			buf_fmt(out, "%lld", (long long)sqlite3_column_int64(p->get_act, i));
		else
			put_column_text(out, p->get_act, i);
	}
	buf_chr(out, ']');
	return 0;
}

/* Place 0 is "none", so that a page's 0 means the same as the store's. */
static int detail_place(struct page *p, sqlite3_int64 id, uint32_t *place)
{
	uint32_t texts[3] = {0};
	bool fresh;
	int err = map_put(&p->details, (uint64_t)id, place, &fresh);

	if (err || !fresh)
		return err;
	if (id == 0) {
		buf_str(&p->details_json, "[0,0,0]");
		return 0;
	}
	err = step_row(p->get_detail, id);
	for (int i = 0; i < 3 && !err; i++)
		err = string_place(p, sqlite3_column_int64(p->get_detail, i), &texts[i]);
	if (!err)
		buf_fmt(&p->details_json, ",[%u,%u,%u]", texts[0], texts[1], texts[2]);
	return err;
}

static int add_event(struct page *p, const struct event *e)
{
	if (p->events_n == p->events_cap) {
		size_t cap = p->events_cap ? p->events_cap * 2 : 4096;
		struct event *more = reallocarray(p->events, cap, sizeof *more);

		if (!more)
			return -ERR_NOMEM;
		p->events = more;
		p->events_cap = cap;
	}
	p->events[p->events_n++] = *e;
	return 0;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
	return h * 0xff51afd7ed558ccdu;
}

/* Counts the event with an equal one of the same part of the session. A
 * collision of the 64-bit key would miscount one row of a page that is read
 * by people; the store stays what it is. */
static int count_event(struct page *p, const struct event *e)
{
	uint64_t bucket = e->at_us * REPORT_BUCKETS / (p->length_us + 1);
	uint64_t key = mix(mix(mix(mix(bucket, e->actor), e->act), e->object),
	                   (uint64_t)e->result * 2 + e->known);
	uint32_t place;
	bool fresh;
	int err = map_put(&p->groups, key >> 1, &place, &fresh);

	if (err)
		return err;
	if (fresh)
		return add_event(p, e);
	p->events[place].times++;
	return 0;
}

static int read_event(struct page *p, sqlite3_stmt *st)
{
	struct event e = {
		.at_us = (uint64_t)sqlite3_column_int64(st, 0),
		.known = sqlite3_column_type(st, 5) != SQLITE_NULL,
		.result = sqlite3_column_int64(st, 5),
		.times = 1,
	};
	int err = actor_place(p, sqlite3_column_int64(st, 1), &e.actor);

	if (!err)
		err = act_place(p, sqlite3_column_int64(st, 2), &e.act);
	if (!err)
		err = string_place(p, sqlite3_column_int64(st, 3), &e.object);
	if (!err && !p->together)
		err = detail_place(p, sqlite3_column_int64(st, 4), &e.detail);
	if (err)
		return err;
	return p->together ? count_event(p, &e) : add_event(p, &e);
}

static int read_events(struct page *p, void (*progress)(double share))
{
	static const char sql[] =
		"SELECT e.at_us, e.actor, e.act, e.object, e.detail, e.result FROM checkpoint c "
		"JOIN event e ON e.id >= c.first_event AND e.id < c.first_event + c.events "
		"WHERE c.session = ? ORDER BY e.id";
	sqlite3_stmt *st = NULL;
	uint64_t done = 0;
	int step;
	int err = prepare(p->db, sql, &st);

	if (err)
		return err;
	sqlite3_bind_int64(st, 1, p->session);
	while (!err && (step = sqlite3_step(st)) == SQLITE_ROW) {
		err = read_event(p, st);
		if (progress && ++done % 100000 == 0)
			progress((double)done / (double)(p->rows + 1));
	}
	if (!err && step != SQLITE_DONE)
		err = -ERR_DAMAGED;
	sqlite3_finalize(st);
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a;
	const struct event *y = b;

	return x->at_us < y->at_us ? -1 : x->at_us > y->at_us;
}

/* ---- writing ------------------------------------------------------------ */

static void put_meta(struct page *p, struct buf *out, sqlite3_stmt *st, const char *verified,
                     bool intact)
{
	static const char *const names[] = {"name", "command", "cwd", "user", "host", "ended"};
	static const char *const numbers[] = {"decisions", "refused", "asked", "grants", "dropped"};

	buf_str(out, "{\"meta\":{\"verified\":");
	put_json_text(out, verified, strlen(verified));
	buf_fmt(out, ",\"intact\":%s,\"opened_us\":%llu,\"length_us\":%llu",
	        intact ? "true" : "false", (unsigned long long)p->opened_us,
	        (unsigned long long)p->length_us);
	for (int i = 0; i < 6; i++) {
		buf_fmt(out, ",\"%s\":", names[i]);
		put_column_text(out, st, i);
	}
	for (int i = 0; i < 5; i++)
		buf_fmt(out, ",\"%s\":%lld", numbers[i],
		        (long long)sqlite3_column_int64(st, 6 + i));
	buf_chr(out, '}');
}

static int put_policies(struct page *p, struct buf *out)
{
	sqlite3_stmt *st = NULL;
	int err =
		prepare(p->db,
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

static void put_column(struct page *p, struct buf *out, char name)
{
	buf_fmt(out, "%s\"%c\":[", name == 't' ? "" : ",", name);
	for (size_t i = 0; i < p->events_n; i++) {
		const struct event *e = &p->events[i];
		uint64_t value = name == 't'   ? e->at_us
		                 : name == 'a' ? e->actor
		                 : name == 'c' ? e->act
		                 : name == 'o' ? e->object
		                 : name == 'd' ? e->detail
		                               : e->times;

		if (i)
			buf_chr(out, ',');
		if (name == 'r' && !e->known)
			buf_str(out, "null");
		else if (name == 'r')
			buf_fmt(out, "%lld", (long long)e->result);
		else
			buf_fmt(out, "%llu", (unsigned long long)value);
	}
	buf_chr(out, ']');
}

static int put_data(struct page *p, struct buf *out)
{
	struct {
		const char *name;
		struct buf *json;
	} lists[] = {{"strings", &p->strings_json},
	             {"actors", &p->actors_json},
	             {"acts", &p->acts_json},
	             {"details", &p->details_json}};

	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		const char *text = buf_text(lists[i].json);

		if (!text)
			return -ERR_NOMEM;
		buf_fmt(out, ",\"%s\":[", lists[i].name);
		buf_add(out, text, lists[i].json->len_bytes);
		buf_chr(out, ']');
	}
	buf_str(out, ",\"events\":{");
	for (const char *c = p->together ? "tacodrn" : "tacodr"; *c; c++)
		put_column(p, out, *c);
	buf_str(out, "}}");
	return out->failed ? -ERR_NOMEM : 0;
}

static int write_all(FILE *out, const char *bytes, size_t len)
{
	return fwrite(bytes, 1, len, out) == len ? 0 : -ERR_SYS;
}

/* The page with its two places filled in: @DATA@ and @SCRIPT@. */
static int put_page(struct buf *data, FILE *out)
{
	const char *page = report_page_html;
	const char *script = strstr(page, "@SCRIPT@");
	const char *at = strstr(page, "@DATA@");
	int err;

	invariant(at && script && at < script);
	err = write_all(out, page, (size_t)(at - page));
	if (!err)
		err = write_all(out, data->data, data->len_bytes);
	at += strlen("@DATA@");
	if (!err)
		err = write_all(out, at, (size_t)(script - at));
	if (!err)
		err = write_all(out, report_page_js, strlen(report_page_js));
	script += strlen("@SCRIPT@");
	if (!err)
		err = write_all(out, script, strlen(script));
	return !err && fflush(out) != 0 ? -ERR_SYS : err;
}

static int open_statements(struct page *p)
{
	int err = prepare(p->db,
	                  "SELECT CAST(CASE WHEN s.prefix = 0 THEN s.text ELSE "
	                  "CAST(f.text AS BLOB) || CAST(s.text AS BLOB) END AS BLOB) FROM string s "
	                  "LEFT JOIN string f ON f.id = s.prefix WHERE s.id = ?",
	                  &p->get_string);

	if (!err)
		err = prepare(p->db, "SELECT pid, ppid, program FROM actor WHERE id = ?",
		              &p->get_actor);
	if (!err)
		err = prepare(p->db,
		              "SELECT a.kind, a.class, a.syscall, a.answer, a.judge, "
		              "coalesce(f.text, ''), "
		              "a.rule_line, coalesce(t.text, '') FROM act a "
		              "LEFT JOIN string f ON f.id = a.rule_file "
		              "LEFT JOIN string t ON t.id = a.rule_text WHERE a.id = ?",
		              &p->get_act);
	if (!err)
		err = prepare(p->db, "SELECT object2, cwd, argv FROM detail WHERE id = ?",
		              &p->get_detail);
	return err;
}

static int fill(struct page *p, sqlite3_stmt *meta, const char *verified, bool intact,
                void (*progress)(double share), struct buf *data)
{
	uint32_t none;
	int err = open_statements(p);

	if (!err)
		err = string_place(p, 0, &none);
	if (!err)
		err = detail_place(p, 0, &none);
	if (!err)
		err = read_events(p, progress);
	if (err)
		return err;
	qsort(p->events, p->events_n, sizeof *p->events, by_time);
	put_meta(p, data, meta, verified, intact);
	err = put_policies(p, data);
	put_errnos(data);
	return err ? err : put_data(p, data);
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
	struct buf data = {.max_bytes = (size_t)1 << 30};
	sqlite3_stmt *meta = NULL;
	int err = prepare(db, sql, &meta);

	if (!err) {
		sqlite3_bind_int64(meta, 1, session);
		err = sqlite3_step(meta) == SQLITE_ROW ? 0 : -ERR_NOTFOUND;
	}
	if (!err) {
		p.opened_us = (uint64_t)sqlite3_column_int64(meta, 11);
		p.length_us = (uint64_t)sqlite3_column_int64(meta, 12);
		p.rows = (uint64_t)sqlite3_column_int64(meta, 13);
		p.together = p.rows > REPORT_ROWS_MAX;
		buf_init(&p.strings_json, (size_t)1 << 30);
		err = fill(&p, meta, verified, intact, progress, &data);
	}
	if (!err)
		err = put_page(&data, out);
	sqlite3_finalize(meta);
	page_done(&p);
	buf_free(&data);
	return err;
}
