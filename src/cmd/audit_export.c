/* wary audit export: rows for other programs. */
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_query.h"
#include "cmd/audit_words.h"
#include "cmd/export_formats.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct export
{
	const char *db, *output, *session;
	const struct export_format *format;
	struct audit_query query;
	struct read_filter filter;
};

/* What is written must all have come to its place. */
static bool put(FILE *out, struct buf *b)
{
	const char *text = buf_text(b);
	bool good = text && fwrite(text, 1, b->len_bytes, out) == b->len_bytes;

	buf_reset(b);
	return good;
}

/* Rows as they come, with what stands around each group. */
struct writing {
	const struct export_format *format;
	struct export_origin origin;
	struct buf text;
	char session[sizeof((struct export_origin *)0)->session]; /* of the group */
	bool begun;
	unsigned group_rows; /* of the group that is begun */
};

static void begin_group(struct writing *w, const struct export_row *x)
{
	if (w->format->begin)
		w->format->begin(&w->text, x);
	memcpy(w->session, w->origin.session, sizeof w->session);
	w->group_rows = 0;
	w->begun = true;
}

static void end_group(struct writing *w)
{
	if (w->begun && w->format->end)
		w->format->end(&w->text);
	w->begun = false;
}

static int add_row(struct writing *w, struct store *s, const struct read_event *e)
{
	struct export_row x = {0};
	int err = export_row_make(&x, s, &w->origin, e);

	if (err)
		return err;
	if (w->group_rows == w->format->group_rows || strcmp(w->session, w->origin.session) != 0)
		end_group(w);
	if (!w->begun)
		begin_group(w, &x);
	w->format->row(&w->text, &x, w->group_rows > 0);
	w->group_rows++;
	return 0;
}

/* What stands before the rows; sets which they are, where the format says it. */
static int begin(struct writing *w, struct store *s, struct read_filter *f, struct buf *where)
{
	struct export_row session = {.origin = &w->origin};
	int err;

	if (w->format->head)
		w->format->head(&w->text);
	if (!w->format->condition)
		return 0;
	err = export_origin_find(&w->origin, s, f->session);
	if (err)
		return err;
	w->format->condition(where, &session);
	f->where = buf_text(where);
	begin_group(w, &session);
	return f->where ? 0 : -ERR_NOMEM;
}

static int write_rows(struct store *s, const struct export *x, FILE *out)
{
	struct writing w = {.format = x->format};
	struct read_filter filter = x->filter;
	auto_buf where = BUF_INIT;
	struct reader *r = NULL;
	struct read_event e;
	bool there = true;
	bool good = true;
	int error = 0;
	int err;

	invariant(x->format != NULL);
	err = begin(&w, s, &filter, &where);
	if (!err)
		err = read_open(s, &filter, &r);
	while (!err && good && there) {
		err = read_next(r, &e, &there);
		if (!err && there)
			err = add_row(&w, s, &e);
		else
			end_group(&w);
		good = put(out, &w.text);
		error = good ? 0 : errno;
	}
	if (good && fflush(out) != 0)
		error = errno;
	read_close(r);
	export_origin_free(&w.origin);
	buf_free(&w.text);
	if (err)
		log_error("the record cannot be read: %s", store_why(s));
	else if (error)
		log_error("the rows cannot be written: %s", strerrordesc_np(error));
	else
		return AUDIT_FINE;
	return AUDIT_USAGE;
}

/* A new file: what was exported before is not written over. */
static FILE *create(const char *name)
{
	int fd;

	if (!name || strcmp(name, "-") == 0)
		return fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), "w");
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 ? NULL : fdopen(fd, "w");
}

static int run(struct store *s, const struct export *x)
{
	FILE *out = create(x->output);
	int status;

	if (!out) {
		log_error("%s: %s", x->output ? x->output : "standard output",
		          strerrordesc_np(errno));
		return AUDIT_USAGE;
	}
	status = write_rows(s, x, out);
	if (fclose(out) != 0 && status == AUDIT_FINE) {
		log_error("the rows cannot be written: %s", strerrordesc_np(errno));
		status = AUDIT_USAGE;
	}
	return status;
}

static int take_format(struct export *x, const char *word)
{
	auto_buf names = BUF_INIT;
	char *shown;

	x->format = export_format_find(word);
	if (x->format)
		return 0;
	export_format_names(&names);
	shown = text_printable_str(word, 64);
	log_error("audit export: there is no format %s: it is one of %s", shown, buf_text(&names));
	free(shown);
	return AUDIT_USAGE;
}

static int take_options(int argc, char **argv, struct export *x, bool *help)
{
	static const struct option longs[] = {
		{"db", required_argument, NULL, 'd'},     {"format", required_argument, NULL, 'f'},
		{"output", required_argument, NULL, 'o'}, {"session", required_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
	int status = 0;
	int c;

	optind = 0;
	while (!status && (c = getopt_long(argc, argv, "ho:", longs, NULL)) != -1) {
		if (c == 'd')
			x->db = optarg;
		else if (c == 'o')
			x->output = optarg;
		else if (c == 's')
			x->session = optarg;
		else if (c == 'f')
			status = take_format(x, optarg);
		else if (c == 'h')
			*help = true;
		else
			status = audit_usage("export");
	}
	if (status || *help)
		return status;
	if (!x->format)
		return audit_usage("export");
	if (x->format->condition && (!x->session || optind < argc)) {
		log_error(
			"audit export --format %s: of one session, all of it: --session ID, and no "
			"expression",
			x->format->name);
		return AUDIT_USAGE;
	}
	return audit_query_take(&x->query, argc - optind, argv + optind, "export", &x->filter);
}

int audit_export(int argc, char **argv)
{
	struct export x = {0};
	struct store *s = NULL;
	bool help = false;
	int status = take_options(argc, argv, &x, &help);

	if (!status && help)
		status = audit_help("export");
	else if (!status) {
		s = audit_open_views(x.db);
		status = s ? 0 : AUDIT_USAGE;
		if (!status && x.session)
			status = audit_session_word(s, x.session, &x.filter.session);
		if (!status)
			status = run(s, &x);
	}
	store_close(s);
	audit_query_free(&x.query);
	return status;
}
