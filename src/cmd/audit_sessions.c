/* wary audit sessions */
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_words.h"
#include "cmd/keeper.h"
#include "cmd/table.h"

#include <getopt.h>
#include <stdio.h>

static const struct table_column columns[] = {
	{"ID", false, false, 0},       {"STARTED", false, false, 0},  {"FOR", false, false, 0},
	{"COMMAND", false, false, 40}, {"DECISIONS", true, false, 0}, {"REFUSED", true, false, 0},
	{"ASKED", true, false, 0},     {"STATUS", false, false, 0},   {NULL, false, false, 0},
};

static void number(struct table *t, struct buf *b, uint64_t n)
{
	text_thousands(b, n);
	table_cell_buf(t, b);
}

static int print_row(void *ctx, const struct read_session *s)
{
	struct table *t = ctx;
	auto_buf b = BUF_INIT;

	audit_put_text(&b, &s->name);
	table_cell_buf(t, &b);
	audit_put_time(&b, s->opened_us, AUDIT_TIME_MINUTE);
	table_cell_buf(t, &b);
	audit_put_span(&b, s->took_us);
	table_cell_buf(t, &b);
	audit_put_text(&b, &s->argv);
	table_cell_buf(t, &b);
	number(t, &b, s->decisions);
	number(t, &b, s->refused);
	number(t, &b, s->asked);
	audit_put_status(&b, s);
	table_cell_buf(t, &b);
	return 0;
}

static int print_json(void *ctx, const struct read_session *s)
{
	const struct {
		const char *name;
		const struct rows_text *text;
	} texts[] = {{"session", &s->name}, {"command", &s->argv}, {"cwd", &s->cwd},
	             {"user", &s->user},    {"host", &s->host},    {"reason", &s->reason}};
	const struct {
		const char *name;
		uint64_t n;
	} numbers[] = {{"started_us", s->opened_us}, {"took_us", s->took_us}, {"uid", s->uid},
	               {"decisions", s->decisions},  {"refused", s->refused}, {"asked", s->asked},
	               {"grants", s->grants},        {"dropped", s->dropped}};
	auto_buf b = BUF_INIT;

	(void)ctx;
	buf_str(&b, "{");
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		buf_fmt(&b, "%s\"%s\":", i ? "," : "", texts[i].name);
		audit_json_text(&b, texts[i].text);
	}
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		buf_fmt(&b, ",\"%s\":%llu", numbers[i].name, (unsigned long long)numbers[i].n);
	buf_fmt(&b, ",\"open\":%s,\"status\":%lld}", s->closed ? "false" : "true",
	        (long long)s->status);
	puts(buf_text(&b) ? buf_text(&b) : "");
	return 0;
}

int audit_sessions(int argc, char **argv)
{
	static const struct option longs[] = {{"db", required_argument, NULL, 'd'},
	                                      {"json", no_argument, NULL, 'j'},
	                                      {"help", no_argument, NULL, 'h'},
	                                      {NULL, 0, NULL, 0}};
	const char *db = NULL;
	bool json = false;
	struct table *t;
	struct store *s;
	int err;
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c == 'h')
			return audit_help("sessions");
		if (c == '?')
			return audit_usage("sessions");
		db = c == 'd' ? optarg : db;
		json |= c == 'j';
	}
	if (optind != argc)
		return audit_usage("sessions");
	s = audit_open(db);
	if (!s)
		return AUDIT_USAGE;
	keeper_tell(store_path(s));
	t = table_new(columns);
	err = json ? read_sessions(s, print_json, NULL) : read_sessions(s, print_row, t);
	table_free(t);
	if (err)
		log_error("the record cannot be read: %s", store_why(s));
	store_close(s);
	return err ? AUDIT_USAGE : AUDIT_FINE;
}
