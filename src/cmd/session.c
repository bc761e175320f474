#include "cmd/session.h"

#include "answer/arrivals.h"
#include "answer/fixed.h"
#include "answer/images.h"
#include "ask/ask.h"
#include "ask/notice.h"
#include "ask/orphan.h"
#include "audit/audit.h"
#include "audit/folder.h"
#include "audit/life.h"
#include "base/log.h"
#include "base/own.h"
#include "base/uses.h"
#include "cmd/approve.h"
#include "cmd/attend.h"
#include "cmd/cmd.h"
#include "cmd/environment.h"
#include "cmd/heap.h"
#include "cmd/keeper.h"
#include "cmd/limits.h"
#include "cmd/messages.h"
#include "cmd/opener.h"
#include "cmd/paths.h"
#include "cmd/resolvers.h"
#include "cmd/sources.h"
#include "cmd/where.h"
#include "cmd/world.h"
#include "lookup.h"
#include "net/own.h"
#include "policy/policy.h"
#include "policy/settings.h"
#include "secret/grant.h"
#include "supervise.h"
#include "trap/filter.h"
#include "trap/kernel.h"
#include "trap/launch.h"
#include "trap/privilege.h"
#include "trap/processes.h"
#include "trap/stack.h"

#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

USES(kill);
USED_BEFORE(eventfd2, geteuid, getuid, prctl, signalfd4, umask);

/* How it starts; the order is what keeps secrets and keys from processes that
 * must not have them:
 *  1. what wary was given is remembered (signals, limits, umask);
 *  2. the policy is read, and secrets are taken out of the environment;
 *  3. the asker is forked, and perhaps the keeper: wary has one thread and no keys yet;
 *  4. the launcher thread enters the boundary and forks the guardian;
 *  5. only then keys are read: the store opens in a thread of its own, while
 *     COMMAND gets its filter and the workers start, inside the boundary;
 *  6. the session is on record; wary confines itself;
 *  7. COMMAND may run. */

/* The stages that exist: a policy that needs another is refused. */
#define STAGES                                                                                     \
	(STAGE_NAMES | STAGE_RESOLVE | STAGE_SCRIPT | STAGE_INSTALL | STAGE_VERSION | STAGE_FROM | \
	 STAGE_FACTS | STAGE_DEPENDENCIES | STAGE_MARKS | STAGE_STACK | STAGE_STAT | STAGE_IPC |   \
	 STAGE_SYSCALL | STAGE_ENV | STAGE_AUDIT_SYNC | STAGE_SECRET_ENV | STAGE_FOR |             \
	 STAGE_SHA256)

struct session {
	const struct session_options *options;
	struct inherit inherit;
	struct launch_config launch_config;
	struct launch_info info;
	struct supervisor sup;
	struct world *world;
	struct policy *policy;
	struct launch *launch;
	char *db;
	char *answers;
	char **envp; /* the tree's environment */
	int signal_fd;
	int keeper_fd; /* or -1 */
	bool workers;  /* are running */
	bool opened;   /* the record has this session */
	struct attend attend;
	/* What the record is told of the session: until it has it. */
	struct opener opener;
	struct audit_source *sources;
	struct audit_session record;
};

static int failed(const char *what, const char *why)
{
	log_error("%s, so nothing was run%s%s", what, why ? ": " : "", why ? why : "");
	return -ERR_SYS;
}

/* ---- starting ------------------------------------------------------------ */

static int know_self(struct session *s)
{
	struct supervisor *sup = &s->sup;
	struct stat st;

	if (inherit_take(&s->inherit) != 0)
		return failed("signals or limits cannot be set", strerrordesc_np(errno));
	if (limits_enough() != 0)
		return -ERR_SYS;
	s->signal_fd = signalfd(-1, &s->inherit.watched, SFD_CLOEXEC | SFD_NONBLOCK);
	sup->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->signal_fd < 0 || sup->stop_fd < 0)
		return failed("out of descriptors", NULL);
	sup->wary_pid = getpid();
	sup->as_root = geteuid() == 0;
	sup->umask_start = umask(022);
	umask(sup->umask_start);
	if (stat("/proc/self", &st) != 0)
		return failed("/proc is not mounted", "wary cannot see processes without it");
	sup->proc_dev = st.st_dev;
	if (stat("/", &st) != 0)
		return failed("/ cannot be looked at", strerrordesc_np(errno));
	sup->root_dev = st.st_dev;
	sup->root_ino = st.st_ino;
	return 0;
}

/* Whatever folder the record lies in, no rule opens what belongs to it. */
static int close_store(struct session *s)
{
	auto_free char *written = NULL;
	int err = where_written(s->options->db, world_folders(s->world), &written);

	if (!err)
		err = world_links_add(s->world, written);
	for (size_t i = 0; !err; i++) {
		auto_buf path = BUF_INIT;

		if (!folder_files(&path, s->db, i))
			break;
		err = buf_text(&path) ? world_floor_add(s->world, path.data) : -ERR_NOMEM;
	}
	return err;
}

static int load_policy(struct session *s)
{
	struct world_want want = {.policy = s->options->policy, .rules = s->options->rules};
	struct policy_report *report = NULL;
	const char *const *files = NULL;
	struct policy_world *world;
	int err = world_new(&s->world);

	if (!err)
		err = where_store(s->options->db, world_folders(s->world), &s->db);
	if (!err)
		err = close_store(s);
	if (!err)
		err = world_files(s->world, &want, &files);
	if (err)
		return failed("no policy can be loaded", err_text(err));
	if (world_notice(s->world))
		log_notice("%s", world_notice(s->world));
	world = world_policy(s->world);
	world->for_run = true;
	world->stages = STAGES;
	err = policy_load(world, files, &s->policy, &report);
	messages_print(report);
	policy_report_free(report);
	if (err)
		return failed("the policy has errors", "see \"wary policy check\"");
	s->answers = sources_answers(world_folders(s->world), world_name(s->world));
	return s->answers ? 0 : failed("out of memory", NULL);
}

/* The guardian is there, so the store's side may let go of what it does not
 * need, and hide what is to come: keys. */
static int hide_self(void)
{
	int err = privilege_drop(privilege_forbidden() & ~PRIVILEGE_BIT(CAP_SYS_PTRACE));

	if (err)
		return failed("capabilities cannot be dropped", strerrordesc_np(-err));
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return failed("wary's memory cannot be hidden", strerrordesc_np(errno));
	return 0;
}

/* Read outside the tree, as the registries are. */
static const char *const *name_servers(const struct session *s)
{
	const struct policy_world *world = world_policy(s->world);

	return world->registry ? world->registry(world->ctx, "dns") : NULL;
}

/* Whom the DNS guard asks, where not these: the user's own choice. */
static int start_lookups(struct session *s)
{
	const char *said = getenv("WARY_NAMESERVERS");
	char **upstream = said ? resolvers_words(said) : NULL;
	int err = lookup_start(&s->sup, name_servers(s), (const char *const *)upstream);

	resolvers_free(upstream);
	return err;
}

static bool has_name_servers(const struct session *s)
{
	const char *const *servers = name_servers(s);

	return servers && servers[0];
}

static int start_tree(struct session *s)
{
	struct trial_failure why = {0};
	int err = secrets_take(s->policy, environ, &s->sup.secrets);

	if (!err)
		err = environment_make(s->policy, environ, has_name_servers(s), &s->envp);
	if (err)
		return failed("the command's environment cannot be made", err_text(err));
	heap_lend();
	s->keeper_fd = keeper_start(s->db, policy_audit_of(s->policy));
	if (ask_start(&s->sup.ask) != 0)
		return failed("no process can be started", strerrordesc_np(errno));
	s->launch_config = (struct launch_config){
		.argv = s->options->argv,
		.envp = s->envp,
		.inherit = &s->inherit,
		.policy = s->policy,
		.stat = policy_speaks_of(s->policy, CLASS_STAT),
		.orphaned = orphan_give_back,
		.orphaned_ctx = ask_asker(s->sup.ask),
	};
	if (launch_begin(&s->launch_config, &s->launch, &why) != 0)
		goto refused;
	heap_resume();
	err = hide_self();
	if (err)
		return err;
	if (audit_open_begin(s->db, &s->sup.audit) != 0)
		return failed("out of memory", NULL);
	if (s->options->audit_sync || policy_audit_of(s->policy)->sync)
		audit_set_sync(s->sup.audit);
	if (s->sup.secrets)
		audit_set_redactor(s->sup.audit, secrets_redact, s->sup.secrets);
	if (launch_listen(s->launch, &s->info, &why) == 0)
		return 0;
refused:
	log_error("the command cannot be supervised here, so nothing was run: %s%s%s",
	          why.what ? why.what : "unknown reason", why.error ? ": " : "",
	          why.error ? strerrordesc_np(why.error) : "");
	if (why.hint)
		log_error("%s (see \"wary doctor\")", why.hint);
	return -ERR_UNSUPPORTED;
}

/* From here on the session goes on record as soon as the store is open: it must be waited
 * for, whatever fails meanwhile (open_record). */
static int tell_record(struct session *s)
{
	size_t n = policy_source_count(s->policy);
	struct audit_session *r = &s->record;

	s->sources = calloc(n + 1, sizeof *s->sources);
	if (!s->sources)
		return failed("out of memory", NULL);
	*r = opener_session(&s->opener);
	r->argv = (const char *const *)s->options->argv;
	r->sources = s->sources;
	r->sources_n = n;
	while (s->options->argv[r->argc])
		r->argc++;
	for (size_t i = 0; i < n; i++) {
		const struct policy_source *p = policy_source_at(s->policy, i);

		s->sources[i] = (struct audit_source){p->name, p->path, p->text, p->len_bytes};
	}
	audit_open_session(s->sup.audit, r);
	return 0;
}

static int open_record(struct session *s)
{
	const char *why = NULL;
	int err = audit_open_finish(s->sup.audit, NULL, &why);

	if (err)
		return failed("the record cannot be kept", why ? why : err_text(err));
	s->opened = true;
	return 0;
}

static int note_lack(struct session *s, const char *whole, struct buf *lacks)
{
	const struct audit_event e = {
		.kind = AUDIT_LIMIT,
		.class = CLASS_SYSCALL,
		.answer = ANSWER_ALLOW,
		.pid = getpid(),
		.tid = getpid(),
		.uid = getuid(),
		.object = whole,
		.object2 = buf_text(lacks),
	};

	if (!e.object2)
		return -ERR_NOMEM;
	return e.object2[0] ? audit_note(s->sup.audit, &e, -EOPNOTSUPP) : 0;
}

/* What this machine lacks is on record before anything runs. */
static int note_lacks(struct session *s)
{
	auto_buf calls = BUF_INIT, unbound = BUF_INIT;
	int err;

	kernel_lacks(&calls);
	kernel_leaves_unbound(&unbound);
	err = note_lack(s, "kernel", &calls);
	if (!err)
		err = note_lack(s, "second boundary", &unbound);
	return err ? failed("the record cannot be kept", err_text(err)) : 0;
}

static bool is_fixed(const void *sup, const char *path)
{
	return fixed_path(sup, path);
}

static int start_workers(void *ctx)
{
	struct supervisor *sup = ctx;
	int err = arrivals_start(sup->arrivals);

	return err ? err : supervise_start(sup);
}

/* While the record opens: nothing here puts anything on it.  A worker does, but that
 * none is called before the record is open (supervise_go). */
static int make_workers(struct session *s)
{
	struct supervisor *sup = &s->sup;
	int err = lineage_new(&sup->lineage);

	sup->policy = s->policy;
	sup->learn = s->options->learn;
	sup->listener_fd = s->info.listener_fd;
	sup->guardian_pid = s->info.guardian_pid;
	sup->command_pid = s->info.command_pid;
	sup->signals_scoped = s->info.boundary.signals;
	if (!err)
		err = lineage_seed(sup->lineage, sup->command_pid);
	if (!err)
		err = images_new(policy_wants_sha256(s->policy), &sup->images);
	if (!err)
		err = stacks_new(policy_wants_stack(s->policy), is_fixed, sup, &sup->stacks);
	if (!err)
		err = own_new(&sup->own);
	if (!err)
		err = notice_new(&sup->notice, world_folders(s->world)->home, false);
	if (!err)
		err = arrivals_new(sup->audit, &sup->arrivals);
	if (err)
		return failed("the session cannot be made", err_text(err));
	if (launch_inside(s->launch, start_workers, sup) != 0)
		return failed("no threads can be started", NULL);
	s->workers = true;
	return 0;
}

/* What may put something on record at once. */
static int make_watchers(struct session *s)
{
	struct supervisor *sup = &s->sup;
	int err = processes_start(sup->audit, sup->lineage, sup->guardian_pid, &sup->processes);

	if (!err)
		err = start_lookups(s);
	return err ? failed("the session cannot be made", err_text(err)) : 0;
}

static int start_asker_and_go(struct session *s)
{
	auto_free char *socket =
		approve_socket(world_folders(s->world), audit_session_id(s->sup.audit));
	struct ask_config ask = {
		.socket_path = socket,
		.guardian_pid = s->sup.guardian_pid,
		.session_id = audit_session_id(s->sup.audit),
		.answers_path = s->answers,
		.audit = s->sup.audit,
		.home = world_folders(s->world)->home,
	};

	if (ask_begin(s->sup.ask, &ask) != 0)
		return failed("questions cannot be asked", NULL);
	notice_set_socket(s->sup.notice, ask_is_open(s->sup.ask));
	if (filter_confine(FILTER_SESSION) != 0)
		return failed("wary cannot confine itself", NULL);
	life_note(s->sup.audit, s->options->learn ? LIFE_LEARNING : LIFE_COMMAND, NULL);
	supervise_go(&s->sup);
	if (launch_go(s->launch) != 0)
		return failed("the command ended before it was run", NULL);
	return 0;
}

static int start(struct session *s)
{
	int err = know_self(s), workers_err;

	if (!err)
		err = load_policy(s);
	if (!err)
		err = start_tree(s);
	if (!err)
		err = tell_record(s);
	if (err)
		return err;
	workers_err = make_workers(s);
	err = open_record(s);
	if (!err)
		err = workers_err;
	if (!err)
		err = note_lacks(s);
	if (!err)
		err = make_watchers(s);
	return err ? err : start_asker_and_go(s);
}

/* ---- the end -------------------------------------------------------------- */

static void note_end(const struct session *s)
{
	static const struct {
		const char *reason;
		enum life_reason why;
	} ends[] = {
		{"exited", LIFE_EXITED},     {"signalled", LIFE_SIGNALLED},
		{"stopped", LIFE_BY_ANSWER}, {"guardian ended", LIFE_GUARDIAN},
		{"failed", LIFE_NOT_RUN},
	};
	const struct attend *a = &s->attend;
	/* --end is said before it is known whether anything is left. */
	bool killed = a->ended_by[0] && (a->stayed || strcmp(a->ended_by, "--end") != 0);
	auto_buf left = BUF_INIT;

	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
		if (strcmp(ends[i].reason, a->reason) == 0)
			life_note(s->sup.audit, ends[i].why, a->reason);
	if (a->left)
		buf_fmt(&left, "%zu process%s left", a->left, a->left == 1 ? "" : "es");
	if (killed)
		buf_fmt(&left, "%sended by %s", a->left ? ", " : "", a->ended_by);
	life_note(s->sup.audit,
	          killed      ? LIFE_LEFT_KILLED
	          : a->stayed ? LIFE_LEFT_ENDED
	                      : LIFE_NOTHING_LEFT,
	          left.len_bytes ? left.data : NULL);
}

static int close_record(struct session *s)
{
	struct audit_totals totals = {0};
	char id[64];
	int err;

	if (!s->sup.audit)
		return 0;
	if (!s->opened) {
		audit_abandon(s->sup.audit);
		return 0;
	}
	audit_totals(s->sup.audit, &totals);
	/* The asker has ended the tree where it stood: its end may have come here first. */
	if (s->sup.ask && ask_was_stopped(s->sup.ask)) {
		s->attend.reason = "stopped";
		snprintf(s->attend.ended_by, sizeof s->attend.ended_by, "an answer");
	}
	snprintf(id, sizeof id, "%s", audit_session_id(s->sup.audit));
	if (!s->attend.reason)
		s->attend.reason = WIFSIGNALED(s->attend.status) ? "signalled" : "exited";
	note_end(s);
	err = audit_close(s->sup.audit, s->attend.status, s->attend.reason);
	if (err)
		log_error("the record could not be closed: %s", err_text(err));
	else if (s->sup.notice)
		notice_summary(s->sup.notice, &totals, id);
	return err;
}

static int finish(struct session *s)
{
	int err;

	if (s->launch)
		launch_stop(s->launch); /* the listener hangs up */
	if (s->workers)
		supervise_stop(&s->sup);
	lookup_stop(&s->sup);
	launch_free(s->launch);
	arrivals_finish(s->sup.arrivals);
	processes_stop(s->sup.processes);
	err = close_record(s);
	if (!err && s->opened)
		keeper_go(fd_take(&s->keeper_fd));
	fd_drop(&s->keeper_fd);
	arrivals_free(s->sup.arrivals);
	ask_stop(s->sup.ask);
	notice_free(s->sup.notice);
	stacks_free(s->sup.stacks);
	own_free(s->sup.own);
	lineage_free(s->sup.lineage);
	images_free(s->sup.images);
	secrets_free(s->sup.secrets);
	policy_free(s->policy);
	world_free(s->world);
	environment_free(s->envp);
	opener_free(&s->opener);
	free(s->sources);
	free(s->answers);
	free(s->db);
	return err;
}

/* Ends as COMMAND ended, so that a shell sees the same; without a core. */
static int end_as(int status)
{
	struct sigaction end = {.sa_handler = SIG_DFL};
	int sig;
	sigset_t set;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	sig = WTERMSIG(status);
	(void)sigaction(sig, &end, NULL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	kill(getpid(), sig);
	return 128 + sig;
}

static void run(struct session *s)
{
	s->attend = (struct attend){
		.launch = s->launch,
		.sup = &s->sup,
		.signal_fd = s->signal_fd,
		.end_with_command = s->options->end_with_command,
	};
	inherit_detach();
	attend_command(&s->attend);
}

int session_run(const struct session_options *o)
{
	struct session s = {.options = o, .signal_fd = -1, .keeper_fd = -1, .sup.stop_fd = -1};
	bool ran;

	heap_prepare();
	ran = start(&s) == 0;
	if (ran)
		run(&s);
	else
		s.attend.reason = "failed";
	if (!ran && s.policy)
		limits_say();
	if (finish(&s) != 0 || !ran)
		return CMD_FAILED;
	return end_as(s.attend.status);
}
