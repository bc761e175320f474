/* The questions that are open, and the thread that carries them to a terminal
 * and to the control socket and their answers back.
 *
 * Invariants:
 * 1. The lock is held by whoever touches struct ask; never while waiting.
 * 2. A pending question belongs to its waiters and to the thread: it is freed
 *    by the last waiter once it is done.
 * 3. Whatever goes wrong is a no: nothing is ever allowed by default.
 */
#include "ask/ask.h"

#include "ask/answers.h"
#include "ask/asker.h"
#include "ask/control.h"
#include "ask/memo.h"
#include "ask/question.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/uses.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

USES(eventfd2);

/* A tree that asks for more at once is refused: nobody could read them. */
#define PENDING_MAX 256
#define LOOK_MS 200

struct pending {
	struct pending *next;
	uint64_t id;
	char *key; /* what makes two questions the same */
	struct card card;
	unsigned waiters;
	bool foldable;    /* not `each` */
	bool on_terminal; /* may be answered there; at the socket */
	bool on_socket;
	bool shown;      /* on the terminal now */
	bool recalled;   /* … and taken back from there */
	bool remembered; /* what the answer means from now on is kept */
	bool withdrawn;  /* nobody waits any more */
	bool done;
	int done_fd; /* readable when done */
	enum ask_answer answer;
	struct ask_reply reply;
	unsigned choice;
};

struct ask {
	pthread_mutex_t lock;
	struct asker asker;
	bool started, stopping;
	pthread_t thread;
	int wake_fd;
	struct control *control;
	struct pending *first; /* in the order in which they came */
	size_t pending_n;
	uint64_t next_id;
	struct memo memo;
	pid_t guardian_pid;
	char *session, *answers, *home;
};

/* ---- start and end ---------------------------------------------------------- */

int ask_start(struct ask **out)
{
	struct ask *a = calloc(1, sizeof *a);
	int err;

	if (!a)
		return -ERR_NOMEM;
	a->next_id = 1;
	err = asker_start(&a->asker);
	a->wake_fd = err ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!err && (a->wake_fd < 0 || pthread_mutex_init(&a->lock, NULL) != 0))
		err = -ERR_SYS;
	if (err) {
		asker_stop(&a->asker);
		fd_drop(&a->wake_fd);
		free(a);
		return err;
	}
	*out = a;
	return 0;
}

bool ask_frozen(const struct ask *a)
{
	return a->asker.shared && atomic_load(&a->asker.shared->frozen);
}

bool ask_was_stopped(struct ask *a)
{
	asker_settle(&a->asker);
	pthread_mutex_lock(&a->lock);
	a->asker.audit = NULL; /* it is about to be closed */
	pthread_mutex_unlock(&a->lock);
	return atomic_load(&a->asker.was_stopped);
}

bool ask_is_terminal(const struct ask *a)
{
	return a->asker.socket_fd >= 0;
}

bool ask_is_open(const struct ask *a)
{
	return a->control != NULL;
}

static void wake(struct ask *a)
{
	uint64_t one = 1;

	(void)!write(a->wake_fd, &one, sizeof one); /* full: it is awake */
}

static void finish(struct ask *a, struct pending *p, enum ask_answer answer)
{
	uint64_t one = 1;

	if (p->done)
		return;
	p->done = true;
	p->answer = answer;
	if (a->control && p->on_socket)
		control_withdrawn(a->control, p->id);
	if (write(p->done_fd, &one, sizeof one) < 0)
		return; /* cannot be full: written once */
}

static void pending_free(struct ask *a, struct pending *p)
{
	struct pending **at = &a->first;

	while (*at && *at != p)
		at = &(*at)->next;
	if (*at) {
		*at = p->next;
		a->pending_n--;
	}
	card_free(&p->card);
	free(p->key);
	fd_drop(&p->done_fd);
	free(p);
}

void ask_stop(struct ask *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stopping = true;
	pthread_mutex_unlock(&a->lock);
	wake(a);
	if (a->started)
		pthread_join(a->thread, NULL);
	asker_stop(&a->asker);
	control_close(a->control);
	/* The workers have ended before: nobody waits for these any more. */
	while (a->first)
		pending_free(a, a->first);
	memo_free(&a->memo);
	pthread_mutex_destroy(&a->lock);
	fd_drop(&a->wake_fd);
	free(a->session);
	free(a->answers);
	free(a->home);
	free(a);
}

/* ---- answers ---------------------------------------------------------------- */

static struct pending *find(struct ask *a, uint64_t id)
{
	for (struct pending *p = a->first; p; p = p->next)
		if (p->id == id)
			return p;
	return NULL;
}

/* An answer that lasts is written before it counts. What cannot be written
 * still holds for this session, and is said. */
static void write_rule(struct ask *a, struct pending *p, const struct dialog_result *r)
{
	const char *rule = r->answer == DIALOG_YES ? p->card.allow[r->choice] : p->card.deny;
	int err = answers_add(a->answers, rule, a->session);

	if (err) {
		log_error("the answer holds for this session only: %s: %s", a->answers,
		          err == -ERR_SYS ? strerrordesc_np(errno) : err_text(err));
		p->reply.scope = ASK_SESSION;
		return;
	}
	strncat(p->reply.rule, rule, sizeof p->reply.rule - 1); /* lint: strncat: bounded */
}

/* From the terminal or the socket; @p is open. Takes only what was offered. */
static void take_answer(struct ask *a, struct pending *p, const struct dialog_result *r,
                        const char *channel)
{
	static const enum ask_scope scopes[] = {[DIALOG_ONCE] = ASK_ONCE,
	                                        [DIALOG_SESSION] = ASK_SESSION,
	                                        [DIALOG_ALWAYS] = ASK_ALWAYS};
	bool always = r->scope == DIALOG_ALWAYS;

	p->reply.channel = channel;
	if ((always && !p->card.may_always) ||
	    (r->scope == DIALOG_SESSION && !p->card.may_session) ||
	    (always && r->answer == DIALOG_YES && r->choice >= p->card.choices_n)) {
		finish(a, p, ASK_NO);
		return;
	}
	p->reply.scope = scopes[r->scope];
	p->choice = r->choice;
	if (r->answer == DIALOG_STOP) {
		finish(a, p, ASK_STOP);
		return;
	}
	if (always)
		write_rule(a, p, r);
	finish(a, p, r->answer == DIALOG_YES ? ASK_YES : ASK_NO);
}

static bool can_ask(const struct ask *a, const struct pending *p)
{
	return (p->on_terminal && a->asker.socket_fd >= 0) ||
	       (p->on_socket && a->control && control_clients(a->control) > 0);
}

/* Somebody stands at the socket: the thread, which is woken, looks who. */
static bool may_come(const struct ask *a, const struct pending *p)
{
	return p->on_socket && a->control && control_waits(a->control);
}

static void finish_unaskable(struct ask *a)
{
	for (struct pending *p = a->first; p; p = p->next)
		if (!can_ask(a, p))
			finish(a, p, ASK_NOBODY);
}

/* ---- the thread --------------------------------------------------------------- */

/* Shows the first question that waits; one at a time. */
static void show_next(struct ask *a)
{
	struct pending *next = NULL;

	if (a->asker.socket_fd < 0)
		return;
	for (struct pending *p = a->first; p; p = p->next) {
		if (p->shown)
			return;
		if (!next && !p->done && !p->withdrawn && p->on_terminal)
			next = p;
	}
	if (!next)
		return;
	next->shown = asker_show(&a->asker, &next->card) == 0;
	if (!next->shown)
		asker_leave(&a->asker);
}

static void read_asker(struct ask *a)
{
	struct asker_reply r;
	struct pending *p;
	int err = asker_reply_read(&a->asker, &r);

	if (err == -ERR_BUSY)
		return;
	if (err) {
		asker_leave(&a->asker);
		asker_mend(&a->asker, a->guardian_pid);
		return;
	}
	p = find(a, r.id);
	if (!p)
		return;
	p->shown = false;
	if (r.answer == DIALOG_LOST) {
		asker_leave(&a->asker);
	} else if (r.answer == DIALOG_WITHDRAWN) {
		/* Answered at the socket, or its callers have gone: done. */
	} else if (!p->done) {
		struct dialog_result result = {r.answer, r.scope, r.choice};

		take_answer(a, p, &result, "terminal");
	}
}

/* Frees what is done and no longer waited for; takes back from the terminal
 * what was answered elsewhere. */
static void tidy(struct ask *a)
{
	struct pending *next;

	for (struct pending *p = a->first; p; p = next) {
		next = p->next;
		if (p->shown && (p->done || p->withdrawn) && a->asker.socket_fd >= 0) {
			if (!p->recalled)
				asker_withdraw(&a->asker, p->id);
			p->recalled = true;
			continue; /* freed when the asker has replied */
		}
		if (p->waiters == 0 && (p->done || p->withdrawn)) {
			if (!p->done && a->control)
				control_withdrawn(a->control, p->id);
			pending_free(a, p);
		}
	}
}

static void client_came(void *ctx, struct control *c, int client)
{
	struct ask *a = ctx;

	for (struct pending *p = a->first; p; p = p->next)
		if (p->on_socket && !p->done && !p->withdrawn)
			control_tell(c, client, &p->card);
}

static void client_answered(void *ctx, const struct control_answer *answer)
{
	struct ask *a = ctx;
	struct pending *p = find(a, answer->id);

	if (p && p->on_socket && !p->done)
		take_answer(a, p, &answer->result, "approve");
}

/* One turn, under the lock: what poll(2) found, then what follows from it. */
static void turn(struct ask *a, const struct pollfd *p)
{
	uint64_t woken;

	if (p[0].revents && read(a->wake_fd, &woken, sizeof woken) < 0)
		woken = 0;
	if (p[1].revents)
		read_asker(a);
	if (a->control)
		control_serve(a->control, p + 2);
	finish_unaskable(a);
	tidy(a);
	show_next(a);
}

static void *run(void *arg)
{
	struct ask *a = arg;
	struct pollfd p[2 + CONTROL_CLIENTS_MAX + 1];

	pthread_mutex_lock(&a->lock);
	while (!a->stopping) {
		size_t n = 2;

		p[0] = (struct pollfd){.fd = a->wake_fd, .events = POLLIN};
		p[1] = (struct pollfd){.fd = a->asker.socket_fd, .events = POLLIN};
		if (a->control)
			n += control_poll(a->control, p + 2);
		pthread_mutex_unlock(&a->lock);
		if (poll(p, (nfds_t)n, -1) < 0 && errno != EINTR)
			log_error("waiting for answers: %s", strerrordesc_np(errno));
		pthread_mutex_lock(&a->lock);
		turn(a, p);
	}
	for (struct pending *q = a->first; q; q = q->next)
		finish(a, q, ASK_NO);
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

static char *copy_of(const char *s, bool *failed)
{
	char *copy = s ? strdup(s) : NULL;

	*failed = *failed || (s && !copy);
	return copy;
}

int ask_begin(struct ask *a, const struct ask_config *config)
{
	struct control_ops ops = {a, client_came, client_answered};
	bool failed = false;
	bool started;
	int err;

	a->guardian_pid = config->guardian_pid;
	a->asker.audit = config->audit;
	a->session = copy_of(config->session_id, &failed);
	a->answers = copy_of(config->answers_path, &failed);
	a->home = copy_of(config->home, &failed);
	if (failed)
		return -ERR_NOMEM;
	if (config->socket_path) {
		err = control_open(config->socket_path, a->session, a->guardian_pid, &ops,
		                   &a->control);
		if (err)
			log_detail("no control socket at %s: %s", config->socket_path,
			           err_text(err));
	}
	started = thread_begin(&a->thread, NULL, run, a) == 0;
	/* Workers may have come first. */
	pthread_mutex_lock(&a->lock);
	a->started = started;
	pthread_mutex_unlock(&a->lock);
	return started ? 0 : -ERR_SYS;
}

/* ---- a question ------------------------------------------------------------------ */

/* An earlier answer for every part, or a no for one: 1, 0; -1: ask. */
static int remembered(const struct ask *a, const struct ask_question *q)
{
	uint64_t now = clock_mono_ns();
	int all = 1;

	for (size_t i = 0; i < q->n; i++) {
		int one;

		if (!question_is_asked(q, i))
			continue;
		if (q->verdicts[i].each)
			return -1;
		one = memo_find(&a->memo, &q->facts[i], now);
		if (one == 0)
			return 0;
		if (one < 0)
			all = -1;
	}
	return all;
}

/* Takes @key. Returns NULL where it cannot be asked: *why. */
static struct pending *pending_new(struct ask *a, const struct ask_question *q, char *key,
                                   enum ask_answer *why)
{
	struct pending *p = calloc(1, sizeof *p);
	struct pending **end = &a->first;

	*why = ASK_NO;
	if (!p || a->pending_n >= PENDING_MAX) {
		free(key);
		free(p);
		return NULL;
	}
	p->key = key;
	p->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->reply.channel = "nobody";
	question_channels(q, &p->on_terminal, &p->on_socket, &p->foldable);
	if (!can_ask(a, p) && !may_come(a, p))
		*why = ASK_NOBODY;
	if (*why == ASK_NOBODY || p->done_fd < 0 ||
	    question_card(q, &a->memo, a->home, a->answers != NULL, &p->card) != 0) {
		pending_free(a, p);
		return NULL;
	}
	p->id = p->card.id = a->next_id++;
	p->card.guardian_pid = a->guardian_pid;
	while (*end)
		end = &(*end)->next;
	*end = p;
	a->pending_n++;
	if (a->control && p->on_socket)
		control_tell(a->control, -1, &p->card);
	return p;
}

static struct pending *pending_for(struct ask *a, const struct ask_question *q,
                                   enum ask_answer *why)
{
	char *key = question_key(q);

	*why = ASK_NO;
	if (!key || memo_is_refused(&a->memo, q->pid, key, clock_mono_ns())) {
		free(key);
		return NULL;
	}
	for (struct pending *p = a->first; p; p = p->next)
		if (p->foldable && !p->done && !p->withdrawn && strcmp(p->key, key) == 0) {
			free(key);
			return p;
		}
	return pending_new(a, q, key, why);
}

/* What a lasting answer covers from now on, for each part. */
static void remember(struct ask *a, const struct ask_question *q, const struct pending *p)
{
	uint64_t now = clock_mono_ns();
	bool yes = p->answer == ASK_YES;

	if (!yes && p->answer != ASK_NO)
		return;
	if (!yes)
		memo_refuse(&a->memo, q->pid, p->key, now);
	for (size_t i = 0; i < q->n; i++) {
		const struct facts *f = &q->facts[i];
		struct rule_choice what = {.object = (char *)f->object, .by = true};
		struct rule_choices choices = {0};
		uint32_t for_s = q->verdicts[i].for_s;

		if (!question_is_asked(q, i) || q->verdicts[i].each)
			continue;
		(yes ? a->memo.yes : a->memo.no)[f->class]++;
		if (p->reply.scope == ASK_ONCE && !(yes && for_s))
			continue;
		if (p->reply.scope != ASK_ONCE)
			for_s = 0;
		if (p->reply.scope == ASK_ALWAYS && yes && rule_choices_make(f, &choices) == 0 &&
		    p->choice < choices.n)
			what = choices.each[p->choice];
		if (memo_find(&a->memo, f, now) != (yes ? 1 : 0))
			memo_add(&a->memo, f, &what, yes, for_s, now);
		rule_choices_free(&choices);
	}
}

/* Waits, without the lock. Returns false: the caller has gone. */
static bool wait_for(const struct ask_question *q, int done_fd)
{
	struct pollfd p = {.fd = done_fd, .events = POLLIN};

	for (;;) {
		if (poll(&p, 1, LOOK_MS) > 0)
			return true;
		if (q->cancelled && atomic_load(q->cancelled))
			return false;
	}
}

enum ask_answer ask_put(struct ask *a, const struct ask_question *q, struct ask_reply *reply)
{
	enum ask_answer answer = ASK_NO;
	struct pending *p;
	bool stayed;
	int known;

	*reply = (struct ask_reply){.channel = "memory"};
	pthread_mutex_lock(&a->lock);
	known = remembered(a, q);
	if (known >= 0 || a->stopping || !a->started) {
		pthread_mutex_unlock(&a->lock);
		reply->remembered = known >= 0;
		reply->scope = ASK_SESSION;
		return known == 1 ? ASK_YES : ASK_NO;
	}
	p = pending_for(a, q, &answer);
	if (!p) {
		pthread_mutex_unlock(&a->lock);
		reply->channel = answer == ASK_NOBODY ? "nobody" : "memory";
		return answer;
	}
	p->waiters++;
	pthread_mutex_unlock(&a->lock);
	wake(a);
	stayed = wait_for(q, p->done_fd);
	pthread_mutex_lock(&a->lock);
	p->waiters--;
	if (p->done) {
		answer = stayed ? p->answer : ASK_GONE;
		*reply = p->reply;
		if (!p->remembered)
			remember(a, q, p);
		p->remembered = true;
	} else {
		answer = ASK_GONE;
		p->withdrawn = p->waiters == 0;
	}
	pthread_mutex_unlock(&a->lock);
	wake(a);
	return answer;
}

const struct asker *ask_asker(const struct ask *a)
{
	return &a->asker;
}

pid_t ask_pid(const struct ask *a)
{
	return a ? a->asker.pid : 0;
}
