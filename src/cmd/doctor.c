#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/where.h"
#include "cmd/world.h"
#include "trap/kernel.h"
#include "trap/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

/* Linux 6.6; older headers lack it. */
#define NOTIF_SET_FLAGS SECCOMP_IOW(4, uint64_t)
#define NOTIF_SYNC_WAKE_UP ((unsigned long)1)

enum state { STATE_OK, STATE_DEGRADED, STATE_MISSING };

static const char *const states[] = {
	[STATE_OK] = "ok", [STATE_DEGRADED] = "degraded", [STATE_MISSING] = "missing"};

struct finding {
	const char *name;
	enum state state;
	struct buf text;
	struct buf advice;
};

enum { FIND_KERNEL, FIND_BOUNDARY, FIND_TRACING, FIND_LIMITS, FIND_STATE, FINDINGS };

struct doctor {
	struct finding findings[FINDINGS];
	struct inherit inherit;
	struct launch_info info;
	struct trial_failure failure;
	bool works;     /* the trial of a supervised command */
	bool sync_wake; /* SYNC_WAKE_UP */
};

/* Starts a command under the filter, tries the listener, and ends it again. */
static void try_supervision(struct doctor *d)
{
	char name[] = "true";
	char *argv[] = {name, NULL};
	const struct launch_config c = {.argv = argv, .envp = environ, .inherit = &d->inherit};
	struct launch *l;

	if (inherit_take(&d->inherit) != 0) {
		d->failure = (struct trial_failure){.what = "signals and limits", .error = errno};
		return;
	}
	if (launch_begin(&c, &l, &d->failure) != 0)
		return;
	d->works = launch_listen(l, &d->info, &d->failure) == 0;
	if (d->works)
		d->sync_wake = ioctl(d->info.listener_fd, NOTIF_SET_FLAGS, NOTIF_SYNC_WAKE_UP) == 0;
	launch_stop(l);
	launch_free(l);
}

static void find_kernel(struct doctor *d, struct finding *f)
{
	struct utsname u = {0};
	auto_buf lacks = BUF_INIT;

	(void)uname(&u);
	buf_fmt(&f->text, "%s  ", u.release);
	if (d->works) {
		buf_fmt(&f->text, "user notification, ADDFD, WAIT_KILLABLE_RECV%s",
		        d->sync_wake ? ", SYNC_WAKE_UP" : "");
		kernel_lacks(&lacks);
		if (lacks.len_bytes > 0)
			buf_fmt(&f->advice, "lacks, for programs as without wary: %s",
			        buf_text(&lacks));
		if (!kernel_pidfd_of_thread()) {
			f->state = STATE_DEGRADED;
			buf_str(&f->advice, ". A thread with descriptors of its own is refused "
			                    "what wary would do on them: Linux 6.9");
		}
		return;
	}
	f->state = STATE_MISSING;
	buf_fmt(&f->text, "%s does not work%s%s", d->failure.what, d->failure.error ? ": " : "",
	        d->failure.error ? strerrordesc_np(d->failure.error) : "");
	if (d->failure.hint)
		buf_str(&f->advice, d->failure.hint);
}

static void find_boundary(struct finding *f)
{
	auto_buf binds = BUF_INIT;
	auto_buf unbound = BUF_INIT;
	int abi = boundary_abi();

	if (abi == 0) {
		f->state = STATE_DEGRADED;
		buf_str(&f->text,
		        "no Landlock: what wary decides is not checked by the kernel as well");
		buf_str(&f->advice, "to get it: a kernel with Landlock, named in its lsm= list");
		return;
	}
	kernel_binds(&binds);
	buf_fmt(&f->text, "Landlock ABI %d: %s", abi, buf_text(&binds));
	kernel_leaves_unbound(&unbound);
	if (unbound.len_bytes > 0) {
		f->state = STATE_DEGRADED;
		buf_fmt(&f->advice, "held by wary alone: %s (Linux 6.12 binds all of it)",
		        buf_text(&unbound));
	}
}

static int yama_scope(void)
{
	char text[8] = "";
	auto_fd fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
		return -1;
	return (int)strtol(text, NULL, 10);
}

static void find_tracing(const struct doctor *d, struct finding *f)
{
	static const char *const scopes[] = {"any process of the user", "ancestors",
	                                     "administrators only", "nobody"};
	int scope = yama_scope();

	if (scope < 0)
		buf_str(&f->text, "ptrace allowed to ancestors (no Yama)");
	else
		buf_fmt(&f->text, "ptrace allowed to %s (Yama %d)", scopes[scope > 3 ? 3 : scope],
		        scope);
	if (!d->works && scope > 1) {
		f->state = STATE_MISSING;
		buf_str(&f->advice, "to get it: sysctl kernel.yama.ptrace_scope=1");
	}
}

static void find_limits(struct finding *f)
{
	auto_buf text = BUF_INIT, path = BUF_INIT;
	auto_fd fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	const char *unified;

	if (fd >= 0 && buf_read_file(&text, fd) == 0 && text.data &&
	    (unified = strstr(text.data, "0::")) != NULL) {
		buf_str(&path, "/sys/fs/cgroup");
		buf_add(&path, unified + 3, strcspn(unified + 3, "\n"));
		buf_str(&path, "/cgroup.procs");
	}
	if (path.data && access(path.data, W_OK) == 0) {
		buf_str(&f->text, "cgroup v2, writable here");
		return;
	}
	f->state = STATE_DEGRADED;
	buf_str(&f->text, "cgroup v2 not delegated: memory and CPU by rlimit and polling");
	buf_str(&f->advice, "to get it: run under systemd-run --user --scope");
}

static void find_state(struct finding *f)
{
	struct world *w = NULL;
	auto_free char *db = NULL;
	struct stat st;

	if (world_new(&w) != 0 || where_store(NULL, world_folders(w), &db) != 0) {
		f->state = STATE_MISSING;
		buf_str(&f->text, "no place for the record");
		buf_str(&f->advice, "to get it: set HOME, or name a file with -o");
	} else {
		text_printable(&f->text, db, strlen(db), 0);
		if (stat(db, &st) != 0)
			buf_str(&f->text, "  (not made yet)");
		else
			buf_fmt(&f->text, "  (%lld MB)", (long long)st.st_size >> 20);
	}
	world_free(w);
}

static void examine(struct doctor *d)
{
	static const char *const names[] = {
		[FIND_KERNEL] = "kernel",   [FIND_BOUNDARY] = "second boundary",
		[FIND_TRACING] = "tracing", [FIND_LIMITS] = "limits",
		[FIND_STATE] = "state",
	};

	for (size_t i = 0; i < FINDINGS; i++)
		d->findings[i].name = names[i];
	find_boundary(&d->findings[FIND_BOUNDARY]);
	find_limits(&d->findings[FIND_LIMITS]);
	find_state(&d->findings[FIND_STATE]);
	try_supervision(d);
	find_kernel(d, &d->findings[FIND_KERNEL]);
	find_tracing(d, &d->findings[FIND_TRACING]);
}

static void print_text(struct doctor *d)
{
	for (size_t i = 0; i < FINDINGS; i++) {
		struct finding *f = &d->findings[i];

		(void)printf("%-18s %-60s %s\n", f->name, buf_text(&f->text), states[f->state]);
		if (f->advice.len_bytes > 0)
			(void)printf("%-18s %s\n", "", buf_text(&f->advice));
	}
}

static int print_json(struct doctor *d)
{
	json_t *all = json_object();
	int err = all ? 0 : -1;

	for (size_t i = 0; i < FINDINGS && err == 0; i++) {
		struct finding *f = &d->findings[i];

		err = json_object_set_new(all, f->name,
		                          json_pack("{s:s,s:s,s:s}", "state", states[f->state],
		                                    "text", buf_text(&f->text), "advice",
		                                    buf_text(&f->advice)));
	}
	if (err == 0)
		err = json_dumpf(all, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	(void)printf("\n");
	json_decref(all);
	return err;
}

/* 0: all is there or only degraded; 1: wary cannot run here. */
static int report(struct doctor *d, bool json)
{
	int status = 0;

	if (json && print_json(d) != 0)
		status = CMD_FAILED;
	if (!json)
		print_text(d);
	for (size_t i = 0; i < FINDINGS; i++) {
		if (d->findings[i].state == STATE_MISSING && status == 0)
			status = 1;
		buf_free(&d->findings[i].text);
		buf_free(&d->findings[i].advice);
	}
	return fflush(stdout) == 0 ? status : CMD_FAILED;
}

int cmd_doctor(int argc, char **argv)
{
	struct doctor d = {0};
	bool json = argc == 2 && strcmp(argv[1], "--json") == 0;

	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		(void)printf(
			"usage: wary doctor [--json]\nSays what this machine offers and lacks. "
			"Status 1: wary cannot run here.\n");
		return fflush(stdout) == 0 ? 0 : CMD_FAILED;
	}
	if (argc != 1 && !json) {
		log_error("doctor takes no arguments but --json");
		return CMD_FAILED;
	}
	examine(&d);
	return report(&d, json);
}
