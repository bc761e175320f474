#include "cmd/audit_proof.h"

#include "audit/keys.h"
#include "audit/proof.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_words.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* One line of a name and a value; nothing where there is no value. */
static void line(const char *name, struct buf *value)
{
	if (!buf_text(value))
		printf("  %-9s (out of memory)\n", name);
	else if (value->len_bytes)
		printf("  %-9s %s\n", name, value->data);
	buf_reset(value);
}

/* Chosen by the child: printable, whole. */
static void put_name(struct buf *out, const struct proof_rows *r, uint64_t id)
{
	struct buf whole;

	buf_init(&whole, PROOF_MAX_BYTES);
	if (proof_text(&whole, r, id) && buf_text(&whole))
		text_printable(out, whole.data ? whole.data : "", whole.len_bytes, 0);
	buf_free(&whole);
}

static void name_line(const char *name, const struct proof_rows *r, uint64_t id)
{
	auto_buf b = BUF_INIT;

	put_name(&b, r, id);
	line(name, &b);
}

static void print_session(const struct proof_rows *r)
{
	const struct rows_opening *o = &r->opening;
	auto_buf b = BUF_INIT;

	audit_put_text(&b, &o->name);
	buf_str(&b, " (");
	text_hex(&b, o->uuid, sizeof o->uuid);
	buf_str(&b, "), seq ");
	text_thousands(&b, r->event.seq);
	line("session", &b);
	audit_put_text(&b, &o->argv);
	line("command", &b);
	buf_str(&b, "in ");
	audit_put_text(&b, &o->cwd);
	buf_str(&b, ", by ");
	audit_put_text(&b, &o->user);
	buf_str(&b, " on ");
	audit_put_text(&b, &o->host);
	line("", &b);
	audit_put_time(&b, r->time_us, AUDIT_TIME_FULL);
	buf_fmt(&b, " (%llu us since 1970), took ", (unsigned long long)r->time_us);
	audit_put_span(&b, r->event.took_us);
	line("time", &b);
}

static void print_verdict(const struct proof_rows *r)
{
	auto_buf b = BUF_INIT;
	const char *name = NULL;

	audit_put_text(&b, &r->act.answer);
	buf_str(&b, ", by ");
	audit_put_text(&b, &r->act.judge);
	if (r->act.rule_file) {
		buf_chr(&b, ' ');
		put_name(&b, r, r->act.rule_file);
		buf_fmt(&b, ":%llu", (unsigned long long)r->act.rule_line);
	}
	line("verdict", &b);
	name_line("rule", r, r->act.rule_text);
	if (!r->event.known)
		buf_str(&b, "unknown");
	else
		buf_fmt(&b, "%lld", (long long)r->event.result);
	if (r->event.known && r->event.result < 0 && r->event.result > -4096)
		name = strerrorname_np((int)-r->event.result);
	if (name) /* the kernel has numbers that have none */
		buf_fmt(&b, " %s", name);
	line("result", &b);
	if (r->event.has_size) {
		text_thousands(&b, r->event.size_before);
		buf_fmt(&b, " bytes before, names left: %llu",
		        (unsigned long long)r->event.links_left);
	}
	line("size", &b);
}

static void print_detail(const struct proof_rows *r)
{
	auto_buf b = BUF_INIT;

	name_line("object2", r, r->detail.object2);
	name_line("argv", r, r->detail.argv);
	name_line("cwd", r, r->detail.cwd);
	if (r->detail.has_sha256)
		text_hex(&b, r->detail.sha256, sizeof r->detail.sha256);
	line("sha256", &b);
	if (r->detail.reason)
		buf_fmt(&b, "%lld", (long long)r->detail.reason);
	line("reason", &b);
	name_line("stack", r, r->detail.stack);
}

static void print_rows(const struct proof_rows *r)
{
	auto_buf b = BUF_INIT;

	print_session(r);
	put_name(&b, r, r->actor.program);
	buf_fmt(&b, "%spid %u, tid %u, parent %u, uid %u", b.len_bytes ? ", " : "", r->actor.pid,
	        r->actor.tid, r->actor.ppid, r->actor.uid);
	line("program", &b);
	audit_put_text(&b, &r->act.kind);
	buf_str(&b, ": ");
	audit_put_text(&b, &r->act.class);
	if (r->act.syscall.len_bytes) {
		buf_str(&b, " by ");
		audit_put_text(&b, &r->act.syscall);
	}
	buf_fmt(&b, ", flags %#llx", (unsigned long long)r->act.flags);
	line("what", &b);
	name_line("object", r, r->event.object);
	print_verdict(r);
	print_detail(r);
}

static int print_proof(const struct proof_rows *r)
{
	uint8_t machine[ROWS_KEY_BYTES];
	auto_free char *why = NULL; /* it is only recognised */
	auto_buf b = BUF_INIT;

	buf_str(&b, "row ");
	text_thousands(&b, r->event.id);
	buf_str(&b, " is on record as follows, signed by key ");
	keys_name(&b, r->machine);
	if (keys_machine_public(machine, &why) == 0 &&
	    memcmp(machine, r->machine, sizeof machine) == 0)
		buf_str(&b, " (this machine)");
	printf("wary: %s\n", buf_text(&b) ? b.data : "out of memory");
	print_rows(r);
	printf("wary: proven. Of other rows it says nothing, nor whether the record still has "
	       "it\n");
	return AUDIT_FINE;
}

static int refuse(const char *why)
{
	printf("wary: NOT PROVEN: %s\n", why);
	return AUDIT_WRONG;
}

static int read_file(const char *file, struct buf *out)
{
	auto_fd fd = open(file, O_RDONLY | O_CLOEXEC);
	auto_free char *shown = text_printable_str(file, 0);
	int err;

	buf_init(out, PROOF_MAX_BYTES);
	err = fd < 0 ? -ERR_SYS : buf_read_file(out, fd);
	if (err == -ERR_SYS)
		log_error("%s cannot be read: %s", shown, strerrordesc_np(errno));
	else if (err)
		log_error("%s cannot be read: %s", shown, err_text(err));
	return err;
}

static int check_text(const struct buf *text, const uint8_t (*keys)[ROWS_KEY_BYTES], size_t keys_n)
{
	struct proof *p = proof_new();
	auto_free struct proof_rows *rows = malloc(sizeof *rows);
	const char *why = NULL;
	int err = p && rows ? proof_read(text->data ? text->data : "", text->len_bytes, p)
	                    : -ERR_NOMEM;
	int status;

	if (!err) {
		err = proof_check(p, keys, keys_n, rows, &why);
		status = err ? refuse(why ? why : err_text(err)) : print_proof(rows);
	} else if (err == -ERR_NOMEM) {
		log_error("%s", err_text(err));
		status = AUDIT_USAGE;
	} else {
		status = refuse("this is no proof as wary audit prove writes it");
	}
	proof_free(p);
	return status;
}

int audit_proof_verify(const char *file, const uint8_t (*keys)[ROWS_KEY_BYTES], size_t keys_n)
{
	auto_buf text = BUF_INIT;

	if (!keys_n) {
		log_error("a proof is checked with the public key of the machine that signed: "
		          "name it with --key");
		return AUDIT_USAGE;
	}
	return read_file(file, &text) != 0 ? AUDIT_USAGE : check_text(&text, keys, keys_n);
}
