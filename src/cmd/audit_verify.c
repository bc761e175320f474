/* wary audit verify */
#include "audit/recover.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_proof.h"
#include "cmd/audit_vouch.h"
#include "cmd/audit_words.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANCHORS_MAX 16

struct options {
	const char *db, *proof, *session;
	struct audit_keys keys;
	struct anchor anchors[ANCHORS_MAX];
	size_t anchors_n;
	bool help;
};

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
	static const struct option longs[] = {{"db", required_argument, NULL, 'd'},
	                                      {"key", required_argument, NULL, 'k'},
	                                      {"anchor", required_argument, NULL, 'a'},
	                                      {"proof", required_argument, NULL, 'p'},
	                                      {"session", required_argument, NULL, 's'},
	                                      {"help", no_argument, NULL, 'h'},
	                                      {NULL, 0, NULL, 0}};
	int status = 0;
	int c;

	optind = 0;
	while (!status && (c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c == 'd')
			o->db = optarg;
		else if (c == 'k')
			status = audit_keys_take(&o->keys, "verify", optarg);
		else if (c == 'a')
			status = take_anchor(o, optarg);
		else if (c == 'p')
			o->proof = optarg;
		else if (c == 's')
			o->session = optarg;
		else if (c == 'h')
			o->help = true;
		else
			status = audit_usage("verify");
	}
	/* A path may stand alone: verify FILE. */
	if (!status && optind == argc - 1 && !o->db)
		o->db = argv[optind++];
	/* A proof needs no record. */
	if (!status && (optind != argc || (o->proof && (o->db || o->anchors_n || o->session))))
		status = audit_usage("verify");
	return status;
}

static void print(const char *sentence)
{
	printf("wary: %s\n", sentence);
}

/* What was not read. */
static void print_left(const struct verify_result *r)
{
	auto_buf line = BUF_INIT;

	text_thousands(&line, r->sessions - 1);
	if (r->sessions > 1 && buf_text(&line))
		printf("wary: left out: the rows, policies and keys of %s other session%s, which "
		       "wary audit verify without --session reads\n",
		       line.data, r->sessions == 2 ? "" : "s");
}

static int print_result(const struct audit_vouch *v)
{
	auto_buf line = BUF_INIT;

	if (v->session && v->is != AUDIT_UNVERIFIED)
		print_left(&v->result);
	audit_put_vouched(&line, v);
	print(buf_text(&line) ? line.data : "out of memory");
	if (v->is == AUDIT_UNVERIFIED)
		return AUDIT_USAGE;
	return v->is == AUDIT_VOUCHED ? AUDIT_FINE : AUDIT_WRONG;
}

/* Journals of sessions that died become rows first, where that can be done. */
static void recover(const char *db)
{
	char *why = NULL;

	if (recover_store(db, &why) != 0 && why)
		log_detail("%s", why);
	free(why);
}

/* The session that is meant, by its name. Returns AUDIT_FINE or another status. */
static int find_session(const char *db, const char *word, uint64_t *out)
{
	struct store *s = audit_open(db);
	int status = s ? audit_session_word(s, word, out) : AUDIT_USAGE;

	store_close(s);
	return status;
}

static int verify(const struct options *o)
{
	struct audit_vouch v = {
		.keys = &o->keys,
		.anchors = o->anchors,
		.anchors_n = o->anchors_n,
		.say = print,
	};
	auto_buf db = BUF_INIT;
	int err;

	if (audit_store_path(o->db, &db) != 0 || !buf_text(&db))
		return AUDIT_USAGE;
	recover(db.data);
	v.db = db.data;
	err = o->session ? find_session(db.data, o->session, &v.session) : AUDIT_FINE;
	if (err)
		return err;
	audit_vouch(&v);
	err = print_result(&v);
	free(v.why);
	return err;
}

static int verify_proof(const struct options *o)
{
	size_t n = 0;
	const uint8_t(*keys)[ROWS_KEY_BYTES] = audit_keys_list(&o->keys, &n);

	return audit_proof_verify(o->proof, keys, n);
}

int audit_verify(int argc, char **argv)
{
	struct options o = {0};
	int status = take_options(argc, argv, &o);

	if (status || o.help)
		return status ? status : audit_help("verify");
	status = audit_keys_find(&o.keys, "verify");
	if (!status)
		status = o.proof ? verify_proof(&o) : verify(&o);
	audit_keys_free(&o.keys);
	return status;
}
