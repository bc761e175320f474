#include "cmd/session.h"

#include "ask/ask.h"
#include "ask/notice.h"
#include "audit/audit.h"
#include "base/log.h"
#include "base/own.h"
#include "cmd/cmd.h"
#include "cmd/paths.h"
#include "cmd/sources.h"
#include "cmd/where.h"
#include "cmd/world.h"
#include "net/own.h"
#include "policy/policy.h"
#include "policy/report.h"
#include "secret/grant.h"
#include "supervise.h"
#include "tracee/stack.h"
#include "trap/filter.h"
#include "trap/launch.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* How it starts; the order is what keeps secrets and keys from processes that
 * must not have them:
 *  1. what wary was given is remembered (signals, limits, umask);
 *  2. the policy is read, and secrets are taken out of the environment;
 *  3. the asker is forked: wary has one thread and no keys yet;
 *  4. the launcher thread enters the boundary and forks the guardian;
 *  5. only then keys are read: the store opens in a thread of its own, while
 *     COMMAND gets its filter;
 *  6. the workers start, inside the boundary; wary confines itself;
 *  7. COMMAND may run. */

/* The stages that exist: a policy that needs another is refused. */
#define STAGES                                                                                     \
	(STAGE_INSTALL | STAGE_VERSION | STAGE_FROM | STAGE_FACTS | STAGE_MARKS | STAGE_STACK |    \
	 STAGE_STAT | STAGE_IPC | STAGE_SYSCALL | STAGE_ENV | STAGE_AUDIT_SYNC |                   \
	 STAGE_SECRET_ENV | STAGE_FOR | STAGE_SHA256)

#define WAIT_NOTE_MS 2000

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
	int signal_fd;
	int status;         /* of COMMAND, as of wait(2) */
	bool ended;         /* COMMAND has ended */
	bool workers;       /* are running */
	bool opened;        /* the record has this session */
	const char *reason; /* for the closing record */
};

static int failed(const char *what, const char *why)
{
	if (why)
		log_error("%s: %s", what, why);
	else
		log_error("%s", what);
	return -ERR_SYS;
}

/* ---- starting ------------------------------------------------------------ */

static int know_self(struct session *s)
{
	struct supervisor *sup = &s->sup;
	struct stat st;

	if (inherit_take(&s->inherit) != 0)
		return failed("signals or limits cannot be set", strerrordesc_np(errno));
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
		return failed("/", strerrordesc_np(errno));
	sup->root_dev = st.st_dev;
	sup->root_ino = st.st_ino;
	return 0;
}

static void print_messages(const struct policy_report *report)
{
	for (size_t i = 0; i < policy_report_count(report); i++) {
		const struct policy_message *m = policy_report_at(report, i);

		if (m->kind != POLICY_ERROR)
			continue;
		log_error("%s:%u:%u: error: %s", m->file, m->line, m->column, m->text);
		if (m->hint)
			log_error("    %s", m->hint);
	}
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
		err = world_floor_add(s->world, s->db);
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
	if (report)
		print_messages(report);
	policy_report_free(report);
	if (err)
		return failed("the policy has errors, so nothing was run",
		              "see \"wary policy check\"");
	s->answers = sources_answers(world_folders(s->world), world_name(s->world));
	return s->answers ? 0 : failed("out of memory", NULL);
}

static int start_tree(struct session *s)
{
	struct trial_failure why = {0};
	int err = secrets_take(s->policy, environ, &s->sup.secrets);

	if (err)
		return failed("secrets cannot be taken", err_text(err));
	if (ask_start(&s->sup.ask) != 0)
		return failed("no process can be started", strerrordesc_np(errno));
	s->launch_config = (struct launch_config){
		.argv = s->options->argv,
		.envp = environ,
		.inherit = &s->inherit,
		.policy = s->policy,
		.stat = policy_speaks_of(s->policy, CLASS_STAT),
	};
	if (launch_begin(&s->launch_config, &s->launch, &why) != 0)
		goto refused;
	if (audit_open_begin(s->db, &s->sup.audit) != 0)
		return failed("out of memory", NULL);
	if (s->options->audit_sync)
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

static int open_record(struct session *s)
{
	struct utsname machine = {0};
	const struct passwd *user = getpwuid(getuid());
	const char *why = NULL;
	size_t n = policy_source_count(s->policy);
	auto_free struct audit_source *sources = calloc(n + 1, sizeof *sources);
	auto_free char *cwd = getcwd(NULL, 0);
	struct audit_session info = {
		.argv = (const char *const *)s->options->argv,
		.cwd = cwd ? cwd : "(unreachable)",
		.user = user ? user->pw_name : "?",
		.host = machine.nodename,
		.kernel = machine.release,
		.version = PACKAGE_VERSION,
		.uid = getuid(),
		.sources = sources,
		.sources_n = n,
	};
	int err;

	if (!sources)
		return failed("out of memory", NULL);
	uname(&machine);
	while (s->options->argv[info.argc])
		info.argc++;
	for (size_t i = 0; i < n; i++) {
		const struct policy_source *p = policy_source_at(s->policy, i);

		sources[i] = (struct audit_source){p->name, p->path, p->text, p->len_bytes};
	}
	err = audit_open_finish(s->sup.audit, &info, &why);
	if (err)
		return failed("the record cannot be kept, so nothing was run",
		              why ? why : err_text(err));
	s->opened = true;
	return 0;
}

static int make_parts(struct session *s)
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
		err = stacks_new(&sup->stacks);
	if (!err)
		err = own_new(&sup->own);
	if (!err)
		err = notice_new(&sup->notice, world_folders(s->world)->home, false);
	return err ? failed("the session cannot be made", err_text(err)) : 0;
}

static int start_workers(void *ctx)
{
	return supervise_start(ctx);
}

static int start_workers_and_asker(struct session *s)
{
	struct ask_config ask = {
		.guardian_pid = s->sup.guardian_pid,
		.session_id = audit_session_id(s->sup.audit),
		.answers_path = s->answers,
		.home = world_folders(s->world)->home,
	};

	/* Only now: a child that was not dumpable could not be attached to. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (launch_inside(s->launch, start_workers, &s->sup) != 0)
		return failed("no threads can be started", NULL);
	s->workers = true;
	if (ask_begin(s->sup.ask, &ask) != 0)
		return failed("questions cannot be asked", NULL);
	if (filter_confine() != 0)
		return failed("wary cannot confine itself", NULL);
	if (launch_go(s->launch) != 0)
		return failed("the command ended before it was run", NULL);
	return 0;
}

static int start(struct session *s)
{
	int err = know_self(s);

	if (!err)
		err = load_policy(s);
	if (!err)
		err = start_tree(s);
	if (!err)
		err = open_record(s);
	if (!err)
		err = make_parts(s);
	return err ? err : start_workers_and_asker(s);
}

/* ---- while it runs ------------------------------------------------------- */

static void on_message(struct session *s, const struct guardian_message *m)
{
	/* A stop that a question made is not one that a person wanted. */
	if (m->kind == GUARDIAN_STOPPED && !ask_frozen(s->sup.ask)) {
		kill(getpid(), SIGSTOP); /* so that the shell sees its job stopped */
	} else if (m->kind == GUARDIAN_ENDED) {
		s->status = m->value;
		s->ended = true;
		if (s->options->end_with_command)
			launch_kill(s->launch, false, 0);
	}
}

static void on_signals(struct session *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
		int sig = (int)info.ssi_signo;

		if (!s->ended)
			launch_forward(s->launch, sig, (pid_t)info.ssi_pid);
		else if (sig == SIGTERM || sig == SIGHUP || sig == SIGINT || sig == SIGQUIT)
			launch_kill(s->launch, false, 0);
	}
}

static void on_stop(struct session *s)
{
	uint64_t count;

	if (read(s->sup.stop_fd, &count, sizeof count) < 0)
		return;
	s->reason = "stopped";
	launch_kill(s->launch, false, 0);
}

static void on_record_failed(struct session *s)
{
	log_error("the record can no longer be kept: the command and all that it started are "
	          "ended");
	s->reason = "record failed";
	launch_kill(s->launch, false, 0);
}

static void note_waiting(bool *noted)
{
	if (!*noted && isatty(STDERR_FILENO))
		log_notice("the command has ended, but processes that it started still run, and "
		           "wary stays with them (to end them: kill %d)",
		           (int)getpid());
	*noted = true;
}

static void run(struct session *s)
{
	struct pollfd fds[] = {
		{.fd = launch_event_fd(s->launch), .events = POLLIN},
		{.fd = s->signal_fd, .events = POLLIN},
		{.fd = s->sup.stop_fd, .events = POLLIN},
		{.fd = audit_failed_fd(s->sup.audit), .events = POLLIN},
	};
	bool noted = false;
	int err = -ERR_BUSY;

	while (err != -ERR_GONE) {
		struct guardian_message m;
		int ready = poll(fds, 4, s->ended && !noted ? WAIT_NOTE_MS : -1);

		if (ready == 0)
			note_waiting(&noted);
		while ((err = launch_event(s->launch, &m)) == 0)
			on_message(s, &m);
		if (fds[1].revents)
			on_signals(s);
		if (fds[2].revents)
			on_stop(s);
		if (fds[3].revents) {
			fds[3].fd = -1;
			on_record_failed(s);
		}
	}
	if (!s->ended) { /* the guardian was killed: nothing goes on without it */
		s->reason = "guardian ended";
		s->status = SIGKILL;
		launch_kill(s->launch, true, ask_pid(s->sup.ask));
	}
}

/* ---- the end -------------------------------------------------------------- */

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
	snprintf(id, sizeof id, "%s", audit_session_id(s->sup.audit));
	if (!s->reason)
		s->reason = WIFSIGNALED(s->status) ? "signalled" : "exited";
	err = audit_close(s->sup.audit, s->status, s->reason);
	if (err)
		log_error("the record could not be closed: %s", err_text(err));
	else
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
	launch_free(s->launch);
	err = close_record(s);
	ask_stop(s->sup.ask);
	notice_free(s->sup.notice);
	stacks_free(s->sup.stacks);
	own_free(s->sup.own);
	lineage_free(s->sup.lineage);
	secrets_free(s->sup.secrets);
	policy_free(s->policy);
	world_free(s->world);
	free(s->answers);
	free(s->db);
	return err;
}

/* Ends as COMMAND ended, so that a shell sees the same; without a core. */
static int end_as(int status)
{
	int sig;
	sigset_t set;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	sig = WTERMSIG(status);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	kill(getpid(), sig);
	return 128 + sig;
}

int session_run(const struct session_options *o)
{
	struct session s = {.options = o, .signal_fd = -1, .sup.stop_fd = -1};
	bool ran = start(&s) == 0;

	if (ran)
		run(&s);
	if (finish(&s) != 0 || !ran)
		return CMD_FAILED;
	return end_as(s.status);
}
