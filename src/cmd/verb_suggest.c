/* suggest: from the decisions of a session to a policy for the next. */
#include "audit/store.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/paths.h"
#include "cmd/verbs.h"
#include "cmd/where.h"
#include "policy/explain.h"
#include "policy/suggest.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>

enum { USES_MAX = 10000000 };

/* The uses of a session; objects are owned. */
struct uses {
	struct suggest_use *v;
	size_t n, cap;
	uint64_t decisions;
};

static void drop_uses(struct uses *u)
{
	for (size_t i = 0; i < u->n; i++)
		free((char *)u->v[i].object);
	free(u->v);
}
#define auto_uses __attribute__((cleanup(drop_uses))) struct uses

static void drop_store(struct store **s)
{
	store_close(*s);
}

static void drop_row(sqlite3_stmt **row)
{
	sqlite3_finalize(*row);
}

/* Of the rules that stand for more than one address, the word that says so:
 * the record has the rule that decided. */
static const char *set_of(const char *rule)
{
	static const char *const sets[] = {"own:*",        "registry:npm",   "registry:pip",
	                                   "registry:dns", "registry:cargo", "registry:go"};
	const char *found = NULL;

	for (size_t i = 0; rule && i < sizeof sets / sizeof sets[0]; i++) {
		if (!strstr(rule, sets[i]))
			continue;
		if (found)
			return NULL; /* the rule names several: it does not say which */
		found = sets[i];
	}
	return found;
}

static int add_use(struct uses *u, const struct suggest_use *use, const char *object)
{
	if (u->n == USES_MAX)
		return -ERR_BOUND;
	if (u->n == u->cap) {
		size_t cap = u->cap ? u->cap * 2 : 256;
		struct suggest_use *grown = reallocarray(u->v, cap, sizeof *grown);

		if (!grown)
			return -ERR_NOMEM;
		u->v = grown;
		u->cap = cap;
	}
	u->v[u->n] = *use;
	u->v[u->n].object = strdup(object);
	if (!u->v[u->n].object)
		return -ERR_NOMEM;
	u->decisions += use->count;
	u->n++;
	return 0;
}

/* A row of the query below. */
enum column {
	COLUMN_CLASS,
	COLUMN_OBJECT,
	COLUMN_OBJECT2,
	COLUMN_RULE_FILE,
	COLUMN_RULE_TEXT,
	COLUMN_SYSCALL,
	COLUMN_FLAGS,
	COLUMN_COUNT,
};

static const char *text_at(sqlite3_stmt *row, enum column column)
{
	return (const char *)sqlite3_column_text(row, (int)column);
}

/* What a call asked besides: the record has one row for it. */
static int take_rest(struct uses *u, sqlite3_stmt *row, const struct suggest_use *use)
{
	const char *syscall = text_at(row, COLUMN_SYSCALL);
	const char *object2 = text_at(row, COLUMN_OBJECT2);
	int64_t flags = sqlite3_column_int64(row, COLUMN_FLAGS);
	struct suggest_use more = *use;
	int err = 0;

	if (!syscall || use->class > CLASS_LINK)
		return 0;
	if (text_starts(syscall, "open") || strcmp(syscall, "creat") == 0) {
		more.class = CLASS_READ;
		if (use->class != CLASS_READ && (flags & O_ACCMODE) == O_RDWR)
			err = add_use(u, &more, text_at(row, COLUMN_OBJECT));
		more.class = CLASS_WRITE;
		if (!err && use->class == CLASS_READ &&
		    ((flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC)))
			err = add_use(u, &more, text_at(row, COLUMN_OBJECT));
		return err;
	}
	more.class = CLASS_CREATE;
	if (object2 && *object2 == '/' && (strstr(syscall, "rename") || strstr(syscall, "link")))
		err = add_use(u, &more, object2);
	return err;
}

/* A script was run by its interpreter, which is a program of its own. */
static int take_interpreter(struct uses *u, const struct suggest_use *use, const char *script)
{
	auto_fd fd = open(script, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	auto_free char *canonical = NULL;
	char head[256];
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head - 1);
	char *path = head + 2;

	if (n < 3 || head[0] != '#' || head[1] != '!')
		return 0;
	head[n] = '\0';
	path += strspn(path, " \t");
	path[strcspn(path, " \t\r\n")] = '\0';
	if (*path != '/' || paths_canonical(path, &canonical))
		return 0;
	return add_use(u, use, canonical);
}

static int take_row(struct uses *u, sqlite3_stmt *row)
{
	const char *class = text_at(row, COLUMN_CLASS);
	const char *object = text_at(row, COLUMN_OBJECT);
	const char *file = text_at(row, COLUMN_RULE_FILE);
	const char *rule = text_at(row, COLUMN_RULE_TEXT);
	int found = class ? policy_class_find(class) : -1;
	struct suggest_use use = {
		.set = set_of(rule),
		.count = (uint64_t)sqlite3_column_int64(row, COLUMN_COUNT),
	};
	int err;

	/* A row that this version does not know is one that it cannot allow. */
	if (found < 0 || !object || !*object)
		return 0;
	/* What the part "keys" allows to one program stays with that program. */
	if (file && rule && strcmp(file, "keys.wary") == 0 && text_starts(rule, "allow"))
		return 0;
	use.class = (enum policy_class)found;
	/* A name that was looked up for a set: the set looks it up again. */
	if (use.class == CLASS_RESOLVE && use.set)
		use.class = CLASS_CONNECT;
	if (use.class != CLASS_CONNECT && use.class != CLASS_BIND)
		use.set = NULL;
	err = add_use(u, &use, object);
	if (!err && use.class == CLASS_EXEC)
		err = take_interpreter(u, &use, object);
	return err ? err : take_rest(u, row, &use);
}

/* Reads through the documented views, wary's own; what the floor refused is no decision of
 * a policy.  Returns 0, -ERR_NOTFOUND, -ERR_FORMAT, or an error of add_use. */
static int read_uses(sqlite3 *db, const char *session, struct uses *u)
{
	static const char sql[] =
		"SELECT class, object, object2, rule_file, rule_text, syscall, flags, count(*)"
		" FROM (SELECT class, CAST(object AS TEXT) AS object,"
		"  CAST(object2 AS TEXT) AS object2, CAST(rule_file AS TEXT) AS rule_file,"
		"  CAST(rule_text AS TEXT) AS rule_text, syscall, flags"
		"  FROM decisions WHERE session = ?1 AND judge <> 'floor'"
		"  UNION ALL SELECT 'install', CAST(object AS TEXT), NULL, NULL, NULL, NULL, 0"
		"  FROM packages WHERE session = ?1 AND coalesce(reason, 0) < 2)" /* asked for */
		" GROUP BY 1, 2, 3, 4, 5, 6, 7";
	__attribute__((cleanup(drop_row))) sqlite3_stmt *row = NULL;
	int err = 0;
	int step;

	if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) != SQLITE_OK ||
	    sqlite3_bind_text(row, 1, session, -1, SQLITE_STATIC) != SQLITE_OK)
		return -ERR_FORMAT;
	while (!err && (step = sqlite3_step(row)) == SQLITE_ROW)
		err = take_row(u, row);
	if (!err && step != SQLITE_DONE)
		err = -ERR_DAMAGED;
	if (!err && !u->n)
		err = -ERR_NOTFOUND;
	return err;
}

static int open_store(const struct tool *t, char **path, struct store **out)
{
	auto_free char *why = NULL; /* that it is a store of wary's is what is told */
	int err = where_store(t->db, world_folders(t->world), path);

	if (!err)
		err = store_open(*path, STORE_READ, out, &why);
	return err ? err : store_own_views(*out);
}

/* --- verdicts on uses ------------------------------------------------- */

/* What a policy says to one use; ANSWER_DENY where it cannot be put. */
static enum policy_answer answer_to(struct tool *t, const struct policy *p,
                                    const struct suggest_use *use)
{
	auto_buf text = BUF_INIT;
	auto_report report = NULL;
	struct policy_question *question = NULL;
	const struct facts *facts;
	struct verdict v = {.answer = ANSWER_DENY};

	buf_fmt(&text, "%s ", policy_class_name(use->class));
	tool_quote(&text, use->object);
	if (!text.failed && policy_question_new(p, world_policy(t->world), buf_text(&text),
	                                        &question, &facts, &report) == 0) {
		policy_decide(p, facts, &v);
		policy_question_free(question);
	}
	return v.answer;
}

/* Marks what the part "keys" refuses: that is named behind it. */
static int mark_refused(struct tool *t, struct uses *u)
{
	auto_policy keys = NULL;
	int status = tool_load(t, "keys", true, false, &keys, NULL);

	for (size_t i = 0; !status && i < u->n; i++)
		if (!u->v[i].set && answer_to(t, keys, &u->v[i]) >= ANSWER_DENY)
			u->v[i].refused = true;
	return status;
}

/* The suggestion as a policy, under a name that no file has. */
static int load_text(struct tool *t, struct buf *text, struct policy **out)
{
	static const char name[] = "suggested";
	const char *words[] = {name, NULL};
	auto_report report = NULL;
	int err = text->failed ? -ERR_NOMEM
	                       : world_overlay(t->world, name, "suggested.wary", buf_text(text),
	                                       text->len_bytes);

	err = err ? err : policy_load(world_policy(t->world), words, out, &report);
	if (err == -ERR_POLICY)
		tool_print_report(t, stderr, report);
	return err;
}

/* Whatever the rules do not cover is named by itself: the text covers its
 * session, or says what it cannot. */
static int cover_rest(struct tool *t, const struct suggest_folders *f, const struct uses *u,
                      struct buf *text)
{
	auto_policy p = NULL;
	auto_buf rest = BUF_INIT;
	int err = load_text(t, text, &p);

	for (size_t i = 0; !err && i < u->n; i++)
		if (!u->v[i].set && answer_to(t, p, &u->v[i]) != ANSWER_ALLOW)
			suggest_rule(f, &u->v[i], &rest);
	if (err || !rest.len_bytes)
		return err;
	buf_str(text, "\n# By themselves.\n");
	buf_add(text, rest.data, rest.len_bytes);
	policy_free(p);
	p = NULL;
	return load_text(t, text, &p);
}

static void write_head(const char *session, const struct uses *u, struct buf *text)
{
	auto_free char *shown = text_printable_str(session, 40);

	buf_fmt(text, "wary 1\n# Suggested from session %s: ", shown);
	text_thousands(text, u->decisions);
	buf_str(text, " decisions, of which each rule stands for the\n"
	              "# number behind it. Read it before you use it: it allows what the session\n"
	              "# did, not what is right.\n\n"
	              "default ask\n");
}

static int write_out(struct tool *t, struct buf *text)
{
	int err = text->failed ? -ERR_NOMEM : 0;

	if (!err && t->output)
		err = paths_write(t->output, text->data, text->len_bytes, 0644);
	else if (!err)
		fwrite(text->data, 1, text->len_bytes, stdout);
	return err ? tool_failed(t, t->output ? t->output : "the suggestion", err) : TOOL_CLEAN;
}

/* The folders of the session, not of whoever reads about it. */
static int move_to(struct tool *t, sqlite3 *db)
{
	static const char sql[] = "SELECT CAST(cwd AS TEXT) FROM sessions WHERE session = ?1";
	__attribute__((cleanup(drop_row))) sqlite3_stmt *row = NULL;
	auto_free char *output = NULL;
	const char *cwd;

	if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) != SQLITE_OK ||
	    sqlite3_bind_text(row, 1, t->args[0], -1, SQLITE_STATIC) != SQLITE_OK)
		return -ERR_FORMAT;
	if (sqlite3_step(row) != SQLITE_ROW)
		return -ERR_NOTFOUND;
	if (t->output && paths_canonical(t->output, &output))
		return -ERR_NOTFOUND;
	cwd = (const char *)sqlite3_column_text(row, 0);
	if (!cwd || chdir(cwd))
		return 0; /* it is gone: the rules say the same by other names */
	if (output) {
		free(t->made);
		t->output = t->made = ptr_take(output);
	}
	world_free(t->world);
	t->world = NULL;
	return world_new(&t->world);
}

static int read_session(struct tool *t, struct uses *u)
{
	__attribute__((cleanup(drop_store))) struct store *store = NULL;
	auto_free char *path = NULL;
	auto_free char *session = text_printable_str(t->args[0], 40);
	int err = open_store(t, &path, &store);

	if (err)
		return tool_failed(t, path ? path : "the store", err);
	err = read_uses(store_db(store), t->args[0], u);
	err = err ? err : move_to(t, store_db(store));
	if (err == -ERR_NOTFOUND) {
		log_error("policy suggest: no decisions of a session \"%s\" in %s", session, path);
		return CMD_FAILED;
	}
	return err ? tool_failed(t, path, err) : TOOL_CLEAN;
}

int verb_suggest(struct tool *t)
{
	struct suggest_folders f;
	const struct folders *d;
	auto_uses u = {NULL, 0, 0, 0};
	auto_buf text = BUF_INIT;
	int status = read_session(t, &u);
	int err;

	status = status ? status : mark_refused(t, &u);
	if (status)
		return status;
	d = world_folders(t->world);
	f = (struct suggest_folders){d->home,  d->project, d->gitdir, d->tmpdir,
	                             d->cache, d->config,  d->state,  d->runtime};
	write_head(t->args[0], &u, &text);
	err = suggest_write(&f, u.v, u.n, &text);
	err = err ? err : cover_rest(t, &f, &u, &text);
	if (err)
		return tool_failed(t, "the suggestion", err);
	return write_out(t, &text);
}
