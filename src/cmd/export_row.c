#include "cmd/export_row.h"

#include "audit/expr.h"
#include "audit/record.h"
#include "base/text.h"
#include "cmd/audit_words.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define REASON_REMOVED 5 /* docs/AUDIT.md, "Installed packages" */
#define HOST_MAX_BYTES 253
#define LABEL_MAX_BYTES 63

static struct rows_text text_of(const char *text)
{
	return (struct rows_text){text, strlen(text)};
}

void export_origin_free(struct export_origin *o)
{
	free(o->user);
	free(o->host);
	free(o->kernel);
	free(o->version);
	*o = (struct export_origin){0};
}

/* Where a text has a NUL, what comes before it. */
static char *copy(sqlite3_stmt *stmt, int i)
{
	struct rows_text t = read_text(stmt, i);
	char *text = strndup(t.bytes ? t.bytes : "", t.len_bytes);

	invariant(text != NULL);
	return text;
}

/* @name: or NULL: by its id. */
static int look_up(struct store *s, const char *name, uint64_t id, struct export_origin *o)
{
	static const char sql[] = "SELECT name, lower(hex(uuid)), user, host, kernel, version, uid"
				  " FROM session WHERE name = ?1 OR id = ?2";
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(store_db(s), sql, -1, &stmt, NULL);

	export_origin_free(o);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK && !name)
		rc = sqlite3_bind_int64(stmt, 2, (sqlite3_int64)id);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		snprintf(o->session, sizeof o->session, "%s", read_text(stmt, 0).bytes);
		snprintf(o->uuid, sizeof o->uuid, "%s", read_text(stmt, 1).bytes);
		o->user = copy(stmt, 2);
		o->host = copy(stmt, 3);
		o->kernel = copy(stmt, 4);
		o->version = copy(stmt, 5);
		o->uid = (uint32_t)sqlite3_column_int64(stmt, 6);
	}
	sqlite3_finalize(stmt);
	return rc == SQLITE_DONE ? -ERR_NOTFOUND : store_code(rc);
}

int export_origin_find(struct export_origin *o, struct store *s, uint64_t session)
{
	return look_up(s, NULL, session, o);
}

static int find(int (*of)(const char *), const struct rows_text *word)
{
	/* SQLite ends texts with a NUL. */
	return word->bytes ? of(word->bytes) : -1;
}

static enum export_process process_of(const struct read_event *e)
{
	if (audit_is_word(&e->kind, "package"))
		return e->reason == REASON_REMOVED ? EXPORT_ENDED : EXPORT_STARTED;
	if (audit_is_word(&e->object2, "started"))
		return EXPORT_STARTED;
	return audit_is_word(&e->object2, "forked") ? EXPORT_FORKED : EXPORT_ENDED;
}

static enum export_outcome outcome_of(const struct export_row *x)
{
	if (x->refused)
		return EXPORT_FAILED;
	if (!x->e->known)
		return EXPORT_UNKNOWN;
	return x->e->result < 0 ? EXPORT_FAILED : EXPORT_DONE;
}

/* A name as RFC 1123 has it, underscores allowed as everywhere. */
static bool is_host(const struct rows_text *t)
{
	size_t label = 0;

	if (!t->len_bytes || t->len_bytes > HOST_MAX_BYTES)
		return false;
	for (size_t i = 0; i < t->len_bytes; i++) {
		char c = t->bytes[i];
		bool letter =
			(c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

		if (c == '.' && !label)
			return false;
		if (c != '.' && !letter && (c != '_') && (c != '-' || !label))
			return false;
		label = c == '.' ? 0 : label + 1;
		if (label > LABEL_MAX_BYTES)
			return false;
	}
	return true;
}

static struct export_place place_of(const struct read_event *e, bool resolve)
{
	struct export_place p = {.name = e->object, .port = -1};
	uint8_t ip[16];
	size_t host;

	if (!e->object.len_bytes || text_starts(e->object.bytes, "unix:"))
		return p;
	host = resolve ? e->object.len_bytes : expr_host(e->object.bytes, e->object.len_bytes);
	p.name.len_bytes = host;
	if (host + 1 < e->object.len_bytes) {
		unsigned long long port = 0;

		if (text_number(e->object.bytes + host + 1, UINT16_MAX, &port) == 0)
			p.port = (int)port;
	}
	if (host > 2 && p.name.bytes[0] == '[' && p.name.bytes[host - 1] == ']') {
		p.name.bytes++;
		p.name.len_bytes -= 2;
	}
	if (p.name.len_bytes < sizeof p.ip) {
		memcpy(p.ip, p.name.bytes, p.name.len_bytes);
		p.ip[p.name.len_bytes] = '\0';
	}
	if (inet_pton(AF_INET, p.ip, ip) == 1 || inet_pton(AF_INET6, p.ip, ip) == 1) {
		p.name = (struct rows_text){0};
	} else {
		p.ip[0] = '\0';
		p.is_host = is_host(&p.name);
	}
	return p;
}

int export_row_make(struct export_row *out, struct store *s, struct export_origin *origin,
                    const struct read_event *e)
{
	int err = 0;

	if (!audit_is_word(&e->session, origin->session))
		err = look_up(s, e->session.bytes ? e->session.bytes : "", 0, origin);
	if (err)
		return err;
	*out = (struct export_row){
		.e = e,
		.origin = origin,
		.kind = find(record_kind_find, &e->kind),
		.class = find(record_class_find, &e->class),
		.answer = find(record_answer_find, &e->answer),
		.process = process_of(e),
		.cut_chars = out->cut_chars,
	};
	out->refused = out->answer != ANSWER_ALLOW;
	out->outcome = outcome_of(out);
	out->place = place_of(e, out->class == CLASS_RESOLVE);
	return 0;
}

void export_row_text(struct buf *out, const struct export_row *x, const struct rows_text *t)
{
	if (t->bytes)
		text_printable(out, t->bytes, t->len_bytes, x->cut_chars);
}

void export_row_action(struct buf *out, const struct export_row *x)
{
	static const char *const processes[] = {
		[EXPORT_STARTED] = "process-started",
		[EXPORT_FORKED] = "process-forked",
		[EXPORT_ENDED] = "process-ended",
	};

	if (x->kind == AUDIT_PROCESS)
		buf_str(out, processes[x->process]);
	else
		export_row_text(out, x, x->kind == AUDIT_DECISION ? &x->e->class : &x->e->kind);
}

void export_row_message(struct buf *out, const struct export_row *x)
{
	export_row_text(out, x, &x->e->answer);
	buf_chr(out, ' ');
	export_row_action(out, x);
	if (x->e->object.len_bytes) {
		buf_chr(out, ' ');
		export_row_text(out, x, &x->e->object);
	}
	if (x->e->object2.len_bytes) {
		buf_str(out, " (");
		export_row_text(out, x, &x->e->object2);
		buf_chr(out, ')');
	}
	if (x->e->program.len_bytes) {
		buf_str(out, " by ");
		export_row_text(out, x, &x->e->program);
	}
}

struct rows_text export_row_base(const struct rows_text *path)
{
	const char *slash = path->len_bytes ? memrchr(path->bytes, '/', path->len_bytes) : NULL;
	struct rows_text base = *path;

	if (!path->len_bytes)
		return text_of("");
	if (slash && slash + 1 < path->bytes + path->len_bytes) {
		base.len_bytes -= (size_t)(slash + 1 - path->bytes);
		base.bytes = slash + 1;
	}
	return base;
}

int export_row_status(const struct export_row *x)
{
	int status = (int)x->e->reason;

	if (x->e->reason < 0)
		return -1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

unsigned export_row_severity(const struct export_row *x)
{
	if (x->answer == ANSWER_KILL)
		return 2;
	return x->refused;
}
