#include "cmd/audit_vouch.h"

#include "audit/keys.h"
#include "audit/keys_chain.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_words.h"

#include <stdlib.h>

int audit_keys_take(struct audit_keys *k, const char *command, const char *arg)
{
	auto_free char *shown = text_printable_str(arg, 0);

	if (k->named_n < AUDIT_KEYS_MAX && keys_public_read(arg, k->named[k->named_n]) == 0) {
		k->named_n++;
		return 0;
	}
	log_error("audit %s: %s is no public key: give a file as keys/machine.pub, or 64 "
	          "hexadecimal digits",
	          command, shown);
	return AUDIT_USAGE;
}

int audit_keys_find(struct audit_keys *k, const char *command)
{
	auto_free char *why = NULL;
	int err = keys_trusted(&k->own, &k->own_n, &why);

	/* Then they would only be recognised. */
	if (!err || k->named_n)
		return 0;
	log_error("audit %s: which key is this machine's cannot be told: %s. Mend that, or name "
	          "the public key with --key",
	          command, why ? why : err_text(err));
	return AUDIT_USAGE;
}

void audit_keys_free(struct audit_keys *k)
{
	free(k->own);
	k->own = NULL;
	k->own_n = 0;
}

const uint8_t (*audit_keys_list(const struct audit_keys *k, size_t *n))[ROWS_KEY_BYTES]
{
	*n = k->named_n ? k->named_n : k->own_n;
	return (const uint8_t(*)[ROWS_KEY_BYTES])(k->named_n ? k->named : k->own);
}

static void pass_on(void *ctx, const char *sentence)
{
	const struct audit_vouch *v = ctx;

	if (v->say)
		v->say(sentence);
}

/* A store that no session has written to: there is nothing that anybody could vouch for. */
static bool is_empty(const struct verify_result *r)
{
	return !r->any_key && r->rows == 0 && r->sessions == 0 && r->removed == 0;
}

void audit_vouch(struct audit_vouch *v)
{
	struct verify_options o = {
		.db = v->db,
		.try_strangers = true,
		.only = &v->session,
		.only_n = v->session != 0,
		.anchors = v->anchors,
		.anchors_n = v->anchors_n,
		.wrong = pass_on,
		.note = pass_on,
		.ctx = v,
	};
	int err;

	v->why = NULL;
	o.public_keys = audit_keys_list(v->keys, &o.public_keys_n);
	err = verify_store(&o, &v->result, &v->why);
	if (err == -ERR_DAMAGED && v->say)
		v->say(v->why ? v->why : err_text(err));
	if (err && err != -ERR_DAMAGED)
		v->is = AUDIT_UNVERIFIED;
	else if (err || v->result.wrong)
		v->is = AUDIT_CHANGED;
	else
		v->is = v->result.known || is_empty(&v->result) ? AUDIT_VOUCHED : AUDIT_STRANGER;
}

static void put_number(struct buf *out, uint64_t n, const char *what)
{
	text_thousands(out, n);
	buf_fmt(out, " %s%s", what, n == 1 ? "" : "s");
}

static void put_extent(struct buf *out, const struct audit_vouch *v)
{
	const struct verify_result *r = &v->result;

	put_number(out, r->rows, "row");
	buf_str(out, ", ");
	put_number(out, r->checkpoints, "checkpoint");
	if (v->session) {
		buf_str(out, " of session ");
		buf_str(out, r->only_name);
		buf_str(out, ", and the chain of ");
		put_number(out, r->chained, "other");
		return;
	}
	buf_str(out, ", ");
	put_number(out, r->sessions, "session");
	if (r->removed) {
		buf_str(out, " (");
		text_thousands(out, r->removed);
		buf_str(out, " more removed)");
	}
}

static void put_stranger(struct buf *out, const struct audit_vouch *v)
{
	const struct verify_result *r = &v->result;

	if (!r->any_key) {
		buf_str(out, "NOT VOUCHED FOR: they fit each other, and no key has signed them");
		return;
	}
	buf_str(out, "NOT VOUCHED FOR: they fit each other, and are signed by key ");
	keys_name(out, r->signed_by);
	if (v->keys->named_n)
		buf_str(out, ", which is none of those that were named");
	else
		buf_str(out, v->keys->own_n ? ", which this machine does not know"
		                            : "; this machine has none");
	buf_str(out, ". Who has that key can have made them up: name the public key of the machine "
	             "that wrote them with --key");
}

static void put_changed(struct buf *out, const struct audit_vouch *v)
{
	buf_str(out, "NOT INTACT: trust nothing ");
	if (v->session) {
		buf_str(out, "of this session");
	} else if (v->result.vouched_row) {
		buf_str(out, "after row ");
		text_thousands(out, v->result.vouched_row);
	} else {
		buf_str(out, "in it");
	}
	/* Who has not been told what is wrong. */
	if (!v->say)
		buf_str(out, ": see wary audit verify");
}

void audit_put_vouched(struct buf *out, const struct audit_vouch *v)
{
	if (v->is == AUDIT_UNVERIFIED) {
		buf_fmt(out, "cannot be verified: %s", v->why ? v->why : "it cannot be read");
		return;
	}
	if (v->is == AUDIT_CHANGED) {
		put_changed(out, v);
		return;
	}
	put_extent(out, v);
	buf_str(out, ": ");
	if (v->is == AUDIT_STRANGER) {
		put_stranger(out, v);
		return;
	}
	if (is_empty(&v->result)) {
		buf_str(out, "nothing is on it");
		return;
	}
	buf_str(out, "intact, signed by key ");
	audit_put_key(out, v->result.signed_by, (const uint8_t(*)[ROWS_KEY_BYTES])v->keys->own,
	              v->keys->own_n);
}
