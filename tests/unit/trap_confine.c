/* trap/filter: what wary puts on itself, in a process of the test's own. */
#include "tests/unit/tap.h"
#include "trap/filter.h"

#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct results {
	int confined, thread, process, by_clone3, program, module, mount;
	bool thread_ran;
};

static void *mark(void *arg)
{
	*(bool *)arg = true;
	return NULL;
}

static int error_of(long result)
{
	return result < 0 ? errno : 0;
}

static void attempt(struct results *r)
{
	char *const argv[] = {(char *)"true", NULL};
	struct clone_args args = {.exit_signal = SIGCHLD};
	pthread_t t;

	r->confined = filter_confine();
	r->thread = pthread_create(&t, NULL, mark, &r->thread_ran);
	if (r->thread == 0)
		pthread_join(t, NULL);
	r->process = error_of(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	r->by_clone3 = error_of(syscall(SYS_clone3, &args, sizeof args));
	r->program = error_of(execv("/bin/true", argv));
	r->module = error_of(syscall(SYS_init_module, NULL, 0, ""));
	r->mount = error_of(syscall(SYS_mount, "none", "/", "tmpfs", 0, NULL));
}

int main(void)
{
	struct results *r =
		mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;
	pid_t pid;

	memset(r, 0xff, sizeof *r);
	r->thread_ran = false;
	pid = fork();
	if (pid == 0) {
		attempt(r);
		_exit(0);
	}
	tap_ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0,
	       "a confined process goes on and ends");
	tap_is_int(r->confined, 0, "confined");
	tap_ok(r->thread == 0 && r->thread_ran, "it starts threads");
	tap_is_int(r->process, EPERM, "but no process");
	tap_is_int(r->by_clone3, ENOSYS, "whichever way");
	tap_is_int(r->program, ENOSYS, "nor a program");
	tap_is_int(r->module, ENOSYS, "nor loads a module");
	tap_is_int(r->mount, ENOSYS, "nor mounts anything");
	return tap_done();
}
