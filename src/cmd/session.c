/* The order of things (laws 1, 9 and 10):
 *
 * 1. what was inherited is remembered, before anything is opened;
 * 2. the policy is read, and secrets leave the environment, while there is one
 *    process and one thread;
 * 3. the asker is forked;
 * 4. the launcher thread enters the second boundary and forks the guardian;
 * 5. only now the store and its keys are opened, while COMMAND is being put
 *    under the filter and the listener is tried;
 * 6. workers start inside the boundary, wary confines itself, COMMAND goes.
 *
 * Whatever fails on the way ends with a message and 125, and nothing has run.
 */
#include "cmd/session.h"

#include "ask/ask.h"
#include "ask/notice.h"
#include "audit/audit.h"
#include "audit/keys.h"
#include "base/log.h"
#include "base/own.h"
#include "cmd/cmd.h"
#include "cmd/environment.h"
#include "cmd/messages.h"
#include "cmd/world.h"
#include "net/own.h"
#include "policy/policy.h"
#include "policy/settings.h"
#include "secret/grant.h"
#include "supervise.h"
#include "tracee/lineage.h"
#include "tracee/stack.h"
#include "trap/filter.h"
#include "trap/inherit.h"
#include "trap/launch.h"
#include "trap/privilege.h"
#include "trap/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>

/* What a running wary can do; a policy that needs more is refused. */
#define STAGES                                                                                \
	(STAGE_INSTALL | STAGE_MARKS | STAGE_STAT | STAGE_STACK | STAGE_ENV | STAGE_ENV_SET | \
	 STAGE_AUDIT_SYNC | STAGE_SECRET_ENV | STAGE_FOR)

/* After COMMAND has ended, so long before wary says that it waits. */
#define WAITING_AFTER_MS 1000

struct session {
	const struct session_options *options;
	struct inherit inherit;
	struct supervisor sup;
	struct world *world;
	struct policy *policy;
	struct launch *launch;
	struct launch_info info;
	char *db;
	char **envp; /* the tree's */
	int signal_fd;
	bool supervised; /* workers run */
	bool recorded;   /* the session is open in the store */
	bool ended;      /* COMMAND; then status is its wait(2) status */
	bool gone;       /* the guardian, and so the tree */
	bool told_waiting;
	int status;
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

/* ---- starting ------------------------------------------------------------- */

static int find_store(struct session *s)
{
	const char *given = s->options->db ? s->options->db : getenv("WARY_DB");
	auto_buf text = BUF_INIT;
	int err = 0;

	if (given && given[0])
		buf_str(&text, given);
	else
		err = keys_store_default(&text);
	s->db = err ? NULL : buf_take(&text);
	if (!s->db)
		return failed("no place for the record", "HOME is not set: name a file with -o");
	err = world_floor_add(s->world, s->db);
	return err ? failed("no place for the record", err_text(err)) : 0;
}

static int load_policy(struct session *s)
{
	const struct world_want want = {.policy = s->options->policy, .rules = s->options->rules};
	struct policy_world *w = world_policy(s->world);
	struct policy_report *report = NULL;
	const char *const *files;
	int err = world_files(s->world, &want, &files);

	if (err)
		return failed("the policy cannot be found", err_text(err));
	if (world_notice(s->world))
		log_notice("%s", world_notice(s->world));
	w->for_run = true;
	w->stages = STAGES;
	err = policy_load(w, files, &s->policy, &report);
	if (err)
		messages_print(report);
	policy_report_free(report);
	return err ? failed("nothing was run", err_text(err)) : 0;
}

static void know_self(struct supervisor *sup)
{
	struct stat st = {0};

	sup->wary_pid = getpid();
	sup->as_root = geteuid() == 0;
	sup->umask_start = umask(022);
	(void)umask(sup->umask_start);
	if (stat("/proc", &st) == 0)
		sup->proc_dev = st.st_dev;
	if (stat("/", &st) == 0) {
		sup->root_dev = st.st_dev;
		sup->root_ino = st.st_ino;
	}
}

/* All that may be done while there is one process and one thread. */
static int prepare(struct session *s)
{
	int err;

	if (inherit_take(&s->inherit) != 0)
		return failed("signals and limits cannot be set", strerror(errno));
	know_self(&s->sup);
	err = world_new(&s->world);
	if (err)
		return failed("no policy can be loaded", err_text(err));
	err = find_store(s);
	if (!err)
		err = load_policy(s);
	if (err)
		return err;
	err = secrets_take(s->policy, environ, &s->sup.secrets);
	if (!err)
		err = environment_make(s->policy, environ, &s->envp);
	if (err)
		return failed("the command's environment cannot be made", err_text(err));
	if (ask_start(&s->sup.ask) != 0)
		return failed("questions cannot be asked", "no process can be started");
	return 0;
}

static int unsupported(const struct trial_failure *why)
{
	log_error("%s does not work here%s%s%s%s", why->what, why->error ? ": " : "",
	          why->error ? strerror(why->error) : "", why->hint ? "\n      " : "",
	          why->hint ? why->hint : "");
	return failed("the command cannot be supervised, so nothing was run", NULL);
}

static int launch(struct session *s)
{
	const struct launch_config c = {
		.argv = s->options->argv,
		.envp = s->envp,
		.inherit = &s->inherit,
		.policy = s->policy,
		.stat = policy_speaks_of(s->policy, CLASS_STAT),
	};
	struct trial_failure why;
	int err;

	if (launch_begin(&c, &s->launch, &why) != 0)
		return unsupported(&why);
	/* The guardian and the tree have their own; this is the store's side. */
	err = privilege_drop(privilege_forbidden() & ~PRIVILEGE_BIT(CAP_SYS_PTRACE));
	if (err != 0)
		return failed("dropping capabilities", strerror(-err));
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return failed("hiding wary's own memory", strerror(errno));
	if (audit_open_begin(s->db, &s->sup.audit) != 0)
		return failed("the record", err_text(-ERR_NOMEM));
	if (launch_listen(s->launch, &s->info, &why) != 0)
		return unsupported(&why);
	return 0;
}

static int open_record(struct session *s)
{
	struct utsname machine = {0};
	const char *user = getenv("LOGNAME") ? getenv("LOGNAME") : getenv("USER");
	auto_free char *cwd = getcwd(NULL, 0);
	size_t sources_n = policy_source_count(s->policy);
	auto_free struct audit_source *sources = calloc(sources_n + 1, sizeof *sources);
	struct audit_session info = {.uid = getuid(), .version = PACKAGE_VERSION};
	const char *why = NULL;
	int err;

	if (!sources)
		return failed("the record", err_text(-ERR_NOMEM));
	for (size_t i = 0; i < sources_n; i++) {
		const struct policy_source *p = policy_source_at(s->policy, i);

		sources[i] = (struct audit_source){p->name, p->path, p->text, p->len_bytes};
	}
	(void)uname(&machine);
	while (s->options->argv[info.argc])
		info.argc++;
	info.argv = (const char *const *)s->options->argv;
	info.cwd = cwd ? cwd : "(gone)";
	info.user = user ? user : "";
	info.host = machine.nodename;
	info.kernel = machine.release;
	info.sources = sources;
	info.sources_n = sources_n;
	if (s->options->audit_sync || policy_audit_of(s->policy)->sync)
		audit_set_sync(s->sup.audit);
	audit_set_redactor(s->sup.audit, secrets_redact, s->sup.secrets);
	err = audit_open_finish(s->sup.audit, &info, &why);
	s->recorded = err == 0;
	return err ? failed("the record cannot be kept, so nothing was run",
	                    why ? why : err_text(err))
	           : 0;
}

static int make_parts(struct session *s)
{
	struct supervisor *sup = &s->sup;
	int err = lineage_new(&sup->lineage);

	sup->policy = s->policy;
	sup->learn = s->options->learn;
	sup->floor_paths = world_policy(s->world)->floor_paths;
	sup->listener_fd = s->info.listener_fd;
	sup->guardian_pid = s->info.guardian_pid;
	sup->command_pid = s->info.command_pid;
	if (!err)
		err = lineage_seed(sup->lineage, sup->command_pid);
	if (!err)
		err = stacks_new(&sup->stacks);
	if (!err)
		err = own_new(&sup->own);
	if (!err)
		err = notice_new(&sup->notice, getenv("HOME"), true);
	sup->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->signal_fd = signalfd(-1, &s->inherit.watched, SFD_CLOEXEC | SFD_NONBLOCK);
	if (err || sup->stop_fd < 0 || s->signal_fd < 0)
		return failed("supervision cannot start", err ? err_text(err) : strerror(errno));
	return 0;
}

static int start_workers(void *ctx)
{
	return supervise_start(ctx);
}

static int begin_asking(struct session *s)
{
	const struct folders *f = world_folders(s->world);
	struct ask_config c = {
		.guardian_pid = s->info.guardian_pid,
		.session_id = audit_session_id(s->sup.audit),
		.home = f->home,
	};

	return ask_begin(s->sup.ask, &c) ? failed("questions cannot be asked", NULL) : 0;
}

static int attach(struct session *s)
{
	int err = make_parts(s);

	if (!err)
		err = begin_asking(s);
	if (err)
		return err;
	err = launch_inside(s->launch, start_workers, &s->sup);
	if (err)
		return failed("workers cannot be started", err_text(err));
	s->supervised = true;
	err = filter_confine();
	if (err)
		return failed("wary cannot confine itself", strerror(err < 0 ? -err : EBUSY));
	return 0;
}

static int start(struct session *s)
{
	int err = prepare(s);

	if (!err)
		err = launch(s);
	if (!err)
		err = open_record(s);
	if (!err)
		err = attach(s);
	if (!err && launch_go(s->launch) != 0)
		err = failed("the command cannot be let go", NULL);
	return err;
}

/* ---- while it runs -------------------------------------------------------- */

static void count_one(void *ctx, pid_t pid)
{
	(void)ctx;
	(void)pid;
}

static void tell_waiting(struct session *s)
{
	size_t n = tree_each(s->info.guardian_pid, count_one, NULL);

	s->told_waiting = true;
	if (n == 0 || !isatty(STDERR_FILENO))
		return;
	log_notice("%s has ended; wary stays with %zu process%s that it left running "
	           "(Ctrl-C ends %s)",
	           s->options->argv[0], n, n == 1 ? "" : "es", n == 1 ? "it" : "them");
}

/* Whether COMMAND is stopped now: it may run again meanwhile. */
static bool command_is_stopped(const struct session *s)
{
	char path[64], text[512];
	ssize_t got;

	(void)snprintf(path, sizeof path, "/proc/%d/stat", s->info.command_pid);
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (got <= 0)
		return false;
	text[got] = '\0';
	const char *end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'T';
}

/* Stops as COMMAND stopped, so that the shell sees its job stop; returns when
 * wary is continued. */
static void stop_alike(int signal_nr)
{
	struct sigaction act = {.sa_handler = SIG_DFL}, old;
	sigset_t set;

	if (signal_nr != SIGTSTP && signal_nr != SIGTTIN && signal_nr != SIGTTOU)
		signal_nr = SIGSTOP;
	sigemptyset(&set);
	sigaddset(&set, signal_nr);
	if (signal_nr != SIGSTOP)
		(void)sigaction(signal_nr, &act, &old);
	(void)kill(getpid(), signal_nr);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (signal_nr != SIGSTOP)
		(void)sigaction(signal_nr, &old, NULL);
}

static void on_messages(struct session *s)
{
	struct guardian_message m;
	int stopped_by = 0, err;

	while ((err = launch_event(s->launch, &m)) == 0) {
		if (m.kind == GUARDIAN_STOPPED)
			stopped_by = m.value;
		else if (m.kind == GUARDIAN_CONTINUED)
			stopped_by = 0;
		else if (m.kind == GUARDIAN_ENDED) {
			s->ended = true;
			s->status = m.value;
		}
	}
	s->gone = err == -ERR_GONE;
	if (stopped_by && !s->ended && !ask_frozen(s->sup.ask) && command_is_stopped(s))
		stop_alike(stopped_by);
	if (s->ended && !s->gone && s->options->end_with_command)
		launch_kill(s->launch, false);
}

static bool ends_what_is_left(int signal_nr)
{
	return signal_nr == SIGINT || signal_nr == SIGTERM || signal_nr == SIGHUP ||
	       signal_nr == SIGQUIT;
}

static void on_signals(struct session *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
		int signal_nr = (int)info.ssi_signo;

		if (s->ended && ends_what_is_left(signal_nr)) {
			s->reason = "signalled";
			launch_kill(s->launch, false);
		} else if (info.ssi_code != SI_KERNEL) {
			/* From the terminal it has reached the tree already. */
			launch_forward(s->launch, signal_nr, (pid_t)info.ssi_pid);
		}
	}
}

static void on_stop(struct session *s)
{
	uint64_t count;

	if (read(s->sup.stop_fd, &count, sizeof count) < 0)
		return;
	s->reason = "stopped";
	if (audit_failed(s->sup.audit)) {
		s->reason = "failed";
		log_error("the record can no longer be kept: all that was started is ended");
	}
	launch_kill(s->launch, false);
}

static void run(struct session *s)
{
	enum { EVENTS, SIGNALS, STOP, RECORD, FDS };
	struct pollfd fds[FDS] = {
		[EVENTS] = {.fd = launch_event_fd(s->launch), .events = POLLIN},
		[SIGNALS] = {.fd = s->signal_fd, .events = POLLIN},
		[STOP] = {.fd = s->sup.stop_fd, .events = POLLIN},
		[RECORD] = {.fd = audit_failed_fd(s->sup.audit), .events = POLLIN},
	};
	uint64_t one = 1;

	while (!s->gone) {
		int ready = poll(fds, FDS, s->ended && !s->told_waiting ? WAITING_AFTER_MS : -1);

		if (ready == 0)
			tell_waiting(s);
		if (ready <= 0)
			continue;
		if (fds[EVENTS].revents)
			on_messages(s);
		if (fds[SIGNALS].revents)
			on_signals(s);
		if (fds[RECORD].revents) {
			fds[RECORD].fd = -1;
			(void)!write(s->sup.stop_fd, &one, sizeof one);
		}
		if (fds[STOP].revents)
			on_stop(s);
	}
	if (s->ended)
		return;
	/* The guardian was killed: what it guarded must not go on. */
	s->reason = "failed";
	s->status = SIGKILL;
	s->ended = true;
	log_error("the guardian has gone: all that was started is ended");
	launch_kill(s->launch, true);
}

/* ---- the end -------------------------------------------------------------- */

static int close_record(struct session *s)
{
	struct audit_totals totals = {0};
	char id[64];
	int err;

	if (!s->recorded) {
		if (s->sup.audit)
			audit_abandon(s->sup.audit);
		return 0;
	}
	audit_totals(s->sup.audit, &totals);
	(void)snprintf(id, sizeof id, "%s", audit_session_id(s->sup.audit));
	if (!s->reason)
		s->reason = WIFSIGNALED(s->status) ? "signalled" : "exited";
	err = audit_close(s->sup.audit, s->ended ? s->status : CMD_FAILED << 8,
	                  s->ended ? s->reason : "failed");
	if (err)
		log_error("the record was not closed well: %s", err_text(err));
	if (s->ended)
		notice_summary(s->sup.notice, &totals, id);
	return err;
}

static int finish(struct session *s)
{
	int err;

	if (s->launch)
		launch_stop(s->launch);
	if (s->supervised)
		supervise_stop(&s->sup);
	launch_free(s->launch);
	err = close_record(s);
	ask_stop(s->sup.ask);
	notice_free(s->sup.notice);
	stacks_free(s->sup.stacks);
	own_free(s->sup.own);
	lineage_free(s->sup.lineage);
	secrets_free(s->sup.secrets);
	environment_free(s->envp);
	policy_free(s->policy);
	world_free(s->world);
	free(s->db);
	fd_drop(&s->signal_fd);
	fd_drop(&s->sup.stop_fd);
	return err;
}

/* Ends as COMMAND ended, so that a shell sees the same; without a core, which
 * wary's limit forbids. */
static int end_as(int status)
{
	int signal_nr = WTERMSIG(status);
	sigset_t set;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	(void)signal(signal_nr, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, signal_nr);
	(void)kill(getpid(), signal_nr);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	return 128 + signal_nr;
}

int session_run(const struct session_options *o)
{
	struct session s = {
		.options = o, .signal_fd = -1, .sup.listener_fd = -1, .sup.stop_fd = -1};
	bool started = start(&s) == 0;

	if (started) {
		inherit_detach();
		run(&s);
	}
	if (finish(&s) != 0 || !started)
		return CMD_FAILED;
	return end_as(s.status);
}
