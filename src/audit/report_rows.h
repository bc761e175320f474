/* What the report shows of a session's events: each, or where they are too
 * many for a page, equal ones counted together. */
#ifndef WARY_AUDIT_REPORT_ROWS_H
#define WARY_AUDIT_REPORT_ROWS_H

#include "audit/places.h"

#include <sqlite3.h>

/* The time line's bars: parts of the session, by what came of the decisions. */
#define REPORT_BARS 2000
enum report_mark { REPORT_ALLOWED, REPORT_ASKED, REPORT_REFUSED, REPORT_MARKS };

struct report_event {
	uint64_t at_us;
	sqlite3_int64 object, detail; /* ids of the store */
	int64_t result;
	uint32_t actor, act; /* places */
	uint32_t times;
	bool known;
	uint32_t sized;       /* how many of them took something away */
	uint64_t size_before; /* of all of these together */
	uint64_t links_left;  /* of the first */
};

struct report_actor {
	sqlite3_int64 pid, ppid, program; /* pid 0: several processes */
	uint32_t times, refused;
};

struct report_act {
	sqlite3_int64 id; /* of the store */
	bool ordinary;    /* allowed by a rule, and no program's start */
	bool refused;
	unsigned char mark; /* enum report_mark */
};

struct report_rows {
	sqlite3 *db;
	sqlite3_int64 session;
	uint64_t length_us; /* of the session */
	uint64_t total;     /* events of the session, for progress */
	void (*progress)(double share);
	size_t most; /* rows that the page takes */

	unsigned level; /* how they are counted together; 0: not */
	uint32_t bars[REPORT_MARKS][REPORT_BARS];
	struct report_event *events;
	size_t events_n, events_cap;
	struct report_actor *actors;
	size_t actors_cap;
	struct report_act *acts;
	size_t acts_cap;
	sqlite3_int64 *strings; /* by number: the id that stands for all equal ones */
	size_t strings_cap;
	struct places_same same_actors, same_acts, same_strings;
	struct places groups;
	unsigned char secret[16]; /* of the hashes */
	sqlite3_stmt *get_actor, *get_act, *get_folder, *get_string;
};

/** report_rows_read: reads all events of the session, in order of time.
 * @p: with db, session, length_us, total, progress (or NULL) and most set, and
 * else zeros.
 * Returns 0, -ERR_DAMAGED, -ERR_NOMEM. report_rows_done in either case. */
must_check int report_rows_read(struct report_rows *p);

/** report_rows_together: how they were counted together, as a sentence's part;
 * "" where each event has its own row. */
const char *report_rows_together(const struct report_rows *p);

/** report_rows_parts: of how many parts of the session each was counted by
 * itself; 0 where each event has its own row. */
unsigned report_rows_parts(const struct report_rows *p);

/** report_rows_done: frees what was read. */
void report_rows_done(struct report_rows *p);

/** report_prepare, report_step: a statement, and its row for an id.
 * Return 0 or -ERR_DAMAGED. */
must_check int report_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out);
must_check int report_step(sqlite3_stmt *st, sqlite3_int64 id);

#endif
