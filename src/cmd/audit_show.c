/* wary audit show: what a session did, on one screen */
#include "audit/audit.h"
#include "audit/schema_events.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_used.h"
#include "cmd/audit_vouch.h"
#include "cmd/audit_words.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_SHOWN 6
#define REFUSED_SHOWN 12

struct show {
	struct store *store;
	const char *db;
	const struct audit_keys *keys;
	uint64_t session;
	int err;
};

#define OF_SESSION                                                                           \
	" FROM checkpoint c CROSS JOIN event e"                                              \
	" ON e.id BETWEEN c.first_event AND c.first_event + c.events - 1"                    \
	" CROSS JOIN act a ON a.id = e.act"                                                  \
	" LEFT JOIN string o ON o.id = e.object LEFT JOIN string f ON f.id = o.prefix"       \
	" LEFT JOIN detail d ON d.id = e.detail"                                             \
	" LEFT JOIN string o2 ON o2.id = d.object2 LEFT JOIN string f2 ON f2.id = o2.prefix" \
	" WHERE c.session = ?1"
/* Batches that have what is asked for (docs/AUDIT.md, Words). */
#define BATCH_EXEC " AND c.classes & 128"
#define BATCH_FLOW " AND c.classes & 768"
#define BATCH_PACKAGE " AND c.kinds & 4"
#define BATCH_GRANT " AND c.kinds & 8"
#define BATCH_REFUSED " AND c.answers & 14"
#define BATCH_LIFE " AND c.kinds & 64"
_Static_assert(1u << CLASS_EXEC == 128 && (1u << CLASS_CONNECT | 1u << CLASS_BIND) == 768, "bits");
_Static_assert(1u << AUDIT_PACKAGE == 4 && 1u << AUDIT_GRANT == 8, "bits");
#define OBJECT "coalesce(f.text, '') || coalesce(o.text, '')"
#define OBJECT2 "coalesce(f2.text, '') || coalesce(o2.text, '')"
#define DONE " AND a.kind = 'decision' AND a.answer = 'allow' AND e.result >= 0"

static sqlite3_stmt *ask(struct show *w, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(store_db(w->store), sql, -1, &stmt, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(stmt, 1, (int64_t)w->session);
	if (rc != SQLITE_OK)
		w->err = store_code(rc);
	return stmt;
}

static bool row(struct show *w, sqlite3_stmt *stmt)
{
	int rc = stmt ? sqlite3_step(stmt) : SQLITE_DONE;

	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		w->err = store_code(rc);
	return rc == SQLITE_ROW;
}

static uint64_t number_at(sqlite3_stmt *stmt, int i)
{
	return (uint64_t)sqlite3_column_int64(stmt, i);
}

static void print_line(const char *title, struct buf *line, const char *none)
{
	const char *text = buf_text(line);

	if (!text)
		text = "out of memory";
	printf("%-10s %s\n", title, *text ? text : none);
}

static void put_base(struct buf *out, struct rows_text t)
{
	const char *slash = t.len_bytes ? memrchr(t.bytes, '/', t.len_bytes) : NULL;

	if (slash && slash + 1 < t.bytes + t.len_bytes) {
		t.len_bytes -= (size_t)(slash + 1 - t.bytes);
		t.bytes = slash + 1;
	}
	audit_put_text(out, &t);
}

static void show_head(const struct read_session *s)
{
	auto_buf line = BUF_INIT;

	audit_put_text(&line, &s->argv);
	buf_str(&line, "   in ");
	audit_put_path(&line, &s->cwd);
	buf_str(&line, "   by ");
	audit_put_text(&line, &s->user);
	buf_chr(&line, '@');
	audit_put_text(&line, &s->host);
	buf_str(&line, "   ");
	audit_put_time(&line, s->opened_us, AUDIT_TIME_MINUTE);
	buf_str(&line, " (");
	audit_put_span(&line, s->took_us);
	buf_str(&line, s->closed ? "), exit " : "), ");
	audit_put_status(&line, s);
	puts(buf_text(&line) ? line.data : "");
}

static void show_policy(struct show *w)
{
	sqlite3_stmt *stmt = ask(w, "SELECT name, lower(hex(sha256)) FROM session_source"
	                            " WHERE session = ?1 ORDER BY place");
	auto_buf line = BUF_INIT;

	while (row(w, stmt)) {
		struct rows_text name = read_text(stmt, 0);
		struct rows_text hash = read_text(stmt, 1);

		buf_str(&line, line.len_bytes ? ", " : "");
		audit_put_text(&line, &name);
		hash.len_bytes = hash.len_bytes > 4 ? 4 : hash.len_bytes;
		buf_str(&line, " (sha256 ");
		audit_put_text(&line, &hash);
		buf_str(&line, "…)");
	}
	sqlite3_finalize(stmt);
	print_line("policy", &line, "none");
}

static void show_programs(struct show *w)
{
	sqlite3_stmt *stmt = ask(w, "SELECT " OBJECT ", count(*)" OF_SESSION BATCH_EXEC DONE
	                            " AND a.class = 'exec' GROUP BY 1 ORDER BY 2 DESC, 1");
	auto_buf names = BUF_INIT;
	auto_buf line = BUF_INIT;
	uint64_t runs = 0;
	uint64_t programs = 0;

	for (; row(w, stmt); programs++) {
		runs += number_at(stmt, 1);
		if (programs < NAMES_SHOWN) {
			buf_str(&names, programs ? ", " : ": ");
			put_base(&names, read_text(stmt, 0));
		} else if (programs == NAMES_SHOWN) {
			buf_str(&names, ", …");
		}
	}
	sqlite3_finalize(stmt);
	if (runs) {
		text_thousands(&line, runs);
		buf_fmt(&line, " run%s of ", runs == 1 ? "" : "s");
		text_thousands(&line, programs);
		buf_fmt(&line, " program%s", programs == 1 ? "" : "s");
		buf_str(&line, buf_text(&names) ? names.data ? names.data : "" : "");
	}
	print_line("programs", &line, "none but the command");
}

/* Of all processes whose end is on record; times are at least so. */
static void show_used(struct show *w)
{
	const struct read_filter f = {.session = w->session, .kinds = 1u << AUDIT_PROCESS};
	struct audit_used sum = {.timed = false};
	struct reader *r = NULL;
	auto_buf line = BUF_INIT;
	bool there = true;
	int err = read_open(w->store, &f, &r);

	while (!err) {
		struct audit_used one;
		struct read_event e;

		err = read_next(r, &e, &there);
		if (err || !there)
			break;
		audit_used_of(&e, &one);
		sum.timed |= one.timed;
		sum.user_ms += one.user_ms;
		sum.system_ms += one.system_ms;
		if (one.peak_kib > sum.peak_kib)
			sum.peak_kib = one.peak_kib;
	}
	read_close(r);
	if (err)
		w->err = err;
	audit_used_put_time(&line, &sum);
	if (sum.timed)
		buf_str(&line, " of processor");
	if (sum.peak_kib) {
		buf_str(&line, sum.timed ? ", the largest process " : "the largest process ");
		audit_used_put_peak(&line, &sum);
	}
	print_line("used", &line, "not known");
}

/* What no name leads to any more, and what was cut off. A truncate's flags are the new
 * length. Counted as a floating number, which cannot overflow. */
#define TAKEN                                                                         \
	"total(CASE WHEN a.syscall = 'truncate' THEN max(0, e.size_before - a.flags)" \
	" WHEN e.links_left = 0 OR a.syscall GLOB 'open*' OR a.syscall = 'creat'"     \
	" THEN e.size_before END)"

static void put_taken(struct show *w, struct buf *line)
{
	sqlite3_stmt *stmt = ask(w, "SELECT " TAKEN OF_SESSION DONE);
	double bytes = row(w, stmt) ? sqlite3_column_double(stmt, 0) : 0;

	if (bytes >= 1 && bytes < 1.8e19) {
		buf_str(line, line->len_bytes ? " · " : "");
		text_thousands(line, (unsigned long long)bytes);
		buf_str(line, " bytes taken away");
	}
	sqlite3_finalize(stmt);
}

static void show_files(struct show *w)
{
	static const struct {
		const char *class, *said;
	} parts[] = {{"read", "read "},      {"create", "created "},     {"write", "changed "},
	             {"delete", "deleted "}, {"attr", "attributes of "}, {"link", "linked "}};
	/* The text of one, not of every row. */
	sqlite3_stmt *stmt = ask(
		w, "SELECT class, n, " SCHEMA_TEXT(
			   "one") " FROM (SELECT a.class AS class, count(DISTINCT e.object) AS n,"
				  " min(e.object) AS one" OF_SESSION DONE " GROUP BY 1)");
	auto_buf line = BUF_INIT;

	while (row(w, stmt)) {
		const char *class = (const char *)sqlite3_column_text(stmt, 0);
		uint64_t n = number_at(stmt, 1);

		for (size_t i = 0; class && i < sizeof parts / sizeof parts[0]; i++) {
			struct rows_text only = read_text(stmt, 2);

			if (strcmp(class, parts[i].class) != 0)
				continue;
			buf_fmt(&line, "%s%s", line.len_bytes ? " · " : "", parts[i].said);
			if (n == 1)
				audit_put_path(&line, &only);
			else
				text_thousands(&line, n);
		}
	}
	sqlite3_finalize(stmt);
	put_taken(w, &line);
	print_line("files", &line, "none");
}

/* Objects of some events with how often, as "a (3), b". */
static void show_list(struct show *w, const char *title, const char *sql, const char *none)
{
	sqlite3_stmt *stmt = ask(w, sql);
	auto_buf line = BUF_INIT;
	unsigned shown = 0;

	for (; row(w, stmt); shown++) {
		struct rows_text what = read_text(stmt, 0);
		uint64_t n = number_at(stmt, 1);

		if (shown == NAMES_SHOWN)
			buf_str(&line, ", …");
		if (shown >= NAMES_SHOWN)
			continue;
		buf_str(&line, shown ? ", " : "");
		audit_put_path(&line, &what);
		if (n > 1)
			buf_fmt(&line, " (%llu)", (unsigned long long)n);
	}
	sqlite3_finalize(stmt);
	print_line(title, &line, none);
}

/* Packages in one state (docs/AUDIT.md, "Installed packages"). */
struct packages {
	uint64_t state, n, bare;
	struct buf names, line;
};

static void put_packages(struct packages *p)
{
	static const char *const said[] = {"installed", "link", "that no package has", "removed"};
	const char *names = buf_text(&p->names);

	if (p->n && p->state - 2 < sizeof said / sizeof said[0]) {
		buf_str(&p->line, p->line.len_bytes ? " · " : "");
		text_thousands(&p->line, p->n);
		buf_fmt(&p->line, " %s: %s%s", said[p->state - 2], names ? names : "?",
		        p->n > NAMES_SHOWN ? ", …" : "");
	}
	buf_reset(&p->names);
	p->n = 0;
}

static void take_package(struct packages *p, sqlite3_stmt *stmt)
{
	struct rows_text name = read_text(stmt, 1);
	struct rows_text version = read_text(stmt, 2);

	if (number_at(stmt, 0) != p->state)
		put_packages(p);
	p->state = number_at(stmt, 0);
	p->bare += sqlite3_column_int64(stmt, 3) < 0;
	if (++p->n > NAMES_SHOWN)
		return;
	buf_str(&p->names, p->n > 1 ? ", " : "");
	audit_put_text(&p->names, &name);
	buf_chr(&p->names, ' ');
	audit_put_text(&p->names, &version);
}

/* "3 installed: npm:a 1.0, … · 1 removed: npm:b 2.0": of each folder as the
 * session last had it on record. */
static void show_packages(struct show *w)
{
	sqlite3_stmt *stmt =
		ask(w, "SELECT reason, object, object2, result FROM (SELECT "
	               "d.reason AS reason, " OBJECT " AS object, " OBJECT2
	               " AS object2, e.result AS result, max(e.id)" OF_SESSION BATCH_PACKAGE
	               " AND a.kind = 'package' AND d.reason > 1 GROUP BY d.cwd)"
	               " ORDER BY 1, 2, 3");
	struct packages p = {0};

	while (row(w, stmt))
		take_package(&p, stmt);
	sqlite3_finalize(stmt);
	put_packages(&p);
	if (p.bare)
		buf_fmt(&p.line, " · %llu without a hash", (unsigned long long)p.bare);
	print_line("packages", &p.line, "none");
	buf_free(&p.names);
	buf_free(&p.line);
}

static void show_refused(struct show *w)
{
	static const struct {
		const char *class, *said;
	} verbs[] = {{"exec", "run "},        {"connect", "connect to "}, {"bind", "listen on "},
	             {"resolve", "look up "}, {"install", "install "},    {"stat", "look at "}};
	sqlite3_stmt *stmt = ask(w, "SELECT a.class, " OBJECT ", count(*)" OF_SESSION BATCH_REFUSED
	                            " AND a.kind = 'decision' AND a.answer <> 'allow'"
	                            " GROUP BY 1, 2 ORDER BY min(e.id)");
	auto_buf line = BUF_INIT;
	auto_buf head = BUF_INIT;
	uint64_t all = 0;
	unsigned shown = 0;

	for (; row(w, stmt); shown++) {
		struct rows_text class = read_text(stmt, 0);
		struct rows_text object = read_text(stmt, 1);
		const char *verb = NULL;

		all += number_at(stmt, 2);
		if (shown == REFUSED_SHOWN)
			buf_str(&line, " · …");
		if (shown >= REFUSED_SHOWN)
			continue;
		buf_str(&line, shown ? " · " : "");
		for (size_t i = 0; class.bytes && i < sizeof verbs / sizeof verbs[0]; i++)
			if (strcmp(class.bytes, verbs[i].class) == 0)
				verb = verbs[i].said;
		if (verb) {
			buf_str(&line, verb);
		} else {
			audit_put_text(&line, &class);
			buf_chr(&line, ' ');
		}
		audit_put_path(&line, &object);
		if (number_at(stmt, 2) > 1)
			buf_fmt(&line, " (%llu times)", (unsigned long long)number_at(stmt, 2));
	}
	sqlite3_finalize(stmt);
	if (all) {
		text_thousands(&head, all);
		buf_str(&head, ": ");
		buf_str(&head, buf_text(&line) ? line.data : "");
	}
	print_line("refused", &head, "nothing");
}

/* "paused 3 times, for 41 s": the time that its tree stood still. */
static void show_pauses(struct show *w)
{
	sqlite3_stmt *stmt = ask(w, "SELECT " OBJECT ", e.at_us" OF_SESSION BATCH_LIFE
	                            " AND a.kind = 'session' ORDER BY e.id");
	auto_buf line = BUF_INIT;
	uint64_t since_us = 0;
	uint64_t all_us = 0;
	uint64_t n = 0;

	while (row(w, stmt)) {
		struct rows_text what = read_text(stmt, 0);

		if (audit_is_word(&what, "paused")) {
			since_us = number_at(stmt, 1);
			n++;
		} else if (audit_is_word(&what, "resumed")) {
			all_us += number_at(stmt, 1) - since_us;
		}
	}
	sqlite3_finalize(stmt);
	if (!n)
		return;
	text_thousands(&line, n);
	if (n == 1)
		buf_reset(&line);
	buf_str(&line, n == 1 ? "once" : " times");
	buf_str(&line, ", for ");
	audit_put_span(&line, all_us);
	print_line("paused", &line, "");
}

static void show_record(struct show *w, const struct read_session *s)
{
	struct audit_vouch v = {.db = w->db, .keys = w->keys, .session = w->session};
	auto_buf line = BUF_INIT;

	if (!s->closed)
		buf_str(&line, "still open");
	else
		buf_fmt(&line, "%s (%llu dropped)", s->dropped ? "NOT complete" : "complete",
		        (unsigned long long)s->dropped);
	buf_str(&line, "; ");
	audit_vouch(&v);
	audit_put_vouched(&line, &v);
	free(v.why);
	print_line("record", &line, "");
}

static int show_one(void *ctx, const struct read_session *s)
{
	struct show *w = ctx;

	if (s->id != w->session)
		return 0;
	show_head(s);
	show_policy(w);
	show_programs(w);
	show_used(w);
	show_files(w);
	show_list(w, "network",
	          "SELECT " OBJECT ", count(*)" OF_SESSION BATCH_FLOW DONE
	          " AND a.class IN ('connect', 'bind') GROUP BY 1 ORDER BY 2 DESC, 1",
	          "none");
	show_list(w, "asked for",
	          "SELECT " OBJECT ", count(*)" OF_SESSION BATCH_PACKAGE
	          " AND a.kind = 'package' AND a.answer = 'allow' AND coalesce(d.reason, 0) < 2"
	          " GROUP BY 1 ORDER BY 1",
	          "no packages");
	show_packages(w);
	show_list(w, "secrets",
	          "SELECT " OBJECT " || ' to ' || " OBJECT2 ", count(*)" OF_SESSION BATCH_GRANT
	          " AND a.kind = 'grant' AND a.answer = 'allow' GROUP BY 1 ORDER BY 1",
	          "none given");
	show_refused(w);
	show_pauses(w);
	show_record(w, s);
	return w->err;
}

static int show(const char *db, const char *session, const struct audit_keys *keys)
{
	struct show w = {.db = db, .keys = keys, .store = audit_open(db)};
	int status = w.store ? audit_session_word(w.store, session, &w.session) : AUDIT_USAGE;

	if (!status && read_sessions(w.store, show_one, &w) != 0) {
		log_error("the record cannot be read: %s", store_why(w.store));
		status = AUDIT_USAGE;
	}
	store_close(w.store);
	return status;
}

int audit_show(int argc, char **argv)
{
	static const struct option longs[] = {{"db", required_argument, NULL, 'd'},
	                                      {"key", required_argument, NULL, 'k'},
	                                      {"help", no_argument, NULL, 'h'},
	                                      {NULL, 0, NULL, 0}};
	struct audit_keys keys = {.own = NULL};
	auto_buf path = BUF_INIT;
	const char *db = NULL;
	int status;
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c == 'h')
			return audit_help("show");
		if (c != 'd' && c != 'k')
			return audit_usage("show");
		if (c == 'd')
			db = optarg;
		else if (audit_keys_take(&keys, "show", optarg) != 0)
			return AUDIT_USAGE;
	}
	if (optind != argc - 1)
		return audit_usage("show");
	if (audit_store_path(db, &path) != 0 || !buf_text(&path))
		return AUDIT_USAGE;
	status = audit_keys_find(&keys, "show");
	if (!status)
		status = show(path.data, argv[optind], &keys);
	audit_keys_free(&keys);
	return status;
}
