#include "cmd/session.h"

#include "ask/ask.h"
#include "ask/notice.h"
#include "audit/audit.h"
#include "base/log.h"
#include "base/own.h"
#include "cmd/cmd.h"
#include "cmd/messages.h"
#include "cmd/place.h"
#include "cmd/world.h"
#include "net/own.h"
#include "policy/policy.h"
#include "secret/grant.h"
#include "supervise.h"
#include "tracee/lineage.h"
#include "tracee/stack.h"
#include "trap/boundary.h"
#include "trap/filter.h"
#include "trap/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* From the terminal these reach the tree, which is in the same process group;
 * wary must live on to see what becomes of it. */
static const int ignored[] = {SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ, SIGPIPE};
/* These are sent to wary by somebody who means COMMAND. */
static const int forwarded[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT};

struct session {
	const struct session_options *options;
	struct launch_config launch_config;
	struct supervisor sup;
	struct world *world;
	struct policy *policy;
	struct boundary *boundary;
	struct launch *launch;
	struct place_paths paths;
	int signal_fd;
	int status;       /* of COMMAND, once it has ended */
	bool ended;       /* COMMAND */
	bool gone;        /* the guardian, and so the tree */
	bool told_waiting;
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

/* ---- what COMMAND gets back ------------------------------------------------ */

static void take_signals(struct session *s)
{
	struct launch_config *c = &s->launch_config;
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigset_t mine;

	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) {
		c->saved_signal[c->saved_n] = ignored[i];
		sigaction(ignored[i], &ignore, &c->saved_action[c->saved_n]);
		c->saved_n++;
	}
	sigemptyset(&mine);
	for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
		sigaddset(&mine, forwarded[i]);
	sigprocmask(SIG_BLOCK, &mine, &c->mask);
	s->signal_fd = signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void take_limits(struct session *s)
{
	struct rlimit no_core = {0, 0};
	struct rlimit files;

	getrlimit(RLIMIT_NOFILE, &s->launch_config.nofile);
	files = s->launch_config.nofile;
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files);
	(void)setrlimit(RLIMIT_CORE, &no_core);
}

/* Descriptors 0 to 2 that were closed stay closed for COMMAND, but must not
 * become something of wary's. */
static void fill_standard_fds(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", O_PATH | O_CLOEXEC);
}

/* ---- starting --------------------------------------------------------------- */

static int load_policy(struct session *s)
{
	struct policy_report *report = NULL;
	const char *why = NULL;
	int err = world_make(s->options->policy, s->options->rules, &s->paths, &s->world, &why);

	if (err)
		return failed("no policy can be loaded", why ? why : err_text(err));
	err = policy_load(world_policy(s->world), world_files(s->world), &s->policy, &report);
	if (err)
		messages_print(stderr, report, false);
	policy_report_free(report);
	if (err)
		return failed("the policy has errors, so nothing was run", NULL);
	err = boundary_make(s->policy, &s->boundary);
	return err ? failed("the second boundary cannot be made", err_text(err)) : 0;
}

static int start_tree(struct session *s)
{
	struct launch_config *c = &s->launch_config;
	const char *why = NULL;
	int err = secrets_take(s->policy, environ, &s->sup.secrets, &why);

	if (err)
		return failed("a secret cannot be taken", why);
	c->argv = s->options->argv;
	c->envp = secrets_environ(s->sup.secrets);
	c->path = getenv("PATH");
	c->boundary = s->boundary;
	c->with_stat = policy_speaks_of(s->policy, CLASS_STAT);
	c->as_root = geteuid() == 0;
	if (launch_start(c, &s->launch, &why) != 0)
		return failed("the command cannot be supervised", why);
	return 0;
}

static int open_record(struct session *s)
{
	struct audit_session info = {.uid = getuid(), .version = PACKAGE_VERSION};
	struct audit_source *sources;
	struct utsname machine = {0};
	struct passwd *user = getpwuid(getuid());
	const char *why = NULL;
	auto_free char *cwd = getcwd(NULL, 0);
	int err;

	uname(&machine);
	while (s->options->argv[info.argc])
		info.argc++;
	info.argv = (const char *const *)s->options->argv;
	info.cwd = cwd ? cwd : "(gone)";
	info.user = user ? user->pw_name : "?";
	info.host = machine.nodename;
	info.kernel = machine.release;
	info.sources_n = policy_source_count(s->policy);
	sources = calloc(info.sources_n + 1, sizeof *sources);
	if (!sources)
		return failed("out of memory", NULL);
	for (size_t i = 0; i < info.sources_n; i++) {
		const struct policy_source *p = policy_source_at(s->policy, i);

		sources[i] = (struct audit_source){
			.name = p->name, .path = p->path, .text = p->text, .len_bytes = p->len_bytes};
	}
	info.sources = sources;
	err = audit_open_finish(s->sup.audit, &info, &why);
	free(sources);
	return err ? failed("the record cannot be kept, so nothing was run",
	                    why ? why : err_text(err))
	           : 0;
}

static int start_workers(void *ctx)
{
	struct session *s = ctx;

	s->sup.listener_fd = launch_listener_fd(s->launch);
	s->sup.guardian_pid = launch_guardian_pid(s->launch);
	s->sup.command_pid = launch_command_pid(s->launch);
	return supervise_start(&s->sup);
}

static void know_self(struct supervisor *sup)
{
	struct stat st = {0};

	sup->wary_pid = getpid();
	sup->as_root = geteuid() == 0;
	sup->umask_start = umask(022);
	umask(sup->umask_start);
	if (stat("/proc", &st) == 0)
		sup->proc_dev = st.st_dev;
	if (stat("/", &st) == 0) {
		sup->root_dev = st.st_dev;
		sup->root_ino = st.st_ino;
	}
}

static int make_parts(struct session *s)
{
	struct supervisor *sup = &s->sup;
	int err = lineage_new(&sup->lineage);

	sup->policy = s->policy;
	sup->learn = s->options->learn;
	sup->floor_paths = s->paths.floor;
	if (!err)
		err = stacks_new(&sup->stacks);
	if (!err)
		err = listeners_new(&sup->own);
	if (!err)
		err = notice_new(&sup->notice, getenv("HOME"), s->paths.socket != NULL);
	sup->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (err || sup->stop_fd < 0)
		return failed("out of memory or descriptors", NULL);
	return 0;
}

static int attach(struct session *s)
{
	const char *why = NULL;
	struct ask_config ask = {
		.session_id = audit_session_id(s->sup.audit),
		.socket_path = s->paths.socket,
		.answers_path = s->paths.answers,
		.home = getenv("HOME"),
	};

	if (launch_attach(s->launch, start_workers, s, &why) != 0)
		return failed("the command cannot be supervised", why);
	/* Only now: a child that is not dumpable could not be attached to. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	ask.guardian_pid = s->sup.guardian_pid;
	if (ask_begin(s->sup.ask, &ask) != 0)
		return failed("questions cannot be asked", NULL);
	secrets_wipe_environ(s->sup.secrets);
	if (filter_confine() != 0)
		return failed("wary cannot confine itself", NULL);
	return 0;
}

static int start(struct session *s)
{
	int err;

	fill_standard_fds();
	take_signals(s);
	take_limits(s);
	know_self(&s->sup);
	err = place_find(s->options->db, &s->paths);
	if (err)
		return failed("no place for the record", err_text(err));
	/* Before any thread or key: it is a fork. */
	if (ask_start(&s->sup.ask) != 0)
		return failed("questions cannot be asked", "no process can be started");
	/* The store opens in a thread of its own while the policy is read. */
	if (audit_open_begin(s->paths.db, &s->sup.audit) != 0)
		return failed("out of memory", NULL);
	audit_set_sync(s->sup.audit, s->options->audit_sync);
	err = load_policy(s);
	if (!err)
		err = start_tree(s);
	if (!err)
		err = open_record(s);
	if (!err)
		err = make_parts(s);
	return err ? err : attach(s);
}

/* ---- while it runs ---------------------------------------------------------- */

static void tell_waiting(struct session *s)
{
	if (s->told_waiting || !isatty(STDERR_FILENO))
		return;
	s->told_waiting = true;
	log_notice("the command has ended; processes that it started still run, and wary stays "
	           "with them (to end them: kill %d)", (int)getpid());
}

static void on_message(struct session *s, const struct guardian_message *m)
{
	if (m->kind == GUARDIAN_STOPPED && !ask_frozen(s->sup.ask)) {
		/* So that the shell sees its job stopped. */
		kill(getpid(), SIGSTOP);
		launch_signal(s->launch, SIGCONT);
	} else if (m->kind == GUARDIAN_ENDED) {
		s->status = m->status;
		s->ended = true;
		if (s->options->end_with_command)
			launch_kill_tree(s->launch);
	}
}

static void on_signals(struct session *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
		int sig = (int)info.ssi_signo;

		if (!s->ended)
			launch_signal(s->launch, sig);
		else if (sig == SIGTERM || sig == SIGHUP)
			launch_kill_tree(s->launch);
	}
}

static void end_tree(struct session *s, const char *reason)
{
	uint64_t count;

	while (read(s->sup.stop_fd, &count, sizeof count) > 0)
		continue;
	s->reason = reason;
	launch_kill_tree(s->launch);
}

static void on_record_failed(struct session *s)
{
	log_error("the record can no longer be kept: the command and all that it started are "
	          "ended");
	end_tree(s, "record failed");
}

static void run(struct session *s)
{
	enum { CONTROL, GUARDIAN, SIGNALS, STOP, RECORD, FDS };
	struct pollfd fds[FDS] = {
		[CONTROL] = {.fd = launch_control_fd(s->launch), .events = POLLIN},
		[GUARDIAN] = {.fd = launch_guardian_pidfd(s->launch), .events = POLLIN},
		[SIGNALS] = {.fd = s->signal_fd, .events = POLLIN},
		[STOP] = {.fd = s->sup.stop_fd, .events = POLLIN},
		[RECORD] = {.fd = audit_failed_fd(s->sup.audit), .events = POLLIN},
	};

	launch_go(s->launch);
	while (!s->gone) {
		struct guardian_message m;
		int ready = poll(fds, FDS, s->ended && !s->told_waiting ? 1000 : -1);

		if (ready == 0)
			tell_waiting(s);
		if (ready <= 0)
			continue;
		while (launch_message(s->launch, &m) == 0)
			on_message(s, &m);
		if (fds[SIGNALS].revents)
			on_signals(s);
		if (fds[STOP].revents)
			end_tree(s, "stopped");
		if (fds[RECORD].revents) {
			fds[RECORD].fd = -1;
			on_record_failed(s);
		}
		if (fds[GUARDIAN].revents)
			s->gone = true;
	}
	if (!s->ended) { /* the guardian was killed: what is left must not go on */
		s->reason = "guardian ended";
		s->status = SIGKILL;
		launch_kill_tree(s->launch);
	}
}

/* ---- the end ------------------------------------------------------------------ */

static int finish(struct session *s, bool ran)
{
	struct audit_totals totals = {0};
	char id[64] = "";
	int err = 0;

	launch_end(s->launch); /* the listener hangs up */
	supervise_stop(&s->sup);
	if (ran) {
		audit_totals(s->sup.audit, &totals);
		snprintf(id, sizeof id, "%s", audit_session_id(s->sup.audit));
	}
	if (s->sup.audit)
		err = audit_close(s->sup.audit, s->status, s->reason ? s->reason : "ended");
	if (ran && err)
		log_error("the record was not closed well: %s", err_text(err));
	if (ran)
		notice_summary(s->sup.notice, &totals, id);
	ask_stop(s->sup.ask);
	notice_free(s->sup.notice);
	stacks_free(s->sup.stacks);
	listeners_free(s->sup.own);
	lineage_free(s->sup.lineage);
	secrets_free(s->sup.secrets);
	boundary_free(s->boundary);
	policy_free(s->policy);
	world_free(s->world);
	place_free(&s->paths);
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
	struct session s = {.options = o, .signal_fd = -1, .reason = NULL};
	bool ran;
	int err;

	s.sup.listener_fd = s.sup.stop_fd = -1;
	ran = start(&s) == 0;
	if (ran)
		run(&s);
	err = finish(&s, ran);
	if (!ran || err)
		return CMD_FAILED;
	return end_as(s.status);
}
