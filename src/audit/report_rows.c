#include "audit/report_rows.h"

#include "base/buf.h"
#include "base/own.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* How events are counted together, from level 1 on, until they are few enough:
 * equal ones of the same part of the session. "Ordinary" are those that a rule
 * allowed and that start no program; the others keep more for longer. The last
 * level takes whatever comes. */
static const struct {
	unsigned parts; /* of the session */
	bool program;   /* ordinary: any process of the same program */
	bool folder;    /* ordinary: any name of the same folder */
	bool all;       /* the same for those that are not ordinary */
	const char *said;
} levels[] = {
	{0, false, false, false, ""},
	{400, false, false, false, "equal decisions are counted together"},
	{400, true, false, false, "equal decisions of one program are counted together"},
	{100, true, false, false, "equal decisions of one program are counted together"},
	{100, true, true, false, "decisions of one program in one folder are counted together"},
	{20, true, true, false, "decisions of one program in one folder are counted together"},
	{5, true, true, false, "decisions of one program in one folder are counted together"},
	{1, true, true, false, "decisions of one program in one folder are counted together"},
	{1, true, true, true, "what one program did in one folder is counted together"},
};
#define LEVEL_LAST (sizeof levels / sizeof levels[0] - 1)

/* Keys of actors that stand for all processes of a program: no id is so high. */
#define SEVERAL ((uint64_t)1 << 62)

int report_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out)
{
	return sqlite3_prepare_v2(db, sql, -1, out, NULL) == SQLITE_OK ? 0 : -ERR_DAMAGED;
}

int report_step(sqlite3_stmt *st, sqlite3_int64 id)
{
	sqlite3_reset(st);
	if (sqlite3_bind_int64(st, 1, id) != SQLITE_OK)
		return -ERR_DAMAGED;
	return sqlite3_step(st) == SQLITE_ROW ? 0 : -ERR_DAMAGED;
}

unsigned report_rows_parts(const struct report_rows *p)
{
	return levels[p->level].parts;
}

const char *report_rows_together(const struct report_rows *p)
{
	return levels[p->level].said;
}

void report_rows_done(struct report_rows *p)
{
	places_same_free(&p->same_actors);
	places_same_free(&p->same_acts);
	places_same_free(&p->same_strings);
	places_free(&p->groups);
	sqlite3_finalize(p->get_actor);
	sqlite3_finalize(p->get_act);
	sqlite3_finalize(p->get_folder);
	sqlite3_finalize(p->get_string);
	free(p->events);
	free(p->actors);
	free(p->acts);
	free(p->strings);
}

/* Room for one more in a list of @n; what is new in it is zeros. */
static int room(void **list, size_t *cap, size_t n, size_t size)
{
	size_t more = *cap ? *cap * 2 : 1024;
	char *to;

	if (n < *cap)
		return 0;
	to = reallocarray(*list, more, size);
	if (!to)
		return -ERR_NOMEM;
	memset(to + *cap * size, 0, (more - *cap) * size);
	*list = to;
	*cap = more;
	return 0;
}

static uint64_t hash_of(const struct report_rows *p, const void *bytes, size_t len_bytes)
{
	uint64_t hash;

	_Static_assert(sizeof hash == crypto_shorthash_BYTES, "the whole hash");
	_Static_assert(sizeof p->secret == crypto_shorthash_KEYBYTES, "the whole key");
	invariant(crypto_shorthash((unsigned char *)&hash, bytes, len_bytes, p->secret) == 0);
	return hash;
}

/* The id that stands for all strings of the same text. */
static int string_same(struct report_rows *p, sqlite3_int64 *id)
{
	const void *text;
	uint64_t hash;
	uint32_t place;
	bool fresh;
	int len;
	int err;

	if (!*id)
		return 0;
	if (places_same_find(&p->same_strings, (uint64_t)*id, &place)) {
		*id = p->strings[place];
		return 0;
	}
	err = report_step(p->get_string, *id);
	if (err)
		return err;
	text = sqlite3_column_blob(p->get_string, 0);
	len = sqlite3_column_bytes(p->get_string, 0);
	hash = hash_of(p, len > 0 ? text : "", len > 0 ? (size_t)len : 0);
	err = places_same_add(&p->same_strings, (uint64_t)*id, hash, &place, &fresh);
	if (!err)
		err = room((void **)&p->strings, &p->strings_cap, place, sizeof *p->strings);
	if (err)
		return err;
	if (fresh)
		p->strings[place] = *id;
	*id = p->strings[place];
	return 0;
}

/* @id: of the store, or one that no actor has. */
static int add_actor(struct report_rows *p, uint64_t id, struct report_actor a, uint32_t *place)
{
	sqlite3_int64 what[3] = {a.pid, a.ppid, a.program};
	bool fresh;
	int err;

	if (places_same_find(&p->same_actors, id, place))
		return 0;
	err = places_same_add(&p->same_actors, id, hash_of(p, what, sizeof what), place, &fresh);
	if (!err)
		err = room((void **)&p->actors, &p->actors_cap, *place, sizeof *p->actors);
	if (!err && fresh)
		p->actors[*place] = a;
	return err;
}

static int actor_place(struct report_rows *p, sqlite3_int64 id, uint32_t *place)
{
	struct report_actor a;
	int err;

	if (places_same_find(&p->same_actors, (uint64_t)id, place))
		return 0;
	err = report_step(p->get_actor, id);
	if (err)
		return err;
	a = (struct report_actor){.pid = sqlite3_column_int64(p->get_actor, 0),
	                          .ppid = sqlite3_column_int64(p->get_actor, 1),
	                          .program = sqlite3_column_int64(p->get_actor, 2)};
	err = string_same(p, &a.program);
	return err ? err : add_actor(p, (uint64_t)id, a, place);
}

static bool column_is(sqlite3_stmt *st, int column, const char *word)
{
	const unsigned char *text = sqlite3_column_text(st, column);

	return text && strcmp((const char *)text, word) == 0;
}

/* What the page shows of an act: its words, and the rule. */
static int act_hash(struct report_rows *p, sqlite3_stmt *st, uint64_t *hash)
{
	auto_buf what = BUF_INIT;
	sqlite3_int64 rule[3];
	int err;

	for (int i = 0; i < 5; i++) {
		const unsigned char *word = sqlite3_column_text(st, i);

		buf_str(&what, word ? (const char *)word : "");
		buf_chr(&what, '\0');
	}
	for (int i = 0; i < 3; i++)
		rule[i] = sqlite3_column_int64(st, 5 + i);
	err = string_same(p, &rule[0]);
	if (!err)
		err = string_same(p, &rule[2]);
	if (err)
		return err;
	buf_add(&what, rule, sizeof rule);
	if (what.failed)
		return -ERR_NOMEM;
	*hash = hash_of(p, what.data, what.len_bytes);
	return 0;
}

static int act_place(struct report_rows *p, sqlite3_int64 id, uint32_t *place)
{
	sqlite3_stmt *st = p->get_act;
	uint64_t hash;
	bool allowed;
	bool asked;
	bool fresh = false;
	int err;

	if (places_same_find(&p->same_acts, (uint64_t)id, place))
		return 0;
	err = report_step(st, id);
	if (!err)
		err = act_hash(p, st, &hash);
	if (!err)
		err = places_same_add(&p->same_acts, (uint64_t)id, hash, place, &fresh);
	if (!err)
		err = room((void **)&p->acts, &p->acts_cap, *place, sizeof *p->acts);
	if (err || !fresh)
		return err;
	allowed = column_is(st, 3, "allow");
	asked = column_is(st, 0, "question") || column_is(st, 3, "ask") ||
	        column_is(st, 4, "human");
	p->acts[*place] = (struct report_act){
		.id = id,
		.ordinary = allowed && column_is(st, 0, "decision") && !column_is(st, 1, "exec") &&
	                    !column_is(st, 4, "human"),
		.mark = asked     ? REPORT_ASKED
	                : allowed ? REPORT_ALLOWED
	                          : REPORT_REFUSED,
		.refused = !allowed,
	};
	return 0;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
	return h * 0xff51afd7ed558ccdu;
}

/* Leaves out of @e what its level does not tell apart. */
static int coarsen(struct report_rows *p, struct report_event *e)
{
	bool all = levels[p->level].all || p->acts[e->act].ordinary;
	int err = 0;

	if (all && levels[p->level].program && p->actors[e->actor].pid) {
		sqlite3_int64 program = p->actors[e->actor].program;

		err = add_actor(p, SEVERAL | (uint64_t)program,
		                (struct report_actor){.program = program}, &e->actor);
	}
	if (err || !all || !levels[p->level].folder)
		return err;
	e->detail = 0;
	if (!e->object)
		return 0;
	err = report_step(p->get_folder, e->object);
	if (!err && sqlite3_column_int64(p->get_folder, 0))
		e->object = sqlite3_column_int64(p->get_folder, 0);
	return err ? err : string_same(p, &e->object);
}

static int put_event(struct report_rows *p, const struct report_event *e)
{
	int err = room((void **)&p->events, &p->events_cap, p->events_n, sizeof *p->events);

	if (!err)
		p->events[p->events_n++] = *e;
	return err;
}

static void put_together(struct report_event *to, const struct report_event *e)
{
	to->times += e->times;
	if (!to->sized)
		to->links_left = e->links_left;
	to->sized += e->sized;
	if (__builtin_add_overflow(to->size_before, e->size_before, &to->size_before))
		to->size_before = UINT64_MAX;
}

/* Counts the event with an equal one of the same part of the session. A
 * collision of the 63-bit key would miscount one row of a page that is read by
 * people; the store stays what it is. */
static int group_event(struct report_rows *p, struct report_event e)
{
	uint64_t key;
	uint32_t place;
	bool fresh;
	int err = coarsen(p, &e);

	if (err)
		return err;
	key = mix(mix(e.at_us * levels[p->level].parts / (p->length_us + 1), e.actor), e.act);
	key = mix(mix(mix(key, (uint64_t)e.object), (uint64_t)e.detail),
	          (uint64_t)e.result * 2 + e.known);
	err = places_put(&p->groups, key >> 1, &place, &fresh);
	if (err)
		return err;
	if (fresh)
		return put_event(p, &e);
	put_together(&p->events[place], &e);
	if (e.at_us < p->events[place].at_us)
		p->events[place].at_us = e.at_us;
	return 0;
}

/* What is there already, at the next level: in place, since there are only
 * ever fewer. */
static int next_level(struct report_rows *p)
{
	size_t n = p->events_n;
	int err = 0;

	p->level++;
	p->events_n = 0;
	places_free(&p->groups);
	for (size_t i = 0; i < n && !err; i++)
		err = group_event(p, p->events[i]);
	return err;
}

static int add_event(struct report_rows *p, const struct report_event *e)
{
	int err = p->level ? group_event(p, *e) : put_event(p, e);

	while (!err && p->events_n > p->most && p->level < LEVEL_LAST)
		err = next_level(p);
	return err;
}

static size_t bar_of(const struct report_rows *p, uint64_t at_us)
{
	uint64_t bar = at_us * REPORT_BARS / (p->length_us + 1);

	return bar < REPORT_BARS ? (size_t)bar : REPORT_BARS - 1;
}

static int read_event(struct report_rows *p, sqlite3_stmt *st)
{
	struct report_event e = {
		.at_us = (uint64_t)sqlite3_column_int64(st, 0),
		.object = sqlite3_column_int64(st, 3),
		.detail = sqlite3_column_int64(st, 4),
		.known = sqlite3_column_type(st, 5) != SQLITE_NULL,
		.result = sqlite3_column_int64(st, 5),
		.times = 1,
		.sized = sqlite3_column_type(st, 6) != SQLITE_NULL,
		.size_before = (uint64_t)sqlite3_column_int64(st, 6),
		.links_left = (uint64_t)sqlite3_column_int64(st, 7),
	};
	int err = actor_place(p, sqlite3_column_int64(st, 1), &e.actor);

	if (!err)
		err = act_place(p, sqlite3_column_int64(st, 2), &e.act);
	if (!err)
		err = string_same(p, &e.object);
	if (err)
		return err;
	p->bars[p->acts[e.act].mark][bar_of(p, e.at_us)]++;
	p->actors[e.actor].times++;
	p->actors[e.actor].refused += p->acts[e.act].refused ? 1 : 0;
	return add_event(p, &e);
}

static int read_events(struct report_rows *p)
{
	static const char sql[] =
		"SELECT e.at_us, e.actor, e.act, e.object, e.detail, e.result, "
		"e.size_before, e.links_left FROM checkpoint c "
		"JOIN event e ON e.id >= c.first_event AND e.id < c.first_event + c.events "
		"WHERE c.session = ? ORDER BY e.id";
	sqlite3_stmt *st = NULL;
	uint64_t done = 0;
	int step = SQLITE_DONE;
	int err = report_prepare(p->db, sql, &st);

	if (err)
		return err;
	sqlite3_bind_int64(st, 1, p->session);
	while (!err && (step = sqlite3_step(st)) == SQLITE_ROW) {
		err = read_event(p, st);
		if (p->progress && ++done % 100000 == 0)
			p->progress((double)done / (double)(p->total + 1));
	}
	if (!err && step != SQLITE_DONE)
		err = -ERR_DAMAGED;
	sqlite3_finalize(st);
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct report_event *x = a;
	const struct report_event *y = b;

	return (x->at_us > y->at_us) - (x->at_us < y->at_us);
}

static int open_statements(struct report_rows *p)
{
	int err = report_prepare(p->db, "SELECT pid, ppid, program FROM actor WHERE id = ?",
	                         &p->get_actor);

	if (!err)
		err = report_prepare(p->db, "SELECT prefix FROM string WHERE id = ?",
		                     &p->get_folder);
	if (!err)
		err = report_prepare(p->db,
		                     "SELECT kind, class, syscall, answer, judge, rule_file, "
		                     "rule_line, rule_text FROM act WHERE id = ?",
		                     &p->get_act);
	if (!err)
		err = report_prepare(
			p->db,
			"SELECT CAST(CASE WHEN s.prefix = 0 THEN s.text ELSE CAST(f.text AS BLOB) "
			"|| CAST(s.text AS BLOB) END AS BLOB) FROM string s "
			"LEFT JOIN string f ON f.id = s.prefix WHERE s.id = ?",
			&p->get_string);
	return err;
}

int report_rows_read(struct report_rows *p)
{
	int err = open_statements(p);

	randombytes_buf(p->secret, sizeof p->secret);
	if (!err)
		err = read_events(p);
	if (!err)
		qsort(p->events, p->events_n, sizeof *p->events, by_time);
	return err;
}
