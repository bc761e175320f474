#include "lookup.h"

#include "ask/ask.h"
#include "ask/notice.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/own.h"
#include "base/uses.h"
#include "net/guard.h"
#include "net/names.h"
#include "tracee/lineage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

USES(open_read);

#define HOSTS_FILE "/etc/hosts"
#define HOSTS_MAX_BYTES ((size_t)4 << 20)

/* A question that the policy leaves to a person. */
static enum ask_answer put(struct supervisor *s, const struct guard_asker *who,
                           const struct facts *f, const struct verdict *v)
{
	const struct ask_question q = {
		.facts = f, .verdicts = v, .n = 1, .pid = who->pid, .cancelled = &s->lookups_over};
	struct ask_reply reply;

	return ask_put(s->ask, &q, &reply);
}

static void event_of(const struct guard_asker *who, const struct facts *f, const struct verdict *v,
                     struct audit_event *e)
{
	*e = (struct audit_event){
		.kind = AUDIT_DECISION,
		.class = CLASS_RESOLVE,
		.answer = v->answer,
		.rule_file = v->file,
		.rule_line = v->line,
		.rule_text = v->text,
		.pid = who->pid,
		.tid = who->tid,
		.uid = who->uid,
		.program = f->by.path,
		.syscall = "(name)",
		.object = f->object,
	};
}

/* localhost is this host and nothing else (RFC 6761, 6.3): no question of names. */
static bool is_this_host(const char *name)
{
	const char *last = strrchr(name, '.');

	return strcmp(last ? last + 1 : name, "localhost") == 0;
}

/* Whether a name may be looked up: decides, asks, records and, if refused,
 * tells.  Blocks while a person is asked.  Called by the guard's threads. */
static bool allow(void *ctx, const struct guard_asker *who, const char *name)
{
	struct supervisor *s = ctx;
	struct facts f = {.class = CLASS_RESOLVE, .object = name};
	struct verdict v;
	struct audit_event e;
	enum notice_why why = NOTICE_RULE;
	bool yes;

	lineage_facts(who->program, &f);
	f.now_s = clock_wall_ns() / 1000000000u;
	policy_decide(s->policy, &f, &v);
	if (v.answer == ANSWER_ASK && is_this_host(name))
		v.answer = ANSWER_ALLOW;
	if (s->learn && !v.is_floor)
		v.answer = ANSWER_ALLOW;
	event_of(who, &f, &v, &e);
	if (v.answer == ANSWER_ASK) {
		enum ask_answer answer = put(s, who, &f, &v);

		e.by_human = answer != ASK_NOBODY;
		why = answer == ASK_NOBODY ? NOTICE_NOBODY : NOTICE_HUMAN;
		e.answer = answer == ASK_YES ? ANSWER_ALLOW : ANSWER_DENY;
	}
	yes = e.answer == ANSWER_ALLOW;
	if (audit_note(s->audit, &e, yes ? 0 : -EACCES) != 0)
		return false; /* the session ends: audit_failed_fd */
	if (!yes)
		notice_refused(s->notice, &f, &v, who->pid, why, NULL);
	return yes;
}

/* Names that need no server: the tree reads them in the same file. */
static void learn_hosts(struct supervisor *s)
{
	auto_fd fd = open(HOSTS_FILE, O_RDONLY | O_CLOEXEC);
	auto_buf text = BUF_INIT;

	buf_init(&text, HOSTS_MAX_BYTES);
	if (fd < 0 || policy_may_write(s->policy, HOSTS_FILE) || buf_read_file(&text, fd) != 0)
		return;
	names_learn_hosts(s->names, buf_text(&text), UINT64_MAX);
}

int lookup_start(struct supervisor *s, const char *const *servers, const char *const *upstream)
{
	struct guard_config c = {
		.servers = servers, .upstream = upstream, .allow = allow, .ctx = s};
	int err = names_new(&s->names);

	if (err)
		return err;
	learn_hosts(s);
	if (!servers || !servers[0])
		return 0;
	c.names = s->names;
	err = guard_start(&c, &s->guard);
	/* A resolv.conf that cannot be understood: no guard, so no name counts. */
	return err == -ERR_FORMAT ? 0 : err;
}

void lookup_stop(struct supervisor *s)
{
	atomic_store(&s->lookups_over, true);
	guard_stop(s->guard);
	names_free(s->names);
	s->guard = NULL;
	s->names = NULL;
}
