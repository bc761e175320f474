/* wary audit hold: what retention must leave. */
#include "audit/hold.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_args.h"
#include "cmd/audit_own.h"
#include "cmd/audit_words.h"

#include <stdio.h>
#include <string.h>

struct target {
	uint8_t uuid[ROWS_UUID_BYTES];
	char name[2 * ROWS_UUID_BYTES + 1];
	uint64_t id;
};

static int name_target(void *ctx, const struct read_session *s)
{
	struct target *t = ctx;

	if (s->id != t->id)
		return 0;
	memcpy(t->uuid, s->uuid, sizeof t->uuid);
	snprintf(t->name, sizeof t->name, "%.*s", (int)s->name.len_bytes, s->name.bytes);
	return 0;
}

static int print_held(void *ctx, const struct read_session *s)
{
	const struct target *t = ctx;
	auto_buf line = BUF_INIT;

	if (memcmp(s->uuid, t->uuid, sizeof t->uuid) != 0)
		return 0;
	audit_put_text(&line, &s->name);
	buf_str(&line, "  ");
	audit_put_text(&line, &s->argv);
	puts(buf_text(&line) ? line.data : "?");
	return 0;
}

/* Without a session: those that are held. */
static int print_all(struct store *s)
{
	struct hold *holds = NULL;
	size_t n = 0;
	int err = hold_list(s, &holds, &n);

	for (size_t i = 0; !err && i < n; i++) {
		struct target t;

		memcpy(t.uuid, holds[i].uuid, sizeof t.uuid);
		err = read_sessions(s, print_held, &t);
	}
	free(holds);
	if (err)
		log_error("the record cannot be read: %s", store_why(s));
	return err ? AUDIT_USAGE : AUDIT_FINE;
}

static int is_held(struct store *s, const uint8_t *uuid, bool *held)
{
	struct hold *holds = NULL;
	size_t n = 0;
	int err = hold_list(s, &holds, &n);

	if (!err)
		*held = hold_of(holds, n, uuid);
	free(holds);
	return err;
}

/* The session that is meant, and whether it is held now. */
static int find(struct store *s, const struct audit_args *o, struct target *t, bool *held)
{
	int status = audit_session_word(s, o->words[0], &t->id);
	int err = 0;

	if (status)
		return status;
	err = read_sessions(s, name_target, t);
	if (!err)
		err = is_held(s, t->uuid, held);
	if (err)
		log_error("the record cannot be read: %s", store_why(s));
	return err ? AUDIT_USAGE : 0;
}

/* Retention that came between finding it and the hold did not know of that. */
static bool is_still_there(const char *db, const struct target *t)
{
	struct store_session session;
	bool there = false;
	struct store *s = audit_open(db);
	int err = s ? store_session_find(s, t->uuid, &session, &there) : 0;

	if (err)
		log_error("the record cannot be read: %s", store_why(s));
	else if (s && !there)
		log_error("session %s was removed meanwhile: there is nothing left to hold (see "
		          "wary audit verify)",
		          t->name);
	store_close(s);
	return there;
}

static int record(const char *db, const struct audit_args *o, const struct target *t, int argc,
                  char **argv)
{
	struct audit *a = audit_own_open(db, argc, argv);
	auto_buf uuid = BUF_INIT;
	struct audit_event e;
	int err = 0;

	if (!a)
		return AUDIT_USAGE;
	text_hex(&uuid, t->uuid, sizeof t->uuid);
	e = audit_own_event(o->release ? HOLD_OFF : HOLD_ON, buf_text(&uuid));
	err = e.object2 ? audit_note(a, &e, 0) : -ERR_NOMEM;
	if (err)
		log_error("it cannot be recorded: %s", err_text(err));
	if (audit_own_close(a, err ? AUDIT_USAGE : 0) != 0 || err)
		return AUDIT_USAGE;
	if (!o->release && !is_still_there(db, t))
		return AUDIT_WRONG;
	printf("wary: session %s is %s\n", t->name,
	       o->release ? "not held any more: retention may remove it"
	                  : "held: retention leaves it");
	return AUDIT_FINE;
}

int audit_hold(int argc, char **argv)
{
	struct audit_args o;
	struct target t = {.id = 0};
	auto_buf db = BUF_INIT;
	struct store *s;
	bool held = false;
	int status = audit_args_take("hold", argc, argv, "r", 0, 1, &o);

	if (status || o.help)
		return status ? status : audit_help("hold");
	if (!o.words[0] && o.release)
		return audit_usage("hold");
	if (audit_store_path(o.db, &db) != 0 || !buf_text(&db))
		return AUDIT_USAGE;
	s = audit_open(db.data);
	if (!s)
		return AUDIT_USAGE;
	status = o.words[0] ? find(s, &o, &t, &held) : print_all(s);
	store_close(s);
	if (status || !o.words[0])
		return status;
	if (held != o.release) {
		printf("wary: session %s is %s already\n", t.name, held ? "held" : "not held");
		return AUDIT_FINE;
	}
	return record(db.data, &o, &t, argc, argv);
}
