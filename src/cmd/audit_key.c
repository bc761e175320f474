/* wary audit key: the machine's signing keys, and their rotation. */
#include "audit/keys_rotate.h"
#include "audit/machine.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_args.h"
#include "cmd/audit_own.h"
#include "cmd/audit_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_key(struct buf *out, const struct keys_chain *c, size_t i)
{
	const struct keys_link *l = &c->links[i];

	keys_name(out, l->public_key);
	buf_str(out, "  ");
	text_hex(out, l->public_key, sizeof l->public_key);
	buf_str(out, "  since ");
	audit_put_time(out, l->made_us, AUDIT_TIME_MINUTE);
	if (i < c->former_n) {
		buf_str(out, ", replaced ");
		audit_put_time(out, l[1].made_us, AUDIT_TIME_MINUTE);
	}
}

static int print_chain(const struct keys_chain *c)
{
	for (size_t i = c->former_n + 1; i-- > 0;) {
		auto_buf line = BUF_INIT;

		put_key(&line, c, i);
		puts(buf_text(&line) ? line.data : "?");
	}
	return AUDIT_FINE;
}

static int print_json(const struct keys_chain *c)
{
	for (size_t i = c->former_n + 1; i-- > 0;) {
		const struct keys_link *l = &c->links[i];
		auto_buf hex = BUF_INIT;

		text_hex(&hex, l->public_key, sizeof l->public_key);
		printf("{\"public\":\"%s\",\"made_us\":%llu,\"replaced_us\":",
		       buf_text(&hex) ? hex.data : "", (unsigned long long)l->made_us);
		if (i < c->former_n)
			printf("%llu}\n", (unsigned long long)l[1].made_us);
		else
			puts("null}");
	}
	return AUDIT_FINE;
}

static int list(bool json)
{
	struct keys *machine = NULL;
	struct keys_chain *c = NULL;
	auto_free char *why = NULL;
	int err = keys_machine(false, &machine, &why);
	int status = AUDIT_USAGE;

	if (!err)
		err = keys_chain_load(machine, &c, &why);
	if (err)
		log_error("%s", why ? why : err_text(err));
	else
		status = json ? print_json(c) : print_chain(c);
	keys_free(machine);
	keys_chain_free(c);
	return status;
}

/* The new key into this record at once; others get it with their next session. */
static int put_rows(const char *db, const struct keys_chain *c)
{
	struct store *s = NULL;
	struct rows_checkpoint last;
	auto_free char *why = NULL;
	uint64_t id;
	int err = store_open(db, STORE_WRITE, &s, &why);

	if (!err)
		err = store_begin(s, &last);
	if (err) {
		store_close(s);
		return err;
	}
	err = machine_put(s, c, &id);
	if (!err)
		err = store_commit(s);
	if (err)
		store_rollback(s);
	store_close(s);
	return err;
}

static void say_replaced(const struct keys_rotation *r)
{
	auto_buf line = BUF_INIT;

	buf_str(&line, "the signing key is now ");
	keys_name(&line, r->fresh->public_key);
	buf_str(&line, ", certified by ");
	keys_name(&line, r->old->public_key);
	buf_str(&line, ", whose secret half was wiped; keep ");
	text_printable(&line, r->folder, strlen(r->folder), 0);
	buf_str(&line, "/machine.pub where you kept the one before");
	printf("wary: %s\n", buf_text(&line) ? line.data : "out of memory");
}

/* On record before it is done, and what became of it after. */
static int rotate(struct keys_rotation *r, const char *db, struct audit *own)
{
	auto_buf hex = BUF_INIT;
	bool replaced = false;
	struct receipt *receipt;
	struct audit_event e;
	int err;

	text_hex(&hex, r->fresh->public_key, ROWS_KEY_BYTES);
	e = audit_own_event("key rotate", buf_text(&hex));
	receipt = e.object2 ? audit_intent(own, &e) : NULL;
	if (!receipt) {
		log_error("nothing was done, since it cannot be recorded");
		return AUDIT_USAGE;
	}
	err = keys_rotate_commit(r, &replaced);
	if (err)
		log_error(replaced ? "the key was replaced, but the old one is not wiped yet (%s): "
		                     "the next session's start does it"
		                   : "the key was not replaced: %s",
		          err == -ERR_SYS ? strerrordesc_np(errno) : err_text(err));
	if (audit_outcome(own, receipt, replaced ? 0 : -EIO) != 0)
		log_error("what became of it cannot be recorded");
	if (replaced && put_rows(db, r->chain) != 0)
		log_detail("the next session puts the new key into the record");
	if (replaced && !err)
		say_replaced(r);
	return err ? AUDIT_USAGE : AUDIT_FINE;
}

static int begin(const char *db, int argc, char **argv)
{
	struct keys_rotation r;
	auto_free char *why = NULL;
	struct audit *own = NULL;
	int status = AUDIT_USAGE;
	int err = keys_rotate_begin(&r, &why);

	if (err)
		log_error("%s", why ? why : err_text(err));
	else
		own = audit_own_open(db, argc, argv);
	if (own) {
		status = rotate(&r, db, own);
		if (audit_own_close(own, status) != 0)
			status = AUDIT_USAGE;
	}
	keys_rotate_end(&r);
	return status;
}

int audit_key(int argc, char **argv)
{
	struct audit_args o;
	auto_buf db = BUF_INIT;
	int status = audit_args_take("key", argc, argv, "j", 0, 1, &o);

	if (status || o.help)
		return status ? status : audit_help("key");
	if (!o.words_n)
		return list(o.json);
	if (strcmp(o.words[0], "rotate") != 0 || o.json)
		return audit_usage("key");
	if (audit_store_path(o.db, &db) != 0 || !buf_text(&db))
		return AUDIT_USAGE;
	return begin(db.data, argc, argv);
}
