#include "cmd/retain.h"

#include "audit/keys_chain.h"
#include "audit/recover.h"
#include "audit/space.h"
#include "audit/verify.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_own.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* For the record's size nothing goes by policy that ended less than so long ago: else
 * whoever has a session record enough could push out what was recorded before. */
#define YOUNG_US ((uint64_t)7 * 86400 * 1000000)

struct pruning {
	const struct retain_want *want;
	struct retain_result *result;
	struct buf *why;
	struct store *store;
	const struct keys *machine;
	struct audit *own;
	struct prune_session *sessions;
	size_t sessions_n;
	uint64_t *chosen; /* ids of those that would go now, ascending */
	size_t chosen_n;
	uint64_t bytes_a_row;
};

bool retain_policy(const struct policy_audit *policy, struct retain_want *out)
{
	uint64_t now_us = clock_wall_ns() / 1000;
	uint64_t span_us = policy->keep.amount * 1000000;

	*out = (struct retain_want){.policy = policy};
	/* A clock from before that span: nothing is so old. */
	if (policy->keep.amount)
		out->before_us = now_us > span_us ? now_us - span_us : 1;
	out->has_max = policy->max_size.amount != 0;
	out->max_bytes = policy->max_size.amount;
	out->young_us = now_us > YOUNG_US ? now_us - YOUNG_US : 1;
	return out->before_us || out->has_max;
}

static int fail(const struct pruning *p, int status, const char *what)
{
	buf_str(p->why, what);
	return status;
}

static bool is_old(const struct pruning *p, const struct prune_session *s)
{
	return p->want->before_us && s->ended_us && s->ended_us < p->want->before_us;
}

static bool is_full(const struct pruning *p)
{
	return p->want->has_max && p->result->used_bytes > p->want->max_bytes;
}

static bool is_meant(const struct pruning *p, const struct prune_session *s)
{
	return is_old(p, s) ||
	       (is_full(p) && (!p->want->young_us || s->ended_us < p->want->young_us));
}

/* The last one may go too, once wary's own session is after it. */
static bool may_go(const struct prune_session *s)
{
	return s->keep == PRUNE_FREE || s->keep == PRUNE_LAST;
}

/* As if it had gone. */
static void reckon(struct pruning *p, const struct prune_session *s)
{
	uint64_t bytes = (s->events + s->checkpoints) * p->bytes_a_row;
	uint64_t *used = &p->result->used_bytes;

	*used -= bytes < *used ? bytes : *used;
}

static int choose(struct pruning *p)
{
	uint64_t used_bytes = p->result->used_bytes;

	p->chosen = calloc(p->sessions_n + 1, sizeof *p->chosen);
	if (!p->chosen)
		return -ERR_NOMEM;
	for (size_t i = 0; i < p->sessions_n; i++) {
		if (!may_go(&p->sessions[i]) || !is_meant(p, &p->sessions[i]))
			continue;
		p->chosen[p->chosen_n++] = p->sessions[i].id;
		reckon(p, &p->sessions[i]);
	}
	p->result->used_bytes = used_bytes;
	return 0;
}

static int plan(struct pruning *p)
{
	uint64_t rows = 0;
	int err = prune_list(p->store, &p->sessions, &p->sessions_n);

	if (!err)
		err = space_used(p->store, &p->result->used_bytes);
	for (size_t i = 0; !err && i < p->sessions_n; i++)
		rows += p->sessions[i].events + p->sessions[i].checkpoints;
	p->bytes_a_row = rows ? p->result->used_bytes / rows : 0;
	return err ? err : choose(p);
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* By policy what was not verified does not go. */
static bool is_chosen(const struct pruning *p, const struct prune_session *s)
{
	return !p->want->policy ||
	       bsearch(&s->id, p->chosen, p->chosen_n, sizeof *p->chosen, by_id);
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

/* The statement by which a session goes; NULL: a person's word. */
static const struct policy_retention *rule_of(const struct pruning *p,
                                              const struct prune_session *s)
{
	const struct policy_audit *policy = p->want->policy;

	if (!policy)
		return NULL;
	return is_old(p, s) ? &policy->keep : &policy->max_size;
}

static struct audit_event event_of(const struct pruning *p, const struct prune_session *s,
                                   const char *uuid)
{
	const struct policy_retention *rule = rule_of(p, s);
	struct audit_event e = audit_own_event("prune", uuid);

	if (!rule)
		return e;
	e.by_human = false;
	e.rule_file = rule->file;
	e.rule_line = rule->line;
	e.rule_text = rule->text;
	return e;
}

static void put_reason(struct buf *out, const struct policy_retention *rule)
{
	buf_str(out, PRUNE_REASON);
	if (!rule)
		return;
	buf_str(out, ": ");
	text_printable(out, rule->file, strlen(rule->file), 200);
	buf_fmt(out, ":%u %s", rule->line, rule->text);
}

/* On record before it is done, and what became of it after. */
static int remove_one(struct pruning *p, struct prune_session *s)
{
	auto_buf uuid = BUF_INIT;
	auto_buf reason = BUF_INIT;
	struct audit_event e;
	struct receipt *r;
	sigset_t kept;
	int err;

	put_reason(&reason, rule_of(p, s));
	text_hex(&uuid, s->uuid, sizeof s->uuid);
	e = event_of(p, s, buf_text(&uuid));
	r = e.object2 && buf_text(&reason) ? audit_intent(p->own, &e) : NULL;
	if (!r)
		return -ERR_RECORD;
	stop_later(&kept);
	err = prune_remove(p->store, p->machine, s->id, reason.data, &s->keep);
	stop_now(&kept);
	if (audit_outcome(p->own, r, err ? -EIO : s->keep == PRUNE_FREE ? 0 : -EBUSY) != 0 && !err)
		err = -ERR_RECORD;
	if (!err)
		err = space_used(p->store, &p->result->used_bytes);
	return err;
}

static void say(const struct pruning *p, const struct prune_session *s, const char *what)
{
	if (p->want->say)
		p->want->say(p->want->ctx, s, what);
}

static int visit(struct pruning *p, struct prune_session *s)
{
	static const char *const stays[] = {
		[PRUNE_OPEN] = "stays: it runs, or is not recovered yet",
		[PRUNE_HELD] = "stays: it is held",
		[PRUNE_HOLDS] = "stays: it holds another one",
		[PRUNE_LAST] = "stays: it is the last one that wrote",
	};
	bool dry_run = p->want->dry_run;
	int err = 0;

	if (!is_meant(p, s) || (may_go(s) && !is_chosen(p, s)))
		return 0;
	if (may_go(s) && !dry_run)
		err = remove_one(p, s);
	else if (may_go(s))
		reckon(p, s);
	/* Another one that prunes was quicker. */
	if (err == -ERR_NOTFOUND)
		return 0;
	if (err)
		return err;
	if (s->keep == PRUNE_FREE || (dry_run && may_go(s))) {
		say(p, s, dry_run ? "would be removed" : "was removed");
		p->result->removed++;
		p->result->rows += s->events;
	} else {
		say(p, s, stays[s->keep]);
	}
	return 0;
}

static int visit_all(struct pruning *p)
{
	int err = 0;

	for (size_t i = 0; !err && i < p->sessions_n; i++)
		err = visit(p, &p->sessions[i]);
	p->result->too_large = !err && is_full(p);
	return err;
}

/* What would be removed must be what was recorded: a change is not made away with. */
static int check_intact(const struct pruning *p)
{
	auto_free uint8_t(*keys)[ROWS_KEY_BYTES] = NULL;
	struct verify_options o = {.db = p->want->db};
	struct verify_result r;
	auto_free char *why = NULL;
	int err = keys_trusted(&keys, &o.public_keys_n, &why);

	o.public_keys = (const uint8_t(*)[ROWS_KEY_BYTES])keys;
	if (p->want->policy) {
		o.only = p->chosen;
		o.only_n = p->chosen_n;
	}
	if (!err && !o.public_keys_n)
		err = -ERR_NOTFOUND;
	if (!err)
		err = verify_store(&o, &r, &why);
	if (err) {
		buf_fmt(p->why, "nothing was removed: %s", why ? why : err_text(err));
		return AUDIT_USAGE;
	}
	if (!r.wrong)
		return AUDIT_FINE;
	return fail(p, AUDIT_WRONG,
	            "nothing was removed: the record is not intact, and what was done to it must "
	            "not go with it: see wary audit verify");
}

/* After wary's own session, which is one of those that run. */
static int give_back(struct pruning *p)
{
	uint64_t left = 0;
	sigset_t kept;
	int err;

	stop_later(&kept);
	/* By policy nobody waits for a store to be written anew. */
	err = space_release(p->store, !p->want->policy && !prune_any_runs(p->want->db), &left);
	stop_now(&kept);
	if (left)
		log_detail("%llu free bytes stay in the record's file for later sessions",
		           (unsigned long long)left);
	return err;
}

static int finish(const struct pruning *p, int err)
{
	if (err) {
		buf_fmt(p->why, "the record cannot be pruned further: %s", err_text(err));
		return AUDIT_USAGE;
	}
	if (!p->result->too_large || p->want->policy)
		return AUDIT_FINE;
	return fail(p, AUDIT_WRONG, "it is still larger than --max-size: what is left cannot go");
}

static int run(struct pruning *p, int argc, char **argv)
{
	struct keys *machine = NULL;
	auto_free char *why = NULL;
	int status = check_intact(p);
	int err;

	if (status)
		return status;
	if (keys_machine(false, &machine, &why) != 0)
		return fail(p, AUDIT_USAGE, why ? why : "out of memory");
	p->machine = machine;
	p->own = audit_own_open(p->want->db, argc, argv);
	if (!p->own) {
		keys_free(machine);
		return fail(p, AUDIT_USAGE, "nothing was removed: that cannot be recorded");
	}
	err = visit_all(p);
	keys_free(machine);
	if (audit_own_close(p->own, err ? AUDIT_USAGE : AUDIT_FINE) != 0)
		return fail(p, AUDIT_USAGE, "the record cannot be written to its end");
	if (!err && p->result->removed)
		err = give_back(p);
	return finish(p, err);
}

int retain_run(const struct retain_want *want, int argc, char **argv, struct retain_result *out,
               struct buf *why)
{
	struct pruning p = {.want = want, .result = out, .why = why};
	auto_free char *reason = NULL;
	int status;
	int err;

	*out = (struct retain_result){0};
	/* Those that died first become whole. */
	if (!want->dry_run && recover_store(want->db, &reason) != 0 && reason)
		log_detail("%s", reason);
	free(ptr_take(reason));
	err = store_open(want->db, want->dry_run ? STORE_READ : STORE_WRITE, &p.store, &reason);
	if (!err)
		err = plan(&p);
	if (err)
		status = fail(&p, AUDIT_USAGE, reason ? reason : err_text(err));
	else if (want->dry_run || !p.chosen_n)
		status = finish(&p, visit_all(&p));
	else
		status = run(&p, argc, argv);
	store_close(p.store);
	free(p.sessions);
	free(p.chosen);
	return status;
}
