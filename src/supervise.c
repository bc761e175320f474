#include "supervise.h"

#include "answer/arrivals.h"
#include "answer/families.h"
#include "answer/hand.h"
#include "answer/reply.h"
#include "answer/request.h"
#include "ask/ask.h"
#include "ask/notice.h"
#include "base/log.h"
#include "base/own.h"
#include "base/uses.h"
#include "call/decode.h"
#include "pool.h"
#include "trap/notify.h"
#include "trap/processes.h"
#include "trap/stack.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

USES(kill, unlinkat);

/* How often one call is judged anew when what was judged has changed. */
#define ATTEMPTS_MAX 32

/* What the stages said about one call. */
struct judgement {
	struct verdict verdict;    /* the strictest of the request's */
	const struct facts *facts; /* that it is about */
	struct ask_reply reply;    /* of a person */
	enum notice_why why;       /* a refusal */
	const char *detail;        /* NOTICE_BROKEN: what failed */
	bool by_human;
	bool ends_all;  /* a person wants the tree ended: its caller is not answered */
	bool restarted; /* sent back for its stack: it comes again */
};

static pid_t pid_of(const struct request *r)
{
	return r->caller.tgid ? r->caller.tgid : r->call->tid;
}

/* @patient: only the caller's end may end the wait, not its signals. */
static int block_begin(struct request *r, bool patient)
{
	atomic_store(&r->worker->patient, patient);
	return worker_block_begin(r->worker, r->call->id, r->call->tid);
}

/* ---- the stages ------------------------------------------------------- */

static void stop_tree(struct supervisor *s)
{
	uint64_t one = 1;

	if (write(s->stop_fd, &one, sizeof one) < 0)
		return; /* full: it has been told */
}

/* fetch and resolve: the family's own.  Who calls is looked up first, so that
 * the family's validity check covers it as well (law 3). */
static int prepare(struct request *r)
{
	const struct family *f = families[r->call->row->family];
	/* Who is about to run a program gets its row with that. */
	bool execs = r->call->row->family == FAMILY_exec;
	bool first = false;
	int err;

	hand_ready(r);
	r->caller.program = lineage_of_first(r->sup->lineage, r->call->tid, &r->caller.tgid,
	                                     execs ? NULL : &first);
	if (first && processes_forked(r->sup->processes, r->caller.tgid, r->sup->listener_fd,
	                              r->call->id) != 0)
		stop_tree(r->sup);
	err = f ? f->prepare(r) : -ERR_UNSUPPORTED;
	for (unsigned i = 0; i < r->facts_n; i++) /* a secret is for who is not there yet */
		if (r->facts[i].class != CLASS_SECRET)
			lineage_facts(r->caller.program, &r->facts[i]);
	return err;
}

/* decide: one question for each class and object; the strictest stands. */
static void decide(struct request *r, struct judgement *j)
{
	invariant(r->facts_n > 0 && r->facts_n <= r->facts_cap);
	for (unsigned i = 0; i < r->facts_n; i++) {
		struct verdict *v = &r->verdicts[i];

		policy_decide(r->sup->policy, &r->facts[i], v);
		if (r->sup->learn && !v->is_floor)
			v->answer = ANSWER_ALLOW;
#ifdef WARY_PLANT_ALLOW_ALL /* tests/e2e/boundary.py: what the kernel still refuses */
		v->answer = ANSWER_ALLOW;
#endif
		if (i == 0 || v->answer > j->verdict.answer) {
			j->verdict = *v;
			j->facts = &r->facts[i];
		}
	}
}

static void event_of(const struct request *r, const struct judgement *j, struct audit_event *e);

/* The question and its answer, as a row of its own beside the decision's. */
static void note_question(struct request *r, const struct judgement *j, enum ask_answer answer,
                          const char *stack)
{
	struct audit_event e;

	if (j->reply.remembered)
		return;
	event_of(r, j, &e);
	e.kind = AUDIT_QUESTION;
	e.object2 = answer == ASK_NOBODY ? "nobody" : j->reply.channel;
	e.stack = stack;
	if (audit_note(r->sup->audit, &e, answer == ASK_YES ? 0 : -EACCES) != 0)
		stop_tree(r->sup);
}

static const enum notice_why why_of[] = {
	[ASK_NO] = NOTICE_HUMAN,
	[ASK_NOBODY] = NOTICE_NOBODY,
	[ASK_GONE] = NOTICE_HUMAN,
	[ASK_STOP] = NOTICE_HUMAN,
};

/* ask: a person, where the policy says so; whatever is not a yes refuses.
 * The stack is taken first: the caller then comes again with the same call. */
static void ask(struct request *r, struct judgement *j)
{
	struct supervisor *s = r->sup;
	struct ask_question q = {
		.facts = r->facts,
		.verdicts = r->verdicts,
		.n = r->facts_n,
		.pid = pid_of(r),
		.cancelled = &r->worker->cancelled,
	};
	enum ask_answer answer = ASK_NO;
	auto_free char *stack = NULL;

	if (block_begin(r, true) == 0) {
		stack = stacks_find(s->stacks, r->call);
		q.stack = stack;
		if (!stack && j->verdict.stack &&
		    stacks_take(s->stacks, s->listener_fd, r->call) == 0)
			j->restarted = true;
		else
			answer = ask_put(s->ask, &q, &j->reply);
		worker_block_end(r->worker);
		atomic_store(&r->worker->patient, false);
	}
	if (j->restarted)
		return;
	j->by_human = answer != ASK_NOBODY;
	j->why = why_of[answer == ASK_YES ? ASK_NO : answer];
	j->verdict.answer = answer == ASK_YES ? ANSWER_ALLOW : ANSWER_DENY;
	j->ends_all = answer == ASK_STOP;
	if (j->ends_all)
		stop_tree(s);
	if (answer != ASK_GONE)
		note_question(r, j, answer, stack);
}

static void event_of(const struct request *r, const struct judgement *j, struct audit_event *e)
{
	const struct facts *f = j->facts;

	*e = (struct audit_event){
		.kind = AUDIT_DECISION,
		.class = f->class,
		.answer = j->verdict.answer,
		.by_human = j->by_human,
		.rule_file = j->verdict.file,
		.rule_line = j->verdict.line,
		.rule_text = j->verdict.text,
		.pid = r->caller.tgid,
		.tid = r->call->tid,
		.uid = r->worker->fsuid_now,
		.program = f->by.path,
		.syscall = r->call->row->name,
		.object = f->object,
		.flags = r->flags,
	};
	if (r->facts_n > 1 && f == &r->facts[0])
		e->object2 = strcmp(r->facts[1].object, f->object) != 0 ? r->facts[1].object : NULL;
	if (f->class == CLASS_EXEC) {
		e->argv = f->target.argv;
		e->argc = f->target.argc;
		e->cwd = r->cwd;
		e->sha256 = f->target.sha256;
	}
}

/* O_TRUNC, as the caller: who empties a file may have to take bits off it. */
static void truncate_opened(struct request *r)
{
	if (hand_on(r) != 0) {
		r->reply.value = -EIO;
		return;
	}
	reply_truncate(&r->reply);
	hand_off(r);
}

/* What a run of a package manager has written, before its process goes on. */
static void note_arrivals(const struct request *r)
{
	const struct lineage_entry *e = r->caller.program;
	uint32_t run = e ? e->install_run : 0;
	static const uint32_t changes = 1u << CLASS_WRITE | 1u << CLASS_CREATE |
	                                1u << CLASS_DELETE | 1u << CLASS_ATTR | 1u << CLASS_LINK;

	if (!run && ((e && e->known) || !arrivals_seen(r->sup->arrivals)))
		return;
	for (unsigned i = 0; i < r->facts_n; i++)
		if (changes >> r->facts[i].class & 1)
			arrivals_touch(r->sup->arrivals, run, r->facts[i].object);
}

/* answer: the descriptor first, then the outcome on record, then the reply
 * (law 6: in three steps; law 7: outcome before answer). */
static void answer(struct request *r, struct receipt *receipt)
{
	const struct place *made = &r->target.place[0];
	struct reply *y = &r->reply;
	int listener = r->sup->listener_fd;

	if (y->fd >= 0)
		y->value = notify_add_fd(listener, r->call->id, y->fd, y->fd_flags, y->at_fd);
	if (y->fd >= 0 && y->value >= 0 && y->truncate)
		truncate_opened(r);
	if (y->fd >= 0 && y->value < 0 && y->undo)
		(void)unlinkat(made->parent_fd, made->name, 0);
	fd_drop(&y->fd);
	if (y->value < 0) /* nothing was */
		y->lost.known = false;
	if (receipt && audit_outcome_lost(r->sup->audit, receipt, y->value, &y->lost) != 0) {
		y->value = -EIO;
		y->proceed = false;
		stop_tree(r->sup);
	}
	if (receipt && y->value >= 0)
		note_arrivals(r);
	if (y->answered)
		return;
	worker_look(r->worker);
	if (y->signal)
		(void)syscall(SYS_tgkill, r->caller.tgid, r->call->tid, y->signal);
	if (y->proceed)
		notify_continue(listener, r->call->id);
	else
		notify_send(listener, r->call->id, y->value);
}

static void kill_caller(struct request *r)
{
	if (mem_valid(&r->mem) == 0)
		(void)kill(pid_of(r), SIGKILL);
}

/* A refusal is an answer too: on record before it is seen.  Who is to be ended
 * waits for that, and gets none: not one instruction more. */
static void refuse(struct request *r, const struct judgement *j)
{
	struct audit_event e;
	long result = -(j->verdict.as_errno ? j->verdict.as_errno : EACCES);

	event_of(r, j, &e);
	if (j->verdict.answer != ANSWER_KILL)
		e.answer = ANSWER_DENY;
	if (audit_note(r->sup->audit, &e, result) != 0) {
		result = -EIO;
		stop_tree(r->sup);
	}
	notice_refused(r->sup->notice, j->facts, &j->verdict, pid_of(r), j->why, j->detail);
	if (j->verdict.answer == ANSWER_KILL)
		kill_caller(r);
	if (!j->ends_all)
		notify_send(r->sup->listener_fd, r->call->id, result);
}

/* What wary itself says, where no rule was asked: a row that is always
 * refused, an argument that cannot be read, a failure of its own. */
static void judge_without_rule(struct request *r, int err, struct judgement *j)
{
	const struct call_row *row = r->call->row;

	if (r->facts_n == 0) {
		r->facts[0] = (struct facts){
			.class = CLASS_SYSCALL,
			.object = row->name,
		};
		r->facts_n = 1;
		lineage_facts(r->caller.program, &r->facts[0]);
	}
	j->facts = &r->facts[0];
	j->by_human = false;
	j->verdict = (struct verdict){.file = "built in"};
	if (row->means == MEANS_REFUSE) {
		j->verdict.answer = ANSWER_DENY;
		j->verdict.text = row->why;
		j->verdict.as_errno = row->refuse_errno;
		j->verdict.is_floor = true;
	} else if (err < 0) {
		j->verdict.answer = ANSWER_DENY;
		j->verdict.text = err_text(err);
		j->verdict.as_errno = err_errno(err);
		j->why = NOTICE_BROKEN;
		j->detail = err_text(err);
	} else {
		j->verdict.answer = ANSWER_ALLOW; /* decided by the kernel's rules */
		j->verdict.text = "no effect";
	}
}

static void target_init(struct target *t)
{
	place_init(&t->place[0]);
	place_init(&t->place[1]);
	t->object_fd = -1;
	t->socket_fd = -1;
	t->more = NULL;
	t->more_free = NULL;
}

static void target_done(struct target *t)
{
	fd_drop(&t->object_fd);
	fd_drop(&t->socket_fd);
	if (t->more_free)
		t->more_free(t->more);
	place_done(&t->place[0]);
	place_done(&t->place[1]);
}

#ifdef WARY_PLANT_FETCH_TWICE
/* A fault, planted only where tests/race builds a wary of its own: the effect is
 * on what stands in the arguments by then, not on what was judged. */
static void fetch_twice(struct request *r)
{
	target_done(&r->target);
	target_init(&r->target);
	if (families[r->call->row->family]->prepare(r) != 0)
		r->reply.value = -EIO;
}
#endif

#ifdef WARY_PLANT_WRITE_LATE
/* Likewise: the caller may be another program by the time of the effect. */
static void be_late(struct request *r)
{
	if (strcmp(r->call->row->name, "readlink") != 0 || block_begin(r, true) != 0)
		return;
	usleep((useconds_t)(10000 + r->call->id % 8 * 5000));
	worker_block_end(r->worker);
}
#endif

static void act(struct request *r, const struct judgement *j, bool effect)
{
	struct audit_event e;
	struct receipt *receipt;

	event_of(r, j, &e);
	receipt = audit_intent(r->sup->audit, &e);
	if (!receipt) {
		stop_tree(r->sup);
		notify_send(r->sup->listener_fd, r->call->id, -EIO);
		r->reply.again = false;
		return;
	}
#ifdef WARY_PLANT_FETCH_TWICE
	if (effect)
		fetch_twice(r);
#endif
#ifdef WARY_PLANT_WRITE_LATE
	be_late(r);
#endif
	if (effect)
		families[r->call->row->family]->act(r, receipt);
	if (r->reply.again && r->attempt + 1 < ATTEMPTS_MAX) {
		if (audit_outcome(r->sup->audit, receipt, -ERR_RACE) != 0)
			stop_tree(r->sup);
		return;
	}
	if (r->reply.again)
		r->reply.value = -EAGAIN;
	r->reply.again = false;
	answer(r, receipt);
}

/* ---- one call --------------------------------------------------------- */

static void request_begin(struct request *r, const struct call *c, unsigned attempt)
{
	r->call = c;
	r->attempt = attempt;
	request_facts_reset(r);
	r->flags = 0;
	r->mode = 0;
	r->cwd = NULL;
	r->caller.tid = c->tid;
	r->caller.tgid = 0;
	r->caller.program = NULL;
	r->reply = (struct reply){.fd = -1, .at_fd = -1};
	mem_init(&r->mem, r->sup->listener_fd, c->id, c->tid);
	target_init(&r->target);
}

static void request_end(struct request *r)
{
	request_facts_reset(r);
	fd_drop(&r->reply.fd);
	target_done(&r->target);
	mem_done(&r->mem);
	lineage_put(r->sup->lineage, r->caller.program);
	r->caller.program = NULL;
}

/* notification → decode → fetch → resolve → decide → ask → record the intent
 * → act → record the outcome → answer.  Returns whether to judge anew. */
static bool handle_call(struct request *r)
{
	struct judgement j = {0};
	int err = prepare(r);

	if (err == -ERR_GONE && mem_valid(&r->mem) != 0)
		return false; /* nobody is left to be answered; nothing was done */
	if (err == -ERR_GONE)
		err = -ERR_SYS; /* it waits still: only wary could not look at it */
	if (err == 0 && r->facts_n == 0) {
#ifdef WARY_PLANT_FETCH_TWICE
		fetch_twice(r);
#endif
		families[r->call->row->family]->act(r, NULL);
		answer(r, NULL);
		return false;
	}
	if (err != 0) {
		judge_without_rule(r, err, &j);
	} else {
		decide(r, &j);
		if (j.verdict.answer == ANSWER_ASK)
			ask(r, &j);
		if (j.restarted)
			return false;
	}
	if (j.verdict.answer != ANSWER_ALLOW) {
		refuse(r, &j);
		return false;
	}
	act(r, &j, err == 0);
	return r->reply.again;
}

static void serve(struct worker *w, const struct seccomp_notif *n)
{
	struct request *r = w->request;
	struct call c;
	bool again = true;

	invariant(atomic_load_explicit(&w->sup->goes, memory_order_acquire));
	if (!r) {
		r = w->request = calloc(1, sizeof *r);
		if (!r) {
			notify_send(w->sup->listener_fd, n->id, -ENOMEM);
			return;
		}
		r->worker = w;
		r->sup = w->sup;
	}
	if (call_decode(n, &c) != 0) { /* no row, or another architecture */
		notify_send(w->sup->listener_fd, n->id, -ENOSYS);
		return;
	}
	for (unsigned attempt = 0; again; attempt++) {
		request_begin(r, &c, attempt);
		again = handle_call(r);
		request_end(r);
	}
}

static void done(struct worker *w)
{
	hand_free(w);
	free(w->request);
	w->request = NULL;
}

static const struct pool_ops ops = {.serve = serve, .done = done};

int supervise_start(struct supervisor *s)
{
	return pool_start(s, &ops, &s->pool);
}

void supervise_go(struct supervisor *s)
{
	atomic_store_explicit(&s->goes, true, memory_order_release);
}

void supervise_stop(struct supervisor *s)
{
	pool_stop(s->pool);
	s->pool = NULL;
}
