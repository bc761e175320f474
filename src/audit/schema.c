#include "audit/schema.h"

#include "audit/schema_events.h"
#include "policy/facts.h"

#include <string.h>

/* It would take the texts apart. */
/* clang-format off */
#define REFUSE " BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END"
/* UPDATE, DELETE, and an INSERT over an existing row: the last by a trigger
 * before INSERT, because REPLACE fires the DELETE trigger only where the
 * program that does it has recursive_triggers on. */
#define GUARD(table, same)                                                           \
	{"trigger", table "_update", table,                                                 \
	 "CREATE TRIGGER " table "_update BEFORE UPDATE ON " table REFUSE},          \
	{"trigger", table "_delete", table,                                                 \
	 "CREATE TRIGGER " table "_delete BEFORE DELETE ON " table REFUSE},          \
	{"trigger", table "_insert", table,                                                 \
	 "CREATE TRIGGER " table "_insert BEFORE INSERT ON " table                   \
	 " WHEN EXISTS (SELECT 1 FROM " table " WHERE " same ")" REFUSE}

#define TABLE(name, columns) {"table", name, name, "CREATE TABLE " name " (" columns ")"}

/* One view does the joining: every start of a session parses them all. The
 * batch's bits first: a batch without such rows is not looked into. */
#define EVENTS(...) EVENTS_OF(", size_before, links_left", __VA_ARGS__)
#define EVENTS_1(...) EVENTS_OF("", __VA_ARGS__)
#define EVENTS_OF(more, name, condition)                                             \
	{"view", name, name, "CREATE VIEW " name " AS SELECT id, session, seq, time,"      \
	 " time_us, took_us, pid, tid, ppid, uid, program, syscall, class, object,"  \
	 " object2, flags, answer, judge, rule_file, rule_line, rule_text, result,"  \
	 " unknown, cwd, argv, stack, sha256, reason" more " FROM events WHERE " condition}
#define KIND(name, bit, kind) name, "batch_kinds & " bit " AND kind = '" kind "'"
#define FLOWS(bits) "flows", "batch_classes & " bits " AND class IN ('connect', 'bind')"
#define EVENTS_VIEWS(VIEW)                                                           \
	VIEW(KIND("decisions", "1", "decision")), VIEW(KIND("processes", "2", "process")),  \
	VIEW(KIND("packages", "4", "package")), VIEW(KIND("grants", "8", "grant")),         \
	VIEW(KIND("questions", "16", "question")), VIEW(KIND("limits", "32", "limit")),     \
	VIEW(FLOWS("768"))
#define EVENT_TABLE(more)                                                            \
	TABLE("event", "id INTEGER PRIMARY KEY, at_us INTEGER NOT NULL,"                        \
	      " took_us INTEGER NOT NULL,"                                                   \
	      " actor INTEGER NOT NULL, act INTEGER NOT NULL, object INTEGER NOT NULL,"      \
	      " detail INTEGER NOT NULL, result INTEGER, mark INTEGER NOT NULL" more)
#define EVENTS_VIEW(columns)                                                         \
	{"view", "events", "events",                                                        \
	 "CREATE VIEW events AS SELECT " columns                                     \
	 ", a.kind AS kind, c.kinds AS batch_kinds, c.classes AS batch_classes,"     \
	 " c.answers AS batch_answers" SCHEMA_EVENT_FROM}
/* clang-format on */
_Static_assert((1u << CLASS_CONNECT | 1u << CLASS_BIND) == 768, "bits");

static const struct schema_object objects[] = {
	TABLE("signer", "id INTEGER PRIMARY KEY, role TEXT NOT NULL, public BLOB NOT NULL,"
                        " certified_by INTEGER NOT NULL, certificate BLOB NOT NULL,"
                        " at_us INTEGER NOT NULL"),
	TABLE("session", "id INTEGER PRIMARY KEY, uuid BLOB NOT NULL, name TEXT NOT NULL,"
                         " opened_us INTEGER NOT NULL, mono_us INTEGER NOT NULL, argv NOT NULL,"
                         " cwd NOT NULL, user NOT NULL, host NOT NULL, kernel NOT NULL,"
                         " version NOT NULL, uid INTEGER NOT NULL, signer INTEGER NOT NULL"),
	TABLE("session_source", "id INTEGER PRIMARY KEY, session INTEGER NOT NULL,"
                                " place INTEGER NOT NULL, name NOT NULL, path NOT NULL,"
                                " sha256 BLOB NOT NULL"),
	TABLE("source", "id INTEGER PRIMARY KEY, sha256 BLOB NOT NULL, text NOT NULL"),
	TABLE("string", "id INTEGER PRIMARY KEY, prefix INTEGER NOT NULL, text NOT NULL,"
                        " mark INTEGER NOT NULL"),
	TABLE("actor", "id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, tid INTEGER NOT NULL,"
                       " ppid INTEGER NOT NULL, uid INTEGER NOT NULL, program INTEGER NOT NULL,"
                       " mark INTEGER NOT NULL"),
	TABLE("act", "id INTEGER PRIMARY KEY, kind TEXT NOT NULL, class TEXT NOT NULL,"
                     " syscall TEXT NOT NULL, flags INTEGER NOT NULL, answer TEXT NOT NULL,"
                     " judge TEXT NOT NULL, rule_file INTEGER NOT NULL, rule_line INTEGER NOT NULL,"
                     " rule_text INTEGER NOT NULL, mark INTEGER NOT NULL"),
	TABLE("detail", "id INTEGER PRIMARY KEY, object2 INTEGER NOT NULL, cwd INTEGER NOT NULL,"
                        " argv INTEGER NOT NULL, stack INTEGER NOT NULL, sha256 BLOB, reason "
                        "INTEGER NOT NULL,"
                        " mark INTEGER NOT NULL"),
	EVENT_TABLE(", " SCHEMA_SIZE_BEFORE ", " SCHEMA_LINKS_LEFT),
	TABLE("closing", "session INTEGER PRIMARY KEY, at_us INTEGER NOT NULL,"
                         " status INTEGER NOT NULL, reason TEXT NOT NULL,"
                         " decisions INTEGER NOT NULL, refused INTEGER NOT NULL,"
                         " asked INTEGER NOT NULL, grants INTEGER NOT NULL,"
                         " dropped INTEGER NOT NULL, mark INTEGER NOT NULL"),
	TABLE("checkpoint",
              "id INTEGER PRIMARY KEY, session INTEGER NOT NULL, kind INTEGER NOT NULL,"
              " at_us INTEGER NOT NULL, skew_us INTEGER NOT NULL,"
              " first_string INTEGER NOT NULL, strings INTEGER NOT NULL,"
              " first_actor INTEGER NOT NULL, actors INTEGER NOT NULL,"
              " first_act INTEGER NOT NULL, acts INTEGER NOT NULL,"
              " first_detail INTEGER NOT NULL, details INTEGER NOT NULL,"
              " first_event INTEGER NOT NULL, events INTEGER NOT NULL,"
              " first_seq INTEGER NOT NULL, journal INTEGER NOT NULL,"
              " kinds INTEGER NOT NULL, classes INTEGER NOT NULL, answers INTEGER NOT NULL,"
              " prev BLOB NOT NULL, chain BLOB NOT NULL, root BLOB NOT NULL,"
              " signer INTEGER NOT NULL, signature BLOB NOT NULL"),
	TABLE("tombstone", "id INTEGER PRIMARY KEY, session INTEGER NOT NULL, name TEXT NOT NULL,"
                           " uuid BLOB NOT NULL, at_us INTEGER NOT NULL, reason TEXT NOT NULL,"
                           " checkpoints INTEGER NOT NULL, events INTEGER NOT NULL,"
                           " bridges BLOB NOT NULL, signer INTEGER NOT NULL,"
                           " signature BLOB NOT NULL"),
	{"index", "checkpoint_session", "checkpoint",
         "CREATE INDEX checkpoint_session ON checkpoint (session)"},
	{"index", "session_name", "session", "CREATE UNIQUE INDEX session_name ON session (name)"},
	GUARD("signer", "id = NEW.id"),
	GUARD("session", "id = NEW.id OR name = NEW.name OR uuid = NEW.uuid"),
	GUARD("session_source", "id = NEW.id"),
	GUARD("source", "id = NEW.id"),
	GUARD("string", "id = NEW.id"),
	GUARD("actor", "id = NEW.id"),
	GUARD("act", "id = NEW.id"),
	GUARD("detail", "id = NEW.id"),
	GUARD("event", "id = NEW.id"),
	GUARD("closing", "session = NEW.session"),
	GUARD("checkpoint", "id = NEW.id"),
	GUARD("tombstone", "id = NEW.id"),
	{"view", "sessions", "sessions",
         "CREATE VIEW sessions AS SELECT s.name AS session,"
         " strftime('%Y-%m-%dT%H:%M:%fZ', s.opened_us / 1e6, 'unixepoch') AS started,"
         " s.opened_us AS started_us, k.at_us AS took_us, s.argv AS command, s.cwd AS cwd,"
         " s.user AS user, s.host AS host, s.uid AS uid, s.kernel AS kernel,"
         " s.version AS version, k.decisions AS decisions, k.refused AS refused,"
         " k.asked AS asked, k.grants AS grants, k.dropped AS dropped, k.status AS status,"
         " k.reason AS reason, k.session IS NULL AS open"
         " FROM session s LEFT JOIN closing k ON k.session = s.id"},
	EVENTS_VIEW(SCHEMA_EVENT_COLUMNS),
	EVENTS_VIEWS(EVENTS),
};

/* What version 1 had otherwise. */
static const struct schema_object first[] = {
	EVENT_TABLE(""),
	EVENTS_VIEW(SCHEMA_EVENT_COLUMNS_1),
	EVENTS_VIEWS(EVENTS_1),
};

/* As wary made it at first, in that version: a batch with connections and nothing else
 * of these bits was passed over. */
static const struct schema_object flows_before = EVENTS_1(FLOWS("1536"));

static bool is_same(const struct schema_object *a, const struct schema_object *b)
{
	return strcmp(a->type, b->type) == 0 && strcmp(a->name, b->name) == 0;
}

const struct schema_object *schema_at(int64_t version, size_t i)
{
	if (i >= sizeof objects / sizeof objects[0])
		return NULL;
	for (size_t n = 0; version == SCHEMA_VERSION_FIRST && n < sizeof first / sizeof first[0];
	     n++)
		if (is_same(&first[n], &objects[i]))
			return &first[n];
	return &objects[i];
}

bool schema_is_earlier(int64_t version, const struct schema_object *o, const char *sql)
{
	return version == SCHEMA_VERSION_FIRST && is_same(o, &flows_before) &&
	       strcmp(sql, flows_before.sql) == 0;
}

/* The sizes are none there; nothing writes to it on such a connection. */
const char schema_first_event[] =
	"CREATE TEMP VIEW event AS SELECT id, at_us, took_us, actor, act, object, detail, result,"
	" mark, NULL AS size_before, NULL AS links_left FROM main.event";
