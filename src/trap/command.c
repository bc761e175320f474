#include "trap/command.h"

#include "base/text.h"
#include "trap/boundary.h"
#include "trap/filter.h"
#include "trap/kernel.h"
#include "trap/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As env(1), nice(1) and timeout(1) do. */
enum { END_FAILED = 125, END_REFUSED = 126, END_NOT_FOUND = 127 };

static bool tell(const struct command *c, enum command_step step, int result)
{
	const struct command_ready ready = {(int32_t)step, result};

	return write(c->ready_fd, &ready, sizeof ready) == (ssize_t)sizeof ready && result >= 0;
}

static char wait_for_word(const struct command *c)
{
	char word = 0;
	ssize_t got;

	do
		got = read(c->go_fd, &word, 1);
	while (got < 0 && errno == EINTR);
	return got == 1 ? word : 0;
}

static int prepare(enum command_step *step, const struct command *c)
{
	int err;

	*step = COMMAND_INHERIT;
	err = inherit_give(c->inherit);
	if (err != 0)
		return err;
	*step = COMMAND_PRIVILEGE;
	err = privilege_drop_bounding(privilege_forbidden());
	if (err == 0)
		err = privilege_drop(privilege_forbidden());
	/* The guardian's program is as unreadable as wary's; COMMAND is not. */
	if (err == 0 && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0)
		err = -errno;
	/* The tree's own: wary's other parts in the boundary are outside it. */
	if (err == 0 && c->scoped)
		err = boundary_scope_signals();
	if (err != 0)
		return err;
	*step = COMMAND_FILTER;
	err = kernel_hide_absent();
	return err != 0 ? err : filter_trap(c->stat);
}

/* The first call that is trapped: whoever receives it gives a descriptor. */
static void make_trial_call(void)
{
	long fd = syscall(SYS_openat, AT_FDCWD, COMMAND_TRIAL_PATH, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)close((int)fd);
}

static _Noreturn void execute(const struct command *c)
{
	auto_buf line = BUF_INIT;
	const char *text;
	int err;

	environ = (char **)(uintptr_t)c->envp;
	execvp(c->argv[0], c->argv);
	err = errno;
	buf_str(&line, "wary: ");
	text_printable(&line, c->argv[0], strlen(c->argv[0]), 200);
	buf_fmt(&line, ": %s\n", strerrordesc_np(err));
	text = buf_text(&line);
	if (text && write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(END_FAILED);
	_exit(err == ENOENT || err == ENOTDIR ? END_NOT_FOUND : END_REFUSED);
}

void command_run(const struct command *c)
{
	enum command_step step;
	int listener_fd = prepare(&step, c);
	char word;

	if (!tell(c, step, listener_fd))
		_exit(END_FAILED);
	word = wait_for_word(c);
	if (word == 't') {
		make_trial_call();
		word = wait_for_word(c);
	}
	if (word != 'g')
		_exit(END_FAILED);
	/* Close-on-exec would do, but a failed exec must not keep it either. */
	(void)close(listener_fd);
	execute(c);
}
