#include "answer/give.h"

#include "answer/fixed.h"
#include "base/clock.h"
#include "policy/settings.h"
#include "secret/grant.h"
#include "secret/hijack.h"
#include "supervise.h"
#include "tracee/lineage_entry.h"

#include <errno.h>
#include <string.h>

/* ---- who gets what ---------------------------------------------------- */

/* Code that the rule did not speak of: an interpreter that was not started for
 * a script of its own runs whatever its arguments or its input say. */
static bool runs_any_code(const struct execution *x, const struct policy_secret *secret)
{
	return !x->identity.script && package_is_interpreter(x->identity.path) &&
	       !strstr(secret->text, " argv ");
}

static int preview(struct request *r, struct execution *x)
{
	const struct lineage_exec exec = {.program = &x->identity};

	if (!x->preview)
		x->preview = entry_new(r->caller.program, &exec);
	return x->preview ? 0 : -ERR_NOMEM;
}

static int consider(struct request *r, struct execution *x, size_t i)
{
	const struct policy_secret *secret = policy_secret_at(r->sup->policy, i);
	struct facts f = {
		.class = CLASS_SECRET,
		.object = secret->name,
		.now_s = clock_wall_ns() / 1000000000u,
	};
	struct verdict v;
	struct facts *q;

	lineage_facts(x->preview, &f);
	policy_secret_for(r->sup->policy, i, &f, &v);
	if (v.answer > ANSWER_ASK)
		return 0;
	if (x->program->loaded)
		x->withheld[i] = "started by a loader as a program";
	else if (runs_any_code(x, secret))
		x->withheld[i] = "an interpreter, and the rule says nothing of its arguments";
	if (x->withheld[i])
		return 0;
	x->give[i] = true;
	if (v.answer == ANSWER_ALLOW)
		return 0;
	q = request_add_fact(r, CLASS_SECRET, secret->name);
	if (!q)
		return -ERR_NOMEM;
	*q = f;
	return 0;
}

int give_prepare(struct request *r, struct execution *x)
{
	size_t n = policy_secret_count(r->sup->policy);
	int err = 0;

	for (size_t i = 0; !err && i < n && i < EXECUTION_SECRETS_MAX; i++) {
		if (!secrets_has(r->sup->secrets, i))
			continue;
		err = preview(r, x);
		if (!err)
			err = consider(r, x, i);
	}
	return err;
}

bool give_any(const struct execution *x)
{
	for (size_t i = 0; i < EXECUTION_SECRETS_MAX; i++)
		if (x->give[i])
			return true;
	return false;
}

/* ---- at the exec stop ------------------------------------------------- */

struct removing {
	const struct supervisor *sup;
	bool hijackers; /* all of them as well: the program gets a secret */
};

static bool is_removed(void *ctx, const char *entry)
{
	const struct removing *g = ctx;
	char name[256];
	size_t len = strcspn(entry, "=");

	if (secrets_manages(g->sup->secrets, entry) || (g->hijackers && hijack_variable(entry)))
		return true;
	if (len >= sizeof name)
		return false;
	memcpy(name, entry, len);
	name[len] = '\0';
	return !policy_env_keeps(g->sup->policy, name);
}

static bool is_fixed(const void *ctx, const char *path)
{
	return fixed_path(ctx, path);
}

static bool taken_over(const struct request *r, const struct execution *x, const struct startup *s)
{
	const char *image = program_image(x->program)->place.canon;

	for (size_t i = 0; i < s->envc; i++)
		if (hijack_takes_over(s->envp[i], image, is_fixed, r->sup))
			return true;
	return false;
}

static int note(struct request *r, const struct execution *x, pid_t pid, size_t i)
{
	const struct policy_secret *secret = policy_secret_at(r->sup->policy, i);
	const struct audit_event e = {
		.kind = AUDIT_GRANT,
		.class = CLASS_SECRET,
		.answer = x->give[i] ? ANSWER_ALLOW : ANSWER_DENY,
		.rule_file = secret->file,
		.rule_line = secret->line,
		.rule_text = secret->text,
		.pid = pid,
		.tid = pid,
		.uid = r->worker->fsuid_now,
		.program = x->identity.script ? x->identity.script : x->identity.path,
		.syscall = r->call->row->name,
		.object = secret->name,
		.object2 = x->withheld[i],
	};

	return audit_note(r->sup->audit, &e, x->give[i] ? 0 : -EACCES);
}

static int put(struct request *r, struct execution *x, struct startup *s, size_t i)
{
	int err = note(r, x, s->pid, i);

	return err || !x->give[i] ? err : secrets_put(r->sup->secrets, i, s);
}

int give_environment(struct request *r, struct execution *x, struct startup *s)
{
	struct removing g = {.sup = r->sup, .hijackers = give_any(x)};
	int err = 0;

	startup_remove(s, is_removed, &g);
	x->identity.fixed = x->identity.fixed && !taken_over(r, x, s);
	for (size_t i = 0; !err && i < EXECUTION_SECRETS_MAX; i++)
		if (x->give[i] || x->withheld[i])
			err = put(r, x, s, i);
	return err ? err : startup_commit(s);
}
