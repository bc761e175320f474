/* Rows from events: what is new gets a row, what is known its id. */
#include "audit/batch_inside.h"

#include <string.h>

/* Shorter folders are not worth a row of their own. */
#define PREFIX_MIN_BYTES 12

/* The id of the next row of a table in this batch. */
static uint64_t next_id(struct batch *b, enum rows_table table)
{
	return b->point.range[table].first + b->point.range[table].count++;
}

static int put_string(struct batch *b, uint64_t prefix, const char *bytes, size_t len_bytes,
                      uint64_t *id)
{
	struct rows_string row = {next_id(b, ROWS_STRINGS), prefix, {bytes, len_bytes}};

	chain_string(&b->chain, &row, NULL);
	merkle_add(&b->tree, &b->chain);
	*id = row.id;
	return store_put_string(b->store, &row, chain_mark(&b->chain));
}

/* How much of a text is a folder that deserves a row of its own. */
static size_t prefix_bytes(const char *text, size_t len_bytes)
{
	const char *slash = *text == '/' ? memrchr(text, '/', len_bytes) : NULL;
	size_t n = slash ? (size_t)(slash - text) + 1 : 0;

	return n >= PREFIX_MIN_BYTES && n < len_bytes ? n : 0;
}

/* @key: of the whole text. */
static int string_new(struct batch *b, const struct intern_key *key, uint64_t prefix,
                      const char *bytes, size_t len_bytes, uint64_t *id)
{
	int err = put_string(b, prefix, bytes, len_bytes, id);

	if (!err)
		intern_add(b->strings, key, *id);
	return err;
}

static int folder_id(struct batch *b, const char *text, size_t len_bytes, uint64_t *id)
{
	struct intern_key key;

	intern_key(b->strings, text, len_bytes, &key);
	*id = intern_find(b->strings, &key);
	return *id ? 0 : string_new(b, &key, 0, text, len_bytes, id);
}

/* The id of a text, which is put into the store where it is not there. */
static int string_find(struct batch *b, const char *text, size_t len_bytes, bool is_path,
                       uint64_t *id)
{
	struct intern_key key;
	uint64_t folder = 0;
	size_t cut;
	int err = 0;

	intern_key(b->strings, text, len_bytes, &key);
	*id = intern_find(b->strings, &key);
	if (*id)
		return 0;
	cut = is_path ? prefix_bytes(text, len_bytes) : 0;
	if (cut)
		err = folder_id(b, text, cut, &folder);
	return err ? err : string_new(b, &key, folder, text + cut, len_bytes - cut, id);
}

static int string_id(struct batch *b, const struct record *r, enum record_text which, uint64_t *id)
{
	const char *text = r->text[which];
	size_t len = r->head.len_bytes[which];
	struct batch_text *last = &b->last[which];
	int err;

	*id = 0;
	if (!text)
		return 0;
	if (last->id && last->len_bytes == len && memcmp(last->bytes, text, len) == 0) {
		*id = last->id;
		return 0;
	}
	err = string_find(b, text, len, which != RECORD_ARGV && which != RECORD_STACK, id);
	if (err || len > sizeof last->bytes)
		return err;
	last->id = *id;
	last->len_bytes = len;
	memcpy(last->bytes, text, len);
	return 0;
}

static int actor_id(struct batch *b, const struct record *r, uint64_t *id)
{
	struct {
		int32_t pid, tid, ppid;
		uint32_t uid;
		uint64_t program;
	} tuple = {r->head.pid, r->head.tid, r->head.ppid, r->head.uid, 0};
	struct intern_key key;
	struct rows_actor *row;
	int err = string_id(b, r, RECORD_PROGRAM, &tuple.program);

	if (err)
		return err;
	intern_key(b->actors, &tuple, sizeof tuple, &key);
	*id = intern_find(b->actors, &key);
	if (*id)
		return 0;
	row = &b->actor_rows[b->point.range[ROWS_ACTORS].count];
	*row = (struct rows_actor){
		.id = next_id(b, ROWS_ACTORS),
		.pid = (uint32_t)tuple.pid,
		.tid = (uint32_t)tuple.tid,
		.ppid = (uint32_t)tuple.ppid,
		.uid = tuple.uid,
		.program = tuple.program,
	};
	*id = row->id;
	intern_add(b->actors, &key, *id);
	return 0;
}

static struct rows_text word(const char *w)
{
	return (struct rows_text){w, strlen(w)};
}

/* What an act is told apart by, without holes. */
struct act_tuple {
	uint64_t flags, rule_file, rule_text;
	uint32_t rule_line;
	uint8_t kind, class, answer, by_human;
	char syscall[BATCH_SYSCALL_MAX_BYTES + 1];
};
_Static_assert(sizeof(struct act_tuple) == 64, "no padding is hashed");

static int act_tuple(struct batch *b, const struct record *r, struct act_tuple *t)
{
	int err;

	*t = (struct act_tuple){
		.flags = r->head.flags,
		.rule_line = r->head.rule_line,
		.kind = r->head.kind,
		.class = r->head.class,
		.answer = r->head.answer,
		.by_human = r->head.bits & RECORD_BY_HUMAN,
	};
	if (r->text[RECORD_SYSCALL]) {
		size_t len = r->head.len_bytes[RECORD_SYSCALL];

		if (len > BATCH_SYSCALL_MAX_BYTES)
			return -ERR_FORMAT;
		memcpy(t->syscall, r->text[RECORD_SYSCALL], len);
	}
	err = string_id(b, r, RECORD_RULE_FILE, &t->rule_file);
	if (!err)
		err = string_id(b, r, RECORD_RULE_TEXT, &t->rule_text);
	return err;
}

static int act_id(struct batch *b, const struct record *r, uint64_t *id)
{
	struct act_tuple t;
	struct intern_key key;
	struct batch_act *act;
	int err = act_tuple(b, r, &t);

	if (err)
		return err;
	intern_key(b->acts, &t, sizeof t, &key);
	*id = intern_find(b->acts, &key);
	if (*id)
		return 0;
	act = &b->act_rows[b->point.range[ROWS_ACTS].count];
	memcpy(act->syscall, t.syscall, sizeof act->syscall);
	act->row = (struct rows_act){
		.id = next_id(b, ROWS_ACTS),
		.flags = t.flags,
		.rule_file = t.rule_file,
		.rule_line = t.rule_line,
		.rule_text = t.rule_text,
		.kind = word(record_kind_name(t.kind)),
		.class = word(record_class_name(t.class)),
		.syscall = word(act->syscall),
		.answer = word(record_answer_name(t.answer)),
		.judge = word(record_judge_name(r)),
	};
	*id = act->row.id;
	intern_add(b->acts, &key, *id);
	return 0;
}

static int detail_id(struct batch *b, const struct record *r, uint64_t *id)
{
	struct rows_detail row = {
		.reason = r->head.reason,
		.has_sha256 = (r->head.bits & RECORD_HAS_SHA256) != 0,
	};
	int err = string_id(b, r, RECORD_OBJECT2, &row.object2);

	*id = 0;
	if (!err)
		err = string_id(b, r, RECORD_CWD, &row.cwd);
	if (!err)
		err = string_id(b, r, RECORD_ARGV, &row.argv);
	if (!err)
		err = string_id(b, r, RECORD_STACK, &row.stack);
	if (err)
		return err;
	if (!row.object2 && !row.cwd && !row.argv && !row.stack && !row.reason && !row.has_sha256)
		return 0;
	if (row.has_sha256)
		memcpy(row.sha256, r->head.sha256, sizeof row.sha256);
	b->detail_rows[b->point.range[ROWS_DETAILS].count] = row;
	row.id = next_id(b, ROWS_DETAILS);
	b->detail_rows[b->point.range[ROWS_DETAILS].count - 1].id = row.id;
	*id = row.id;
	return 0;
}

/* Refused: by a rule, or because nobody could be asked. */
static void count(struct batch *b, const struct record *r)
{
	const struct record_head *h = &r->head;

	b->totals.decisions += h->kind == AUDIT_DECISION;
	b->totals.refused += h->kind == AUDIT_DECISION && h->answer != ANSWER_ALLOW;
	b->totals.asked += h->kind == AUDIT_QUESTION;
	b->totals.grants += h->kind == AUDIT_GRANT;
	b->point.kinds |= 1u << h->kind;
	b->point.classes |= 1u << h->class;
	b->point.answers |= 1u << h->answer;
}

uint64_t batch_since_opening_us(const struct batch *b, uint64_t mono_ns)
{
	uint64_t us = mono_ns / 1000;

	return us > b->who.mono_us ? us - b->who.mono_us : 0;
}

int batch_put_outcome(struct batch *b, const struct record *r, const struct record_outcome *o,
                      bool has_size)
{
	uint64_t end_ns = o ? o->mono_ns : 0;
	struct rows_event row = {
		.at_us = batch_since_opening_us(b, r->head.mono_ns),
		.took_us = end_ns > r->head.mono_ns ? (end_ns - r->head.mono_ns) / 1000 : 0,
		.known = o != NULL,
		.result = o ? o->result : 0,
	};
	int err;

	if (o && has_size && store_has_sizes(b->store) && o->size_before <= INT64_MAX &&
	    o->links_left <= INT64_MAX) {
		row.has_size = true;
		row.size_before = o->size_before;
		row.links_left = o->links_left;
	}

	invariant(!batch_full(b));
	err = actor_id(b, r, &row.actor);
	if (!err)
		err = act_id(b, r, &row.act);
	if (!err)
		err = string_id(b, r, RECORD_OBJECT, &row.object);
	if (!err)
		err = detail_id(b, r, &row.detail);
	if (err)
		return err;
	row.seq = b->point.first_seq + b->point.range[ROWS_EVENTS].count;
	row.id = next_id(b, ROWS_EVENTS);
	b->event_rows[row.seq - b->point.first_seq] = row;
	count(b, r);
	return 0;
}
