/* wary audit prune: retention. */
#include "audit/keys_chain.h"
#include "audit/prune.h"
#include "audit/recover.h"
#include "audit/space.h"
#include "audit/verify.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_own.h"
#include "cmd/audit_words.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

struct options {
	const char *db;
	uint64_t before_us; /* what ended earlier goes; 0: no bound of age */
	uint64_t max_bytes; /* as much as fits stays */
	bool has_max, dry_run, help;
};

struct pruning {
	const struct options *options;
	const char *db;
	struct store *store;
	const struct keys *machine;
	struct audit *own;
	struct prune_session *sessions;
	size_t sessions_n;
	uint64_t used_bytes; /* while it is dry: reckoned */
	uint64_t bytes_a_row;
	uint64_t removed, rows;
	bool too_large; /* what must stay is more than fits */
};

static int take_keep(struct options *o, const char *word)
{
	if (audit_ago_word(word, &o->before_us) == 0)
		return 0;
	log_error("audit prune: --keep %s is no span, as 90d or 12h", word);
	return AUDIT_USAGE;
}

static int take_max(struct options *o, const char *word)
{
	static const uint64_t bytes[] = {(uint64_t)1 << 10, (uint64_t)1 << 20, (uint64_t)1 << 30,
	                                 (uint64_t)1 << 40};

	if (audit_amount_word(word, 1000000, "KMGT", bytes, &o->max_bytes) != 0) {
		log_error("audit prune: --max-size %s is no size, as 500M or 2G", word);
		return AUDIT_USAGE;
	}
	o->has_max = true;
	return 0;
}

static int take_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"db", required_argument, NULL, 'd'},       {"keep", required_argument, NULL, 'k'},
		{"max-size", required_argument, NULL, 'm'}, {"dry-run", no_argument, NULL, 'n'},
		{"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};
	int status = 0;
	int c;

	optind = 0;
	while (!status && (c = getopt_long(argc, argv, "hn", longs, NULL)) != -1) {
		if (c == 'd')
			o->db = optarg;
		else if (c == 'k')
			status = take_keep(o, optarg);
		else if (c == 'm')
			status = take_max(o, optarg);
		else if (c == 'n')
			o->dry_run = true;
		else if (c == 'h')
			o->help = true;
		else
			status = audit_usage("prune");
	}
	if (!status && !o->help && (optind != argc || (!o->before_us && !o->has_max)))
		status = audit_usage("prune");
	return status;
}

static bool is_old(const struct pruning *p, const struct prune_session *s)
{
	return p->options->before_us && s->ended_us && s->ended_us < p->options->before_us;
}

static bool is_full(const struct pruning *p)
{
	return p->options->has_max && p->used_bytes > p->options->max_bytes;
}

static void say(const struct prune_session *s, const char *what)
{
	auto_buf line = BUF_INIT;

	buf_fmt(&line, "wary: session %s (", s->name);
	if (s->ended_us) {
		buf_str(&line, "ended ");
		audit_put_time(&line, s->ended_us, AUDIT_TIME_MINUTE);
		buf_str(&line, ", ");
	}
	text_thousands(&line, s->events);
	buf_fmt(&line, " row%s) %s", s->events == 1 ? "" : "s", what);
	puts(buf_text(&line) ? line.data : "?");
	/* Who reads along sees it when it is so. */
	fflush(stdout);
}

/* The last one may go too, once wary's own session is after it. */
static bool may_go(const struct prune_session *s)
{
	return s->keep == PRUNE_FREE || s->keep == PRUNE_LAST;
}

static int plan(struct pruning *p)
{
	uint64_t rows = 0;
	int err = prune_list(p->store, &p->sessions, &p->sessions_n);

	if (!err)
		err = space_used(p->store, &p->used_bytes);
	for (size_t i = 0; !err && i < p->sessions_n; i++)
		rows += p->sessions[i].events + p->sessions[i].checkpoints;
	p->bytes_a_row = rows ? p->used_bytes / rows : 0;
	return err;
}

/* A prune that is stopped by its terminal (Ctrl-Z) within a transaction keeps running
 * sessions from writing: the stop comes after it. */
static void stop_later(sigset_t *kept)
{
	sigset_t stops;

	sigemptyset(&stops);
	sigaddset(&stops, SIGTSTP);
	sigaddset(&stops, SIGTTIN);
	sigaddset(&stops, SIGTTOU);
	invariant(sigprocmask(SIG_BLOCK, &stops, kept) == 0);
}

static void stop_now(const sigset_t *kept)
{
	invariant(sigprocmask(SIG_SETMASK, kept, NULL) == 0);
}

/* On record before it is done, and what became of it after. */
static int remove_one(struct pruning *p, struct prune_session *s)
{
	auto_buf uuid = BUF_INIT;
	struct audit_event e;
	struct receipt *r;
	sigset_t kept;
	int err;

	text_hex(&uuid, s->uuid, sizeof s->uuid);
	e = audit_own_event("prune", buf_text(&uuid));
	r = e.object2 ? audit_intent(p->own, &e) : NULL;
	if (!r)
		return -ERR_RECORD;
	stop_later(&kept);
	err = prune_remove(p->store, p->machine, s->id, &s->keep);
	stop_now(&kept);
	if (audit_outcome(p->own, r, err ? -EIO : s->keep == PRUNE_FREE ? 0 : -EBUSY) != 0 && !err)
		err = -ERR_RECORD;
	if (!err)
		err = space_used(p->store, &p->used_bytes);
	return err;
}

static int visit(struct pruning *p, struct prune_session *s)
{
	static const char *const stays[] = {
		[PRUNE_OPEN] = "stays: it runs, or is not recovered yet",
		[PRUNE_HELD] = "stays: it is held",
		[PRUNE_HOLDS] = "stays: it holds another one",
		[PRUNE_LAST] = "stays: it is the last one that wrote",
	};
	uint64_t bytes = (s->events + s->checkpoints) * p->bytes_a_row;
	int err = 0;

	if (!is_old(p, s) && !is_full(p))
		return 0;
	if (may_go(s) && !p->options->dry_run)
		err = remove_one(p, s);
	else if (may_go(s))
		p->used_bytes -= bytes < p->used_bytes ? bytes : p->used_bytes;
	if (err)
		return err;
	if (s->keep == PRUNE_FREE || (p->options->dry_run && may_go(s))) {
		say(s, p->options->dry_run ? "would be removed" : "was removed");
		p->removed++;
		p->rows += s->events;
	} else {
		say(s, stays[s->keep]);
	}
	return 0;
}

static int visit_all(struct pruning *p)
{
	int err = 0;

	for (size_t i = 0; !err && i < p->sessions_n; i++)
		err = visit(p, &p->sessions[i]);
	p->too_large = !err && is_full(p);
	return err;
}

static bool any_goes(const struct pruning *p)
{
	for (size_t i = 0; i < p->sessions_n; i++)
		if (may_go(&p->sessions[i]) && (is_old(p, &p->sessions[i]) || is_full(p)))
			return true;
	return false;
}

/* What would be removed must be what was recorded: a change is not made away with. */
static int check_intact(const char *db)
{
	auto_free uint8_t(*keys)[ROWS_KEY_BYTES] = NULL;
	struct verify_options o = {.db = db};
	struct verify_result r;
	auto_free char *why = NULL;
	int err = keys_trusted(&keys, &o.public_keys_n);

	o.public_keys = (const uint8_t(*)[ROWS_KEY_BYTES])keys;
	if (!err && !o.public_keys_n)
		err = -ERR_NOTFOUND;
	if (!err)
		err = verify_store(&o, &r, &why);
	if (err) {
		log_error("nothing was removed: %s", why ? why : err_text(err));
		return AUDIT_USAGE;
	}
	if (!r.wrong)
		return 0;
	log_error("nothing was removed: the record is not intact, and what was done to it must "
	          "not go with it: see wary audit verify");
	return AUDIT_WRONG;
}

static void print_bytes(struct buf *out, uint64_t bytes)
{
	text_thousands(out, (bytes + 1023) / 1024);
	buf_str(out, " KiB");
}

static int finish(const struct pruning *p, int err)
{
	auto_buf line = BUF_INIT;

	if (err) {
		log_error("the record cannot be pruned further: %s", err_text(err));
		return AUDIT_USAGE;
	}
	text_thousands(&line, p->removed);
	buf_fmt(&line, " session%s (", p->removed == 1 ? "" : "s");
	text_thousands(&line, p->rows);
	buf_fmt(&line, " row%s) %sremoved, ", p->rows == 1 ? "" : "s",
	        p->options->dry_run ? "would be " : "");
	buf_str(&line, p->options->dry_run ? "about " : "");
	print_bytes(&line, p->used_bytes);
	buf_str(&line, p->options->dry_run ? " would stay" : " stay");
	printf("wary: %s\n", buf_text(&line) ? line.data : "out of memory");
	if (!p->too_large)
		return AUDIT_FINE;
	log_error("it is still larger than --max-size: what is left cannot go");
	return AUDIT_WRONG;
}

/* After wary's own session, which is one of those that run. */
static int give_back(struct pruning *p)
{
	uint64_t left = 0;
	sigset_t kept;
	int err;

	stop_later(&kept);
	err = space_release(p->store, !prune_any_runs(p->db), &left);
	stop_now(&kept);
	if (left)
		log_detail("%llu free bytes stay in the record's file for later sessions",
		           (unsigned long long)left);
	return err;
}

static int run(struct pruning *p, int argc, char **argv)
{
	struct keys *machine = NULL;
	auto_free char *why = NULL;
	int status = check_intact(p->db);
	int err;

	if (status)
		return status;
	if (keys_machine(false, &machine, &why) != 0) {
		log_error("%s", why ? why : "out of memory");
		return AUDIT_USAGE;
	}
	p->machine = machine;
	p->own = audit_own_open(p->db, argc, argv);
	if (!p->own) {
		keys_free(machine);
		return AUDIT_USAGE;
	}
	err = visit_all(p);
	keys_free(machine);
	if (audit_own_close(p->own, err ? AUDIT_USAGE : AUDIT_FINE) != 0)
		return AUDIT_USAGE;
	if (!err && p->removed)
		err = give_back(p);
	return finish(p, err);
}

static int open_and_run(struct pruning *p, int argc, char **argv)
{
	auto_free char *why = NULL;
	int status;
	int err;

	/* Those that died first become whole. */
	if (!p->options->dry_run && recover_store(p->db, &why) != 0 && why)
		log_detail("%s", why);
	free(ptr_take(why));
	err = store_open(p->db, p->options->dry_run ? STORE_READ : STORE_WRITE, &p->store, &why);
	if (!err)
		err = plan(p);
	if (err) {
		log_error("%s", why ? why : err_text(err));
		status = AUDIT_USAGE;
	} else if (p->options->dry_run || !any_goes(p)) {
		status = finish(p, visit_all(p));
	} else {
		status = run(p, argc, argv);
	}
	store_close(p->store);
	free(p->sessions);
	return status;
}

int audit_prune(int argc, char **argv)
{
	struct options o = {.db = NULL};
	auto_buf db = BUF_INIT;
	struct pruning p = {.options = &o};
	int status = take_options(argc, argv, &o);

	if (status || o.help)
		return status ? status : audit_help("prune");
	if (audit_store_path(o.db, &db) != 0 || !buf_text(&db))
		return AUDIT_USAGE;
	p.db = db.data;
	return open_and_run(&p, argc, argv);
}
