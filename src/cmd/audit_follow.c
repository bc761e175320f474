/* wary audit follow: rows handed on as they come. */
#include "base/clock.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_event.h"
#include "cmd/audit_query.h"
#include "cmd/audit_words.h"
#include "cmd/follow.h"
#include "cmd/follow_state.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define LOOK_MS 250
#define AWAY_FIRST_MS 100
#define AWAY_LAST_MS 10000

struct follow {
	const char *db, *session, *where, *state_path;
	bool once;
	struct follow_link link;
	struct audit_query query;
	struct read_filter filter;
	struct follow_state state;
	struct export_origin origin;
	struct follow_batch batch;
	size_t cut_bytes;
	bool is_away; /* said already */
};

/* ---- what the kinds use ------------------------------------------------------ */

int follow_wait(const struct follow_link *l, int fd, short events, int timeout_ms)
{
	struct pollfd fds[] = {{.fd = l->signal_fd, .events = POLLIN},
	                       {.fd = fd, .events = events}};
	int n = poll(fds, 2, timeout_ms);

	/* The signal stays in its descriptor: every later wait sees it too. */
	if (fds[0].revents)
		return -1;
	return n > 0 ? fds[1].revents : 0;
}

int follow_left(uint64_t end_ns, int most_ms)
{
	uint64_t now_ns = clock_mono_ns();
	uint64_t left_ms = now_ns < end_ns ? (end_ns - now_ns + 999999) / 1000000 : 0;

	return left_ms < (uint64_t)most_ms ? (int)left_ms : most_ms;
}

void follow_json_line(struct buf *out, const struct export_row *x, size_t cut)
{
	auto_buf row = BUF_INIT;

	audit_event_json(&row, x->e, true);
	invariant(buf_text(&row) != NULL);
	if (!cut) {
		buf_add(out, row.data, row.len_bytes);
		return;
	}
	buf_fmt(out, "{\"cut\":%zu,", cut);
	buf_add(out, row.data + 1, row.len_bytes - 1);
}

void follow_link_free(struct follow_link *l)
{
	fd_drop(&l->fd);
	fd_drop(&l->signal_fd);
	free(l->host);
	free(l->port);
	free(l->path);
}

/* ---- batches ------------------------------------------------------------------- */

/* No more than @max bytes of a text, and no part of a character. */
static bool cut(struct rows_text *t, size_t max)
{
	if (t->len_bytes <= max)
		return false;
	t->len_bytes = max;
	while (t->len_bytes > max - 4 && ((unsigned char)t->bytes[t->len_bytes] & 0xc0) == 0x80)
		t->len_bytes--;
	return true;
}

static bool cut_texts(struct read_event *e, size_t max)
{
	struct rows_text *const texts[] = {&e->program,   &e->object, &e->object2, &e->rule_file,
	                                   &e->rule_text, &e->cwd,    &e->argv,    &e->stack};
	bool any = false;

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		any |= cut(texts[i], max);
	return any;
}

/* Returns whether there is room for more. */
static bool add_row(struct follow *f, const struct export_row *x, bool is_cut)
{
	const struct follow_kind *kind = f->link.kind;
	struct follow_batch *b = &f->batch;

	if (!b->rows && kind->begin)
		kind->begin(&b->text, x);
	kind->row(&b->text, x, b->rows > 0, is_cut ? f->cut_bytes : 0);
	b->ends[b->rows++] = b->text.len_bytes;
	b->last_id = x->e->id;
	memcpy(b->last_uuid, x->origin->uuid, sizeof b->last_uuid);
	memcpy(b->session, x->origin->session, sizeof b->session);
	return b->rows < FOLLOW_ROWS_MAX && b->text.len_bytes < FOLLOW_BATCH_BYTES;
}

/* The rows that come next, as many as a batch holds; the reader is not kept:
 * the database could not empty its log while a receiver is away. */
static int fill(struct follow *f, struct store *s)
{
	struct follow_batch *b = &f->batch;
	struct reader *r = NULL;
	bool there = true;
	bool room = true;
	int err = read_open(s, &f->filter, &r);

	buf_reset(&b->text);
	b->rows = 0;
	while (!err && room) {
		struct export_row x = {0};
		struct read_event e;
		bool is_cut;

		err = read_next(r, &e, &there);
		if (err || !there)
			break;
		is_cut = cut_texts(&e, f->cut_bytes);
		err = export_row_make(&x, s, &f->origin, &e);
		if (!err && f->link.kind->one_session && b->rows &&
		    strcmp(b->session, f->origin.session) != 0)
			break;
		if (!err)
			room = add_row(f, &x, is_cut);
	}
	read_close(r);
	if (b->rows && f->link.kind->end)
		f->link.kind->end(&b->text);
	if (!err && !buf_text(&b->text))
		err = -ERR_BOUND;
	return err;
}

/* The store's last row: what was looked through need not be again. */
static int last_row(struct store *s, uint64_t *id)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(store_db(s),
	                            "SELECT first_event + events - 1 FROM checkpoint"
	                            " ORDER BY id DESC LIMIT 1",
	                            -1, &stmt, NULL);

	*id = 0;
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		*id = (uint64_t)sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return store_code(rc);
}

/* ---- the loop ------------------------------------------------------------------- */

static void tell_away(struct follow *f, bool is_away)
{
	const char *at = f->link.at ? f->link.at : f->link.argv[0];
	auto_free char *shown = text_printable_str(at, 256);

	if (is_away != f->is_away)
		log_notice(is_away ? "audit follow: %s does not take rows: they wait"
		                   : "audit follow: %s takes rows again",
		           shown);
	f->is_away = is_away;
}

/* Until the batch is taken, or shall not be. Returns AUDIT_FINE: go on, with
 * *taken or with a smaller batch; or a status to end with. */
static int hand_over(struct follow *f, bool *taken)
{
	int wait_ms = AWAY_FIRST_MS;

	*taken = false;
	for (;;) {
		enum follow_result got = f->link.kind->deliver(&f->link, &f->batch);

		if (got == FOLLOW_REFUSED)
			return AUDIT_WRONG;
		if (got == FOLLOW_SMALLER && f->cut_bytes <= FOLLOW_CUT_MIN_BYTES) {
			log_error("audit follow: the receiver takes no row of that size");
			return AUDIT_WRONG;
		}
		if (got == FOLLOW_SMALLER) {
			f->cut_bytes /= 2;
			return AUDIT_FINE;
		}
		tell_away(f, got == FOLLOW_AWAY);
		*taken = got == FOLLOW_TAKEN;
		if (*taken)
			return AUDIT_FINE;
		if (f->once)
			return AUDIT_WRONG;
		if (follow_wait(&f->link, -1, 0, wait_ms) < 0)
			return AUDIT_FINE;
		wait_ms = wait_ms * 2 < AWAY_LAST_MS ? wait_ms * 2 : AWAY_LAST_MS;
	}
}

/* What is there now; *all: nothing is left. */
static int step(struct follow *f, struct store *s, bool *all)
{
	uint64_t last = 0;
	bool taken = false;
	int status;
	int err = last_row(s, &last);

	if (!err)
		err = fill(f, s);
	if (err) {
		log_error("the record cannot be read: %s", store_why(s));
		return AUDIT_USAGE;
	}
	*all = f->batch.rows == 0;
	if (*all) {
		f->filter.after_id = last > f->filter.after_id ? last : f->filter.after_id;
		return AUDIT_FINE;
	}
	status = hand_over(f, &taken);
	if (status || !taken)
		return status;
	f->filter.after_id = f->batch.last_id;
	f->cut_bytes = f->link.kind->cut_bytes;
	return follow_state_write(&f->state, f->batch.last_id, f->batch.last_uuid) == 0
	               ? AUDIT_FINE
	               : AUDIT_USAGE;
}

/* Whether more may come: of one session until it is closed. */
static bool goes_on(struct store *s, const struct follow *f)
{
	bool closed = false;

	if (f->once)
		return false;
	return !f->filter.session || store_closing(s, f->filter.session, &closed) != 0 || !closed;
}

static int follow(struct follow *f, struct store *s)
{
	bool more = true;
	bool all = false;
	int status = AUDIT_FINE;

	f->filter.after_id = f->state.id;
	f->cut_bytes = f->link.kind->cut_bytes;
	while (!status && (more || !all)) {
		/* Asked before reading, so that what came with the end is read. */
		more = goes_on(s, f);
		status = step(f, s, &all);
		if (follow_wait(&f->link, -1, 0, all && more ? LOOK_MS : 0) < 0)
			break;
	}
	return status;
}

/* ---- options -------------------------------------------------------------------- */

static const struct follow_kind *const kinds[] = {&follow_syslog, &follow_journald, &follow_command,
                                                  &follow_http};

static int take_kind(struct follow *f, const char *word)
{
	auto_free char *shown = text_printable_str(word, 64);
	auto_buf names = BUF_INIT;

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (strcmp(kinds[i]->name, word) == 0)
			f->link.kind = kinds[i];
		buf_fmt(&names, i ? ", %s" : "%s", kinds[i]->name);
	}
	if (f->link.kind)
		return 0;
	log_error("audit follow: there is no receiver %s: it is one of %s", shown,
	          buf_text(&names));
	return AUDIT_USAGE;
}

static int take_option(struct follow *f, int c)
{
	if (c == 'd')
		f->db = optarg;
	else if (c == 's')
		f->session = optarg;
	else if (c == 'w')
		f->where = optarg;
	else if (c == 'S')
		f->state_path = optarg;
	else if (c == 'a')
		f->link.at = optarg;
	else if (c == 'o')
		f->once = true;
	else if (c == 't')
		return audit_since_word(optarg, &f->filter);
	else if (c == 'k')
		return take_kind(f, optarg);
	else
		return audit_usage("follow");
	return 0;
}

static int take_where(struct follow *f)
{
	uint64_t since_us = f->filter.since_us;
	char *where[] = {(char *)(uintptr_t)f->where};
	int status = audit_query_take(&f->query, f->where ? 1 : 0, where, "follow", &f->filter);

	if (!f->filter.since_us)
		f->filter.since_us = since_us;
	return status;
}

static int take_options(int argc, char **argv, struct follow *f, bool *help)
{
	static const struct option longs[] = {
		{"db", required_argument, NULL, 'd'},    {"to", required_argument, NULL, 'k'},
		{"at", required_argument, NULL, 'a'},    {"session", required_argument, NULL, 's'},
		{"since", required_argument, NULL, 't'}, {"where", required_argument, NULL, 'w'},
		{"state", required_argument, NULL, 'S'}, {"once", no_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0}};
	int status = 0;
	int c;

	optind = 0;
	/* "+": the first word is the command's, and so are the options after it. */
	while (!status && (c = getopt_long(argc, argv, "+h", longs, NULL)) != -1) {
		if (c == 'h')
			*help = true;
		else
			status = take_option(f, c);
	}
	if (status || *help)
		return status;
	if (!f->link.kind)
		return audit_usage("follow");
	f->link.argv = argv + optind;
	if (!f->link.at)
		f->link.at = f->link.kind->at;
	status = f->link.kind->check(&f->link);
	return status ? status : take_where(f);
}

/* ---- the whole ------------------------------------------------------------------- */

/* Ends after what is at hand: from now on in a descriptor. */
static int watch_signals(struct follow *f)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &ends, NULL) != 0 || sigaction(SIGPIPE, &ignore, NULL) != 0)
		return AUDIT_USAGE;
	f->link.signal_fd = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	return f->link.signal_fd < 0 ? AUDIT_USAGE : 0;
}

/* What makes this task another one: each has a state of its own. */
static void put_key(struct buf *key, const struct follow *f, const struct store *s)
{
	const char *path = store_path(s);

	if (*path != '/') {
		auto_free char *cwd = getcwd(NULL, 0);

		buf_fmt(key, "%s/", cwd ? cwd : "");
	}
	buf_fmt(key, "%s%c%s%c%s%c%llu%c%s", path, '\n', f->link.kind->name, '\n',
	        f->link.at ? f->link.at : "", '\n', (unsigned long long)f->filter.session, '\n',
	        f->where ? f->where : "");
	for (char *const *word = f->link.argv; *word; word++)
		buf_fmt(key, "\n%s", *word);
}

static int run(struct follow *f, struct store *s)
{
	auto_buf key = BUF_INIT;
	int status = watch_signals(f);

	invariant(f->link.kind != NULL);
	put_key(&key, f, s);
	invariant(buf_text(&key) != NULL);
	if (!status && follow_state_open(&f->state, f->state_path, key.data) != 0)
		status = AUDIT_USAGE;
	if (!status && follow_state_check(&f->state, s) != 0)
		status = AUDIT_USAGE;
	if (!status)
		status = follow(f, s);
	follow_state_close(&f->state);
	return status;
}

int audit_follow(int argc, char **argv)
{
	struct follow f = {.link = {.fd = -1, .signal_fd = -1}, .state = {.lock_fd = -1}};
	struct store *s = NULL;
	bool help = false;
	int status = take_options(argc, argv, &f, &help);

	if (!status && help)
		status = audit_help("follow");
	else if (!status) {
		s = audit_open(f.db);
		status = s ? 0 : AUDIT_USAGE;
		if (!status && f.session)
			status = audit_session_word(s, f.session, &f.filter.session);
		if (!status)
			status = run(&f, s);
	}
	store_close(s);
	export_origin_free(&f.origin);
	buf_free(&f.batch.text);
	audit_query_free(&f.query);
	follow_link_free(&f.link);
	return status;
}
