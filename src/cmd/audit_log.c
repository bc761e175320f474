/* wary audit log, wary audit query */
#include "audit/record.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_event.h"
#include "cmd/audit_query.h"
#include "cmd/audit_words.h"
#include "cmd/ender.h"
#include "cmd/table.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLLOW_POLL_MS 250

struct options {
	const char *db;
	const char *session;
	const char *path;
	struct read_filter filter;
	struct buf pattern;
	bool json, follow, all;
	const char *name; /* of the command */
	struct audit_query query;
};

static int take_option(struct options *o, int c)
{
	unsigned long long n = 0;

	if (c == 'd')
		o->db = optarg;
	else if (c == 's')
		o->session = optarg;
	else if (c == 'p')
		return audit_path_word(optarg, &o->pattern, &o->filter);
	else if (c == 'v')
		return audit_verdict_word(optarg, &o->filter);
	else if (c == 'c')
		return audit_class_word(optarg, &o->filter);
	else if (c == 't')
		return audit_since_word(optarg, &o->filter);
	else if (c == 'j')
		o->json = true;
	else if (c == 'f')
		o->follow = true;
	else if (c == 'a')
		o->all = true;
	else if (c == 'n' && text_number(optarg, INT64_MAX, &n) == 0)
		o->filter.last = n;
	else
		return audit_usage(o->name);
	return 0;
}

static int take_options(int argc, char **argv, struct options *o, bool *help)
{
	static const struct option longs[] = {
		{"db", required_argument, NULL, 'd'},    {"session", required_argument, NULL, 's'},
		{"path", required_argument, NULL, 'p'},  {"verdict", required_argument, NULL, 'v'},
		{"class", required_argument, NULL, 'c'}, {"since", required_argument, NULL, 't'},
		{"json", no_argument, NULL, 'j'},        {"follow", no_argument, NULL, 'f'},
		{"all", no_argument, NULL, 'a'},         {"last", required_argument, NULL, 'n'},
		{"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0}};
	int status = 0;
	int c;

	optind = 0;
	while (!status && (c = getopt_long(argc, argv, "hfn:", longs, NULL)) != -1) {
		if (c == 'h')
			*help = true;
		else
			status = take_option(o, c);
	}
	if (!status && !*help && strcmp(o->name, "query") == 0) {
		o->all = true;
		return optind == argc ? audit_usage("query")
		                      : audit_query_take(&o->query, argc - optind, argv + optind,
		                                         "query", &o->filter);
	}
	if (!status && optind == argc - 1 && !o->session)
		o->session = argv[optind++];
	return !status && optind != argc ? audit_usage("log") : status;
}

/* What became of it, where it says more than the verdict. */
static void put_result(struct buf *b, const struct read_event *e)
{
	const char *name;

	if (!e->known) {
		buf_str(b, "unknown");
		return;
	}
	if (e->has_size) {
		buf_str(b, "had ");
		text_thousands(b, e->size_before);
		buf_str(b, " B");
	}
	if (e->result >= 0)
		return;
	/* Its name led elsewhere: the row that follows has what it led to. */
	if (e->result == -ERR_RACE && audit_is_word(&e->kind, "decision"))
		name = "judged anew";
	else if (e->result <= -ERR_BASE)
		name = err_text((int)e->result);
	else
		name = strerrorname_np((int)-e->result);
	buf_str(b, name ? name : "failed");
}

static void put_object(struct buf *b, const struct read_event *e)
{
	audit_put_path(b, &e->object);
	if (e->object2.len_bytes) {
		buf_str(b, e->object.len_bytes ? " → " : "");
		audit_put_path(b, &e->object2);
	}
}

/* The last part of a program's path: what people call it. */
static void put_program(struct buf *b, const struct read_event *e)
{
	const char *slash =
		e->program.len_bytes ? memrchr(e->program.bytes, '/', e->program.len_bytes) : NULL;
	struct rows_text name = e->program;

	if (slash) {
		name.len_bytes -= (size_t)(slash + 1 - name.bytes);
		name.bytes = slash + 1;
	}
	audit_put_text(b, &name);
}

static void print_row(struct table *t, const struct options *o, const struct read_event *e)
{
	auto_buf b = BUF_INIT;

	audit_put_text(&b, &e->session);
	table_cell_buf(t, &b);
	audit_put_time(&b, e->time_us, o->session ? AUDIT_TIME_CLOCK : AUDIT_TIME_FULL);
	table_cell_buf(t, &b);
	buf_fmt(&b, "%u", e->pid);
	table_cell_buf(t, &b);
	put_program(&b, e);
	table_cell_buf(t, &b);
	audit_put_text(&b, &e->answer);
	table_cell_buf(t, &b);
	audit_put_text(&b, &e->class);
	table_cell_buf(t, &b);
	put_object(&b, e);
	table_cell_buf(t, &b);
	put_result(&b, e);
	table_cell_buf(t, &b);
	audit_put_rule(&b, e);
	table_cell_buf(t, &b);
}

static void print_json(const struct read_event *e)
{
	auto_buf b = BUF_INIT;

	audit_event_json(&b, e, false);
	puts(buf_text(&b) ? buf_text(&b) : "");
}

static int print_all(struct store *s, struct options *o, struct table *t)
{
	struct reader *r = NULL;
	struct read_event e;
	bool there = true;
	int err = read_open(s, &o->filter, &r);

	while (!err) {
		err = read_next(r, &e, &there);
		if (err || !there)
			break;
		if (o->json)
			print_json(&e);
		else
			print_row(t, o, &e);
		o->filter.after_id = e.id;
	}
	read_close(r);
	table_flush(t);
	fflush(stdout);
	return err;
}

/* Whether more may come: of one session until it is closed. */
static bool goes_on(struct store *s, const struct options *o)
{
	bool closed = false;

	return !o->filter.session || store_closing(s, o->filter.session, &closed) != 0 || !closed;
}

/* Until the session's end, a signal, or until nobody reads what it prints. */
static int follow(struct store *s, struct options *o, struct table *t, struct ender *ender)
{
	bool more = true;
	bool ends = false;
	int err = 0;

	o->filter.last = 0;
	while (!err && more && !ends) {
		/* Asked before reading, so that what came with the end is read. */
		more = goes_on(s, o);
		ends = ferror(stdout) || (more && ender_wait(ender, STDOUT_FILENO, FOLLOW_POLL_MS));
		if (!ferror(stdout))
			err = print_all(s, o, t);
	}
	if (ends || ferror(stdout))
		log_error("the record is not followed any more: %s", ender_why(ender));
	return err;
}

static int run(struct store *s, struct options *o)
{
	struct table_column columns[] = {
		{"SESSION", false, o->session != NULL, 0},
		{"TIME", false, false, 0},
		{"PID", false, false, 0},
		{"PROGRAM", false, false, 24},
		{"VERDICT", false, o->filter.answers != 0, 0},
		{"CLASS", false, false, 0},
		{"OBJECT", false, false, 0},
		{"RESULT", false, o->filter.answers != 0, 0},
		{"RULE", false, false, 0},
		{NULL, false, false, 0},
	};
	struct table *t = table_new(columns);
	struct ender *ender = NULL;
	int err = o->follow ? ender_start(&ender) : 0;

	if (err) {
		log_error("out of memory");
		table_free(t);
		return AUDIT_USAGE;
	}
	if (!o->all)
		o->filter.kinds = 1u << AUDIT_DECISION;
	err = print_all(s, o, t);
	if (!err && ender)
		err = follow(s, o, t, ender);
	table_free(t);
	if (err)
		log_error("the record cannot be read: %s", store_why(s));
	return err ? AUDIT_USAGE : AUDIT_FINE;
}

static int read_events(const char *name, int argc, char **argv)
{
	struct options o = {.name = name};
	struct store *s = NULL;
	bool help = false;
	int status = take_options(argc, argv, &o, &help);

	if (!status && help)
		status = audit_help(name);
	else if (!status) {
		s = audit_open(o.db);
		status = s ? 0 : AUDIT_USAGE;
		if (!status && o.session)
			status = audit_session_word(s, o.session, &o.filter.session);
		if (!status)
			status = run(s, &o);
	}
	store_close(s);
	buf_free(&o.pattern);
	audit_query_free(&o.query);
	return status;
}

int audit_log(int argc, char **argv)
{
	return read_events("log", argc, argv);
}

int audit_query(int argc, char **argv)
{
	return read_events("query", argc, argv);
}
