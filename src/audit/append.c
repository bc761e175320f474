/* The statements of a batch: rows into the store. */
#include "audit/bind.h"
#include "audit/columns.h"
#include "audit/store_sql.h"

static const char *const texts[] = {
	[SQL_STRING] = "INSERT INTO string VALUES (?,?,?,?)",
	[SQL_ACTOR] = "INSERT INTO actor VALUES (?,?,?,?,?,?,?)",
	[SQL_ACT] = "INSERT INTO act VALUES (?,?,?,?,?,?,?,?,?,?,?)",
	[SQL_DETAIL] = "INSERT INTO detail VALUES (?,?,?,?,?,?,?,?)",
	/* Of both versions of the schema. */
	[SQL_EVENT] = "INSERT INTO event (id, at_us, took_us, actor, act, object, detail, result,"
		      " mark) VALUES (?,?,?,?,?,?,?,?,?)",
	[SQL_EVENT_SIZED] = "INSERT INTO event VALUES (?,?,?,?,?,?,?,?,?,?,?)",
	[SQL_CLOSING] = "INSERT INTO closing VALUES (?,?,?,?,?,?,?,?,?,?)",
	[SQL_CHECKPOINT] = "INSERT INTO checkpoint VALUES"
			   " (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[SQL_SIGNER] = "INSERT INTO signer VALUES (NULL,?,?,?,?,?)",
	[SQL_TOMBSTONE] = "INSERT INTO tombstone VALUES (?,?,?,?,?,?,?,?,?,?,?)",
	[SQL_SESSION] = "INSERT INTO session VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[SQL_SESSION_SOURCE] = "INSERT INTO session_source VALUES (?,?,?,?,?,?)",
	[SQL_SOURCE] = "INSERT INTO source SELECT ?1, ?2, ?3"
		       " WHERE NOT EXISTS (SELECT 1 FROM source WHERE id = ?1)",
	[SQL_LAST_CHECKPOINT] =
		"SELECT " COLUMNS_CHECKPOINT COLUMNS_CHECKPOINT_FROM " ORDER BY c.id DESC LIMIT 1",
	[SQL_SIGNER_FIND] = "SELECT id FROM signer WHERE public = ? ORDER BY id LIMIT 1",
	[SQL_SESSION_NEXT] = "SELECT 1 + max(coalesce((SELECT max(id) FROM session), 0),"
			     " coalesce((SELECT max(session) FROM tombstone), 0))",
	[SQL_SESSION_FIND] =
		"SELECT s.id, s.opened_us, s.mono_us, k.session IS NOT NULL, c.chain, c.journal,"
		" c.first_seq + c.events FROM session s"
		" LEFT JOIN closing k ON k.session = s.id"
		" JOIN checkpoint c ON c.id ="
		" (SELECT max(id) FROM checkpoint WHERE session = s.id) WHERE s.uuid = ?",
	[SQL_SESSION_COUNTS] =
		"SELECT coalesce(sum(a.kind = 'decision'), 0),"
		" coalesce(sum(a.kind = 'decision' AND a.answer <> 'allow'), 0),"
		" coalesce(sum(a.kind = 'question'), 0), coalesce(sum(a.kind = 'grant'), 0)"
		" FROM checkpoint c CROSS JOIN event e"
		" ON e.id BETWEEN c.first_event AND c.first_event + c.events - 1"
		" JOIN act a ON a.id = e.act WHERE c.session = ?",
	[SQL_CLOSING_FIND] = "SELECT session FROM closing WHERE session = ?",
	[SQL_SESSION_NAMED] = "SELECT 1 FROM session WHERE name = ?1"
			      " UNION ALL SELECT 1 FROM tombstone WHERE name = ?1",
};
_Static_assert(sizeof texts / sizeof texts[0] == STORE_SQL_COUNT, "every statement has a text");

const char *store_sql_text(enum store_sql which)
{
	return texts[which];
}

int store_put_string(struct store *s, const struct rows_string *row, int64_t mark)
{
	struct binding b;
	int err = bind_start(s, SQL_STRING, &b);

	if (err)
		return err;
	bind_id(&b, row->id);
	bind_id(&b, row->prefix);
	bind_text(&b, &row->text);
	bind_int(&b, mark);
	return bind_finish(&b);
}

int store_put_actor(struct store *s, const struct rows_actor *row, int64_t mark)
{
	struct binding b;
	int err = bind_start(s, SQL_ACTOR, &b);

	if (err)
		return err;
	bind_id(&b, row->id);
	bind_int(&b, row->pid);
	bind_int(&b, row->tid);
	bind_int(&b, row->ppid);
	bind_int(&b, row->uid);
	bind_id(&b, row->program);
	bind_int(&b, mark);
	return bind_finish(&b);
}

int store_put_act(struct store *s, const struct rows_act *row, int64_t mark)
{
	struct binding b;
	int err = bind_start(s, SQL_ACT, &b);

	if (err)
		return err;
	bind_id(&b, row->id);
	bind_text(&b, &row->kind);
	bind_text(&b, &row->class);
	bind_text(&b, &row->syscall);
	bind_id(&b, row->flags);
	bind_text(&b, &row->answer);
	bind_text(&b, &row->judge);
	bind_id(&b, row->rule_file);
	bind_id(&b, row->rule_line);
	bind_id(&b, row->rule_text);
	bind_int(&b, mark);
	return bind_finish(&b);
}

int store_put_detail(struct store *s, const struct rows_detail *row, int64_t mark)
{
	struct binding b;
	int err = bind_start(s, SQL_DETAIL, &b);

	if (err)
		return err;
	bind_id(&b, row->id);
	bind_id(&b, row->object2);
	bind_id(&b, row->cwd);
	bind_id(&b, row->argv);
	bind_id(&b, row->stack);
	if (row->has_sha256)
		bind_blob(&b, row->sha256, sizeof row->sha256);
	else
		bind_null(&b);
	bind_int(&b, row->reason);
	bind_int(&b, mark);
	return bind_finish(&b);
}

int store_put_event(struct store *s, const struct rows_event *row, int64_t mark)
{
	struct binding b;
	int err = bind_start(s, row->has_size ? SQL_EVENT_SIZED : SQL_EVENT, &b);

	if (err)
		return err;
	bind_id(&b, row->id);
	bind_id(&b, row->at_us);
	bind_id(&b, row->took_us);
	bind_id(&b, row->actor);
	bind_id(&b, row->act);
	bind_id(&b, row->object);
	bind_id(&b, row->detail);
	if (row->known)
		bind_int(&b, row->result);
	else
		bind_null(&b);
	bind_int(&b, mark);
	if (row->has_size) {
		bind_id(&b, row->size_before);
		bind_id(&b, row->links_left);
	}
	return bind_finish(&b);
}

int store_put_closing(struct store *s, const struct rows_closing *row, int64_t mark)
{
	struct binding b;
	int err = bind_start(s, SQL_CLOSING, &b);

	if (err)
		return err;
	bind_id(&b, row->session);
	bind_id(&b, row->at_us);
	bind_int(&b, row->status);
	bind_text(&b, &row->reason);
	bind_id(&b, row->decisions);
	bind_id(&b, row->refused);
	bind_id(&b, row->asked);
	bind_id(&b, row->grants);
	bind_id(&b, row->dropped);
	bind_int(&b, mark);
	return bind_finish(&b);
}

int store_put_checkpoint(struct store *s, const struct rows_checkpoint *row)
{
	struct binding b;
	int err = bind_start(s, SQL_CHECKPOINT, &b);

	if (err)
		return err;
	bind_id(&b, row->id);
	bind_id(&b, row->session);
	bind_int(&b, row->kind);
	bind_id(&b, row->at_us);
	bind_int(&b, row->skew_us);
	for (unsigned t = 0; t < ROWS_TABLES; t++) {
		bind_id(&b, row->range[t].first);
		bind_id(&b, row->range[t].count);
	}
	bind_id(&b, row->first_seq);
	bind_id(&b, row->journal);
	bind_int(&b, row->kinds);
	bind_int(&b, row->classes);
	bind_int(&b, row->answers);
	bind_blob(&b, row->prev, sizeof row->prev);
	bind_blob(&b, row->chain, sizeof row->chain);
	bind_blob(&b, row->root, sizeof row->root);
	bind_id(&b, row->signer);
	bind_blob(&b, row->signature, sizeof row->signature);
	return bind_finish(&b);
}

int store_put_signer(struct store *s, struct rows_signer *row)
{
	struct binding b;
	int err = bind_start(s, SQL_SIGNER, &b);

	if (err)
		return err;
	bind_word(&b, signer_role_name(row->role));
	bind_blob(&b, row->public_key, sizeof row->public_key);
	bind_id(&b, row->certified_by);
	bind_blob(&b, row->certificate, sizeof row->certificate);
	bind_id(&b, row->at_us);
	err = bind_finish(&b);
	if (!err)
		row->id = (uint64_t)sqlite3_last_insert_rowid(s->db);
	return err;
}

int store_put_tombstone(struct store *s, const struct rows_tombstone *row)
{
	struct binding b;
	int err = bind_start(s, SQL_TOMBSTONE, &b);

	if (err)
		return err;
	bind_id(&b, row->id);
	bind_id(&b, row->session);
	bind_text(&b, &row->name);
	bind_blob(&b, row->uuid, sizeof row->uuid);
	bind_id(&b, row->at_us);
	bind_text(&b, &row->reason);
	bind_id(&b, row->checkpoints);
	bind_id(&b, row->events);
	bind_blob(&b, row->bridges.bytes, row->bridges.len_bytes);
	bind_id(&b, row->signer);
	bind_blob(&b, row->signature, sizeof row->signature);
	return bind_finish(&b);
}

static int put_source(struct store *s, const struct rows_opening *row, uint32_t i,
                      const struct rows_text *text)
{
	const struct rows_source *source = &row->sources[i];
	struct binding b;
	int err = bind_start(s, SQL_SOURCE, &b);

	if (err)
		return err;
	bind_id(&b, rows_source_id(source->sha256));
	bind_blob(&b, source->sha256, sizeof source->sha256);
	bind_text(&b, text);
	err = bind_finish(&b);
	if (!err)
		err = bind_start(s, SQL_SESSION_SOURCE, &b);
	if (err)
		return err;
	bind_id(&b, rows_session_source_id(row->id, i + 1));
	bind_id(&b, row->id);
	bind_int(&b, (int64_t)i + 1);
	bind_text(&b, &source->name);
	bind_text(&b, &source->path);
	bind_blob(&b, source->sha256, sizeof source->sha256);
	return bind_finish(&b);
}

int store_put_session(struct store *s, const struct rows_opening *row, uint64_t signer,
                      const struct rows_text *source_texts)
{
	const struct rows_text *const parts[] = {&row->argv, &row->cwd,    &row->user,
	                                         &row->host, &row->kernel, &row->version};
	struct binding b;
	int err = bind_start(s, SQL_SESSION, &b);

	if (err)
		return err;
	bind_id(&b, row->id);
	bind_blob(&b, row->uuid, sizeof row->uuid);
	bind_text(&b, &row->name);
	bind_id(&b, row->opened_us);
	bind_id(&b, row->mono_us);
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		bind_text(&b, parts[i]);
	bind_int(&b, row->uid);
	bind_id(&b, signer);
	err = bind_finish(&b);
	for (uint32_t i = 0; !err && i < row->sources_n; i++)
		err = put_source(s, row, i, &source_texts[i]);
	return err;
}
