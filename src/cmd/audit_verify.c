/* wary audit verify */
#include "audit/keys_chain.h"
#include "audit/recover.h"
#include "audit/verify.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_proof.h"
#include "cmd/audit_words.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 16
#define ANCHORS_MAX 16

struct options {
	const char *db, *proof;
	uint8_t keys[KEYS_MAX][ROWS_KEY_BYTES];
	size_t keys_n;
	/* This machine's, its former ones too: where none is named. */
	uint8_t (*own)[ROWS_KEY_BYTES];
	size_t own_n;
	struct anchor anchors[ANCHORS_MAX];
	size_t anchors_n;
	bool help;
};

static int take_key(struct options *o, const char *arg)
{
	if (o->keys_n == KEYS_MAX || keys_public_read(arg, o->keys[o->keys_n]) != 0) {
		log_error("audit verify: %s is no public key: give a file as keys/machine.pub, or "
		          "64 hexadecimal digits",
		          arg);
		return AUDIT_USAGE;
	}
	o->keys_n++;
	return 0;
}

static int take_anchor(struct options *o, const char *arg)
{
	char text[ANCHOR_MAX_BYTES];
	auto_fd fd = open(arg, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);

	if (o->anchors_n == ANCHORS_MAX || n < 0 ||
	    anchor_read(text, (size_t)n, &o->anchors[o->anchors_n]) != 0) {
		log_error("audit verify: %s holds no anchor", arg);
		return AUDIT_USAGE;
	}
	o->anchors_n++;
	return 0;
}

static int take_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"db", required_argument, NULL, 'd'},     {"key", required_argument, NULL, 'k'},
		{"anchor", required_argument, NULL, 'a'}, {"proof", required_argument, NULL, 'p'},
		{"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
	int status = 0;
	int c;

	optind = 0;
	while (!status && (c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c == 'd')
			o->db = optarg;
		else if (c == 'k')
			status = take_key(o, optarg);
		else if (c == 'a')
			status = take_anchor(o, optarg);
		else if (c == 'p')
			o->proof = optarg;
		else if (c == 'h')
			o->help = true;
		else
			status = audit_usage("verify");
	}
	/* A path may stand alone: verify FILE. */
	if (!status && optind == argc - 1 && !o->db)
		o->db = argv[optind++];
	/* A proof needs no record. */
	if (!status && (optind != argc || (o->proof && (o->db || o->anchors_n))))
		status = audit_usage("verify");
	return status;
}

static void print_wrong(void *ctx, const char *sentence)
{
	(void)ctx;
	printf("wary: %s\n", sentence);
}

static void print_number(struct buf *out, uint64_t n, const char *what)
{
	text_thousands(out, n);
	buf_fmt(out, " %s%s", what, n == 1 ? "" : "s");
}

static void print_key(struct buf *out, const struct options *o, const struct verify_result *r)
{
	if (!r->any_key)
		return;
	buf_str(out, ", signed by key ");
	audit_put_key(out, r->signed_by, (const uint8_t(*)[ROWS_KEY_BYTES])o->own, o->own_n);
}

static int print_result(const struct options *o, const struct verify_result *r)
{
	auto_buf line = BUF_INIT;

	if (r->wrong) {
		buf_str(&line, "NOT INTACT: trust nothing ");
		if (r->vouched_row) {
			buf_str(&line, "after row ");
			text_thousands(&line, r->vouched_row);
		} else {
			buf_str(&line, "in it");
		}
	} else {
		print_number(&line, r->rows, "row");
		buf_str(&line, ", ");
		print_number(&line, r->checkpoints, "checkpoint");
		buf_str(&line, ", ");
		print_number(&line, r->sessions, "session");
		if (r->removed) {
			buf_str(&line, " (");
			text_thousands(&line, r->removed);
			buf_str(&line, " more removed)");
		}
		buf_str(&line, ": intact");
		print_key(&line, o, r);
	}
	printf("wary: %s\n", buf_text(&line) ? line.data : "out of memory");
	return r->wrong ? AUDIT_WRONG : AUDIT_FINE;
}

/* Journals of sessions that died become rows first, where that can be done. */
static void recover(const char *db)
{
	char *why = NULL;

	if (recover_store(db, &why) != 0 && why)
		log_detail("%s", why);
	free(why);
}

static int verify(const struct options *o, const uint8_t (*keys)[ROWS_KEY_BYTES], size_t keys_n)
{
	struct verify_options v = {
		.public_keys = keys,
		.public_keys_n = keys_n,
		.anchors = o->anchors,
		.anchors_n = o->anchors_n,
		.wrong = print_wrong,
		.note = print_wrong,
	};
	struct verify_result result;
	auto_buf db = BUF_INIT;
	auto_free char *why = NULL;
	int err;

	if (audit_store_path(o->db, &db) != 0 || !buf_text(&db))
		return AUDIT_USAGE;
	recover(db.data);
	v.db = db.data;
	err = verify_store(&v, &result, &why);
	if (err) {
		printf("wary: %s\n", why ? why : err_text(err));
		if (err != -ERR_DAMAGED)
			return AUDIT_USAGE;
		printf("wary: NOT INTACT: trust nothing in it\n");
		return AUDIT_WRONG;
	}
	if (!keys_n)
		printf("wary: no key was named and this machine has none: only what others than "
		       "the signer changed is found\n");
	return print_result(o, &result);
}

int audit_verify(int argc, char **argv)
{
	struct options o = {0};
	int status = take_options(argc, argv, &o);
	const uint8_t(*keys)[ROWS_KEY_BYTES];
	size_t n;

	if (status || o.help)
		return status ? status : audit_help("verify");
	if (keys_trusted(&o.own, &o.own_n) != 0) {
		log_error("out of memory");
		return AUDIT_USAGE;
	}
	keys = (const uint8_t(*)[ROWS_KEY_BYTES])(o.keys_n ? o.keys : o.own);
	n = o.keys_n ? o.keys_n : o.own_n;
	status = o.proof ? audit_proof_verify(o.proof, keys, n) : verify(&o, keys, n);
	free(o.own);
	return status;
}
