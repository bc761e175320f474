/* wary audit report: a session as one page for a browser */
#include "audit/report.h"

#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_vouch.h"
#include "cmd/audit_words.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void show_progress(double share)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\rwary: %3.0f %%", share * 100);
}

static int write_report(struct store *s, const struct audit_keys *keys, const char *db,
                        uint64_t session, FILE *out)
{
	struct audit_vouch v = {.db = db, .keys = keys, .session = session};
	auto_buf line = BUF_INIT;
	int err;

	audit_vouch(&v);
	audit_put_vouched(&line, &v);
	free(v.why);
	err = report_write(store_db(s), (sqlite3_int64)session,
	                   buf_text(&line) ? line.data : "out of memory", v.is == AUDIT_VOUCHED,
	                   show_progress, out);
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	return err;
}

/* A new file, not through a link that somebody has put there. */
static FILE *create(const char *name)
{
	int fd;

	if (strcmp(name, "-") == 0)
		return fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), "w");
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? NULL : fdopen(fd, "w");
}

static int report(const struct audit_keys *keys, const char *db, const char *word, const char *file)
{
	auto_buf path = BUF_INIT;
	auto_file out = NULL;
	struct store *s;
	uint64_t id;
	int status;
	int err;

	if (audit_store_path(db, &path) != 0)
		return AUDIT_USAGE;
	s = audit_open(buf_text(&path));
	if (!s)
		return AUDIT_USAGE;
	status = audit_session_word(s, word, &id);
	if (status == AUDIT_FINE) {
		out = create(file);
		if (!out)
			log_error("%s: %s", file, strerrordesc_np(errno));
		err = out ? write_report(s, keys, buf_text(&path), id, out) : -ERR_SYS;
		if (out && err)
			log_error("the report could not be written: %s", err_text(err));
		status = err ? AUDIT_USAGE : AUDIT_FINE;
	}
	store_close(s);
	return status;
}

int audit_report(int argc, char **argv)
{
	static const struct option options[] = {{"db", required_argument, NULL, 'd'},
	                                        {"key", required_argument, NULL, 'k'},
	                                        {"output", required_argument, NULL, 'o'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {0}};
	struct audit_keys keys = {.own = NULL};
	const char *db = NULL;
	const char *file = NULL;
	int status = 0;
	int c;

	while (!status && (c = getopt_long(argc, argv, "o:h", options, NULL)) >= 0) {
		if (c == 'h')
			return audit_help("report");
		if (c == 'd')
			db = optarg;
		else if (c == 'o')
			file = optarg;
		else
			status = c == 'k' ? audit_keys_take(&keys, "report", optarg)
			                  : audit_usage("report");
	}
	if (status)
		return status;
	if (optind + 1 != argc || !file)
		return audit_usage("report");
	status = audit_keys_find(&keys, "report");
	if (!status)
		status = report(&keys, db, argv[optind], file);
	audit_keys_free(&keys);
	return status;
}
