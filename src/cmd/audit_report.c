/* wary audit report: a session as one page for a browser */
#include "audit/report.h"

#include "audit/keys_chain.h"
#include "audit/verify.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_words.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void ignore(void *ctx, const char *sentence)
{
	(void)ctx;
	(void)sentence;
}

static int look(const char *db, uint64_t session, const uint8_t (*keys)[ROWS_KEY_BYTES], size_t n,
                struct verify_result *r)
{
	struct verify_options o = {.db = db,
	                           .public_keys = keys,
	                           .public_keys_n = n,
	                           .session = session,
	                           .wrong = ignore,
	                           .note = ignore};
	auto_free char *why = NULL;
	int err = verify_store(&o, r, &why);

	return err ? err : r->wrong ? -ERR_DAMAGED : 0;
}

/* Of a record that this machine's keys do not vouch for: of another machine's, or
 * changed. @n: how many keys this machine has. */
static void put_doubt(const char *db, uint64_t session, size_t n, struct buf *out)
{
	struct verify_result r;

	if (look(db, session, NULL, 0, &r) != 0 || !r.any_key) {
		buf_str(out, "NOT INTACT: see wary audit verify");
		return;
	}
	buf_str(out, "not vouched for: its rows fit each other and key ");
	keys_name(out, r.signed_by);
	buf_str(out, n ? ", which is not this machine's" : "; this machine has no key");
	buf_str(out, ": see wary audit verify --key");
}

/* What verification says of the session, as a sentence.
 * Returns whether this machine's keys vouch for it. */
static bool verified(const char *db, uint64_t session, struct buf *out)
{
	auto_free uint8_t(*keys)[ROWS_KEY_BYTES] = NULL;
	const uint8_t(*own)[ROWS_KEY_BYTES];
	struct verify_result r;
	size_t n = 0;
	int err = keys_trusted(&keys, &n);

	own = (const uint8_t(*)[ROWS_KEY_BYTES])keys;
	if (!err)
		err = n ? look(db, session, own, n, &r) : -ERR_DAMAGED;
	if (err == -ERR_DAMAGED)
		put_doubt(db, session, n, out);
	else if (err)
		buf_fmt(out, "not verified: %s", err_text(err));
	if (err)
		return false;
	buf_str(out, "intact: ");
	text_thousands(out, r.rows);
	buf_fmt(out, " rows, verified to checkpoint %llu", (unsigned long long)r.last_checkpoint);
	if (r.any_key) {
		buf_str(out, ", signed by key ");
		audit_put_key(out, r.signed_by, own, n);
	}
	return true;
}

static void show_progress(double share)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\rwary: %3.0f %%", share * 100);
}

static int write_report(struct store *s, const char *db, uint64_t session, FILE *out)
{
	auto_buf line = BUF_INIT;
	bool intact = verified(db, session, &line);
	int err = report_write(store_db(s), (sqlite3_int64)session,
	                       buf_text(&line) ? line.data : "out of memory", intact, show_progress,
	                       out);

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

static int report(const char *db, const char *word, const char *file)
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
		err = out ? write_report(s, buf_text(&path), id, out) : -ERR_SYS;
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
	                                        {"output", required_argument, NULL, 'o'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {0}};
	const char *db = NULL;
	const char *file = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "o:h", options, NULL)) >= 0) {
		if (c == 'h')
			return audit_help("report");
		if (c == 'd')
			db = optarg;
		else if (c == 'o')
			file = optarg;
		else
			return audit_usage("report");
	}
	if (optind + 1 != argc || !file)
		return audit_usage("report");
	return report(db, argv[optind], file);
}
